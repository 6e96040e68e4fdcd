package zstd

import (
	"errors"
	"fmt"
	"maps"
	"runtime"

	codec "github.com/gopz/compress/internal/codec/zstd"
)

// DOption is an option of a Decoder. Of two options that set the same thing, the later one counts.
// A value out of its range is an error of [NewReader]. [Decoder.ResetWithOptions] takes all of
// them, but some only with the value that the Decoder has.
type DOption func(*decoderOptions) error

// decoderOptions do not change once a Decoder has them.
type decoderOptions struct {
	resetOpt        bool // options are those of ResetWithOptions
	lowMem          bool
	concurrent      int
	maxDecodedSize  uint64
	maxWindowSize   uint64
	decodeBufsBelow int
	ignoreChecksum  bool
	limitToCap      bool
	dicts           map[uint32]*codec.Dictionary // nil values are empty ones
}

// Defaults and limits.
const (
	defaultConcurrency = 4
	defaultMaxDecoded  = 64 << 30
	defaultBufsBelow   = 128 << 10
	mostMaxDecoded     = 1 << 63
	mostMaxWindow      = 1<<41 + 7<<38 // what a header can state
)

func (o *decoderOptions) setDefault() {
	*o = decoderOptions{
		lowMem: true, concurrent: min(defaultConcurrency, runtime.GOMAXPROCS(0)),
		maxWindowSize: MaxWindowSize, maxDecodedSize: defaultMaxDecoded, decodeBufsBelow: defaultBufsBelow,
	}
}

// keep reports an error if a value that must not change on Reset does.
func (o *decoderOptions) keep(same bool, name string) error {
	if o.resetOpt && !same {
		return errors.New("zstd: " + name + " cannot be changed on Reset")
	}
	return nil
}

// window returns the largest window in bytes.
func (o *decoderOptions) window() uint64 { return min(o.maxWindowSize, o.maxDecodedSize) }

// WithDecoderLowmem has no effect: the memory of a Decoder grows with what it decodes. It cannot be
// changed on Reset.
func WithDecoderLowmem(b bool) DOption {
	return func(o *decoderOptions) error {
		if err := o.keep(b == o.lowMem, "WithDecoderLowmem"); err != nil {
			return err
		}
		o.lowMem = b
		return nil
	}
}

// WithDecoderConcurrency sets how many calls of [Decoder.DecodeAll] may work at the same time, and
// how many workers decode a stream; see the package. With 1 the caller's goroutine decodes streams.
// 0 stands for GOMAXPROCS. The default is GOMAXPROCS, and 4 at most. A number below 0 is an error.
// It cannot be changed on Reset.
func WithDecoderConcurrency(n int) DOption {
	return func(o *decoderOptions) error {
		if n < 0 {
			return fmt.Errorf("zstd: concurrency of %d: it must be at least 0", n)
		}
		if n == 0 {
			n = runtime.GOMAXPROCS(0)
		}
		if err := o.keep(n == o.concurrent, "WithDecoderConcurrency"); err != nil {
			return err
		}
		o.concurrent = n
		return nil
	}
}

// WithDecoderMaxMemory limits the content of [Decoder.DecodeAll], and the window of any frame, to n
// bytes. More is [ErrDecoderSizeExceeded] or [ErrWindowSizeExceeded]. n is 1 to 1 << 63; anything
// else is an error. The default is 64 GiB.
func WithDecoderMaxMemory(n uint64) DOption {
	return func(o *decoderOptions) error {
		if n < 1 || n > mostMaxDecoded {
			return fmt.Errorf("zstd: memory limit of %d bytes is not in 1 … 1 << 63", n)
		}
		o.maxDecodedSize = n
		return nil
	}
}

// WithDecoderDicts adds dictionaries, as "zstd --train", "pz --train" and [BuildDict] make them. Of
// several with one ID the last one counts. One that is damaged, has the ID 0, or is larger than 32
// MiB is an error. The Decoder refers to dicts, which must not change.
func WithDecoderDicts(dicts ...[]byte) DOption {
	return func(o *decoderOptions) error {
		for _, p := range dicts {
			d, err := parseDict(p)
			if err != nil {
				return err
			}
			o.addDict(d.ID(), d)
		}
		return nil
	}
}

// WithDecoderDictRaw adds any content as a dictionary. With the ID 0 it is for frames that name
// none, such as those of "zstd --patch-from". More than 2 GiB are an error. The Decoder refers to
// content, which must not change.
func WithDecoderDictRaw(id uint32, content []byte) DOption {
	return func(o *decoderOptions) error {
		if err := checkRaw(content); err != nil {
			return err
		}
		var d *codec.Dictionary
		if len(content) > 0 {
			d = codec.RawDictionary(content)
		}
		o.addDict(id, d)
		return nil
	}
}

// addDict adds a dictionary.
func (o *decoderOptions) addDict(id uint32, d *codec.Dictionary) {
	if o.dicts == nil {
		o.dicts = make(map[uint32]*codec.Dictionary)
	}
	o.dicts[id] = d
}

// WithDecoderDictDelete removes the dictionaries with these IDs, or all if there are no ids. It is
// for [Decoder.ResetWithOptions].
func WithDecoderDictDelete(ids ...uint32) DOption {
	return func(o *decoderOptions) error {
		if len(ids) == 0 {
			clear(o.dicts)
		}
		for _, id := range ids {
			delete(o.dicts, id)
		}
		return nil
	}
}

// WithDecoderMaxWindow limits the window of a frame to size bytes. A larger one is
// [ErrWindowSizeExceeded], or in a stream with the flag "single segment" [ErrDecoderSizeExceeded].
// size is [MinWindowSize] to 3.75 TiB; anything else is an error. The default is [MaxWindowSize].
func WithDecoderMaxWindow(size uint64) DOption {
	return func(o *decoderOptions) error {
		if size < MinWindowSize || size > mostMaxWindow {
			return fmt.Errorf("zstd: window limit of %d bytes is not in %d … %d",
				size, MinWindowSize, uint64(mostMaxWindow))
		}
		o.maxWindowSize = size
		return nil
	}
}

// WithDecodeAllCapLimit has [Decoder.DecodeAll] use no more than the capacity of dst. More content
// is [ErrDecoderSizeExceeded].
func WithDecodeAllCapLimit(b bool) DOption {
	return func(o *decoderOptions) error { o.limitToCap = b; return nil }
}

// WithDecodeBuffersBelow has no effect. A Decoder reads small sources in memory as any other. It
// cannot be changed on Reset.
func WithDecodeBuffersBelow(size int) DOption {
	return func(o *decoderOptions) error {
		if err := o.keep(size == o.decodeBufsBelow, "WithDecodeBuffersBelow"); err != nil {
			return err
		}
		o.decodeBufsBelow = size
		return nil
	}
}

// IgnoreChecksum chooses whether checksums of frames are compared. With true they are not.
func IgnoreChecksum(b bool) DOption {
	return func(o *decoderOptions) error { o.ignoreChecksum = b; return nil }
}

// with returns the options with others on top. After an error those in front of the wrong one
// count.
func (o *decoderOptions) with(opts []DOption) (*decoderOptions, error) {
	next := *o
	next.dicts, next.resetOpt = maps.Clone(o.dicts), true
	var err error
	for i := 0; i < len(opts) && err == nil; i++ {
		err = opts[i](&next)
	}
	next.resetOpt = false
	return &next, err
}
