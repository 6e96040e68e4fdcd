package zstd

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// EOption is an option of an Encoder. Of two options that set the same thing, the later one counts.
// A value out of its range is an error of [NewWriter]. [Encoder.ResetWithOptions] takes all of
// them, but some only with the value that the Encoder has.
type EOption func(*encoderOptions) error

// engineWindow is the largest window of the engine in bytes, which every decoder should support
// (RFC 8878, section 3.1.1.1.2).
const engineWindow = 8 << 20

type encoderOptions struct {
	resetOpt         bool // options are those of ResetWithOptions
	concurrent       int
	level            EncoderLevel
	single           *bool // of WithSingleSegment; nil without it
	pad              int   // 0 is for none
	windowSize       int
	customWindow     bool
	crc              bool
	fullZero         bool
	lowMem           bool
	concurrentBlocks bool
	dict             *encoderDict
}

func (o *encoderOptions) setDefault() {
	*o = encoderOptions{
		concurrent: runtime.GOMAXPROCS(0), level: SpeedDefault, windowSize: engineWindow, crc: true,
		fullZero: true,
	}
}

// keep reports an error if a value that must not change on Reset does.
func (o *encoderOptions) keep(same bool, name string) error {
	if o.resetOpt && !same {
		return errors.New("zstd: " + name + " cannot be changed on Reset")
	}
	return nil
}

// window returns the window of the engine in bytes.
func (o *encoderOptions) window() int { return min(o.windowSize, engineWindow) }

// writerOptions returns the options for the engine.
func (o *encoderOptions) writerOptions(s *compress.Scheduler) []compress.WriterOption {
	opts := []compress.WriterOption{
		compress.WithFormat(compress.Zstd), compress.WithLevel(engineLevels[o.level]),
		bridge.FrameWindow(o.window()), compress.WithChecksum(o.crc), compress.WithScheduler(s),
	}
	if o.dict != nil && o.dict.dict != nil {
		opts = append(opts, compress.WithDictionary(o.dict.dict))
	}
	return opts
}

// WithEncoderCRC chooses whether frames with content have a checksum of 4 bytes. The default is
// true.
func WithEncoderCRC(b bool) EOption {
	return func(o *encoderOptions) error { o.crc = b; return nil }
}

// WithEncoderConcurrency sets how many calls of [Encoder.EncodeAll] may work at the same time, and
// how many workers a stream has. 0 stands for GOMAXPROCS, the default, with which an Encoder uses
// the workers that the process shares. With any other number it has its own, which are goroutines
// only while there is work. The output does not depend on it. A number below 0 is an error. It
// cannot be changed on Reset.
func WithEncoderConcurrency(n int) EOption {
	return func(o *encoderOptions) error {
		if n < 0 {
			return fmt.Errorf("zstd: concurrency of %d: it must be at least 0", n)
		}
		if n == 0 {
			n = runtime.GOMAXPROCS(0)
		}
		if err := o.keep(n == o.concurrent, "WithEncoderConcurrency"); err != nil {
			return err
		}
		o.concurrent = n
		return nil
	}
}

// WithWindowSize sets how far back matches reach at most, in bytes: a power of two from
// [MinWindowSize] to [MaxWindowSize]. Anything else is an error. The default is 4 MiB at
// [SpeedFastest] and 8 MiB at other levels. The engine's largest window is 8 MiB, so that larger
// ones stand for that. A smaller one takes less memory on both sides. It cannot be changed on
// Reset.
func WithWindowSize(n int) EOption {
	return func(o *encoderOptions) error {
		if n < MinWindowSize || n > MaxWindowSize || bits.OnesCount(uint(n)) != 1 {
			return fmt.Errorf("zstd: window of %d bytes is not a power of two in %d … %d",
				n, MinWindowSize, MaxWindowSize)
		}
		if err := o.keep(n == o.windowSize, "WithWindowSize"); err != nil {
			return err
		}
		o.windowSize, o.customWindow = n, true
		return nil
	}
}

// WithEncoderPadding makes the size of the output a multiple of n bytes, by a skippable frame of
// random bytes behind the frame. n is 1, which is for none, to 1 GiB; anything else is an error.
// With [Encoder.EncodeAll] what dst has already counts too.
func WithEncoderPadding(n int) EOption {
	return func(o *encoderOptions) error {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("zstd: padding of %d bytes is not in 1 … %d", n, 1<<30)
		}
		o.pad = n
		if n == 1 {
			o.pad = 0
		}
		return nil
	}
}

// WithEncoderLevel sets the level. The default is [SpeedDefault]. A value that is none of the four
// speeds is an error. It cannot be changed on Reset.
func WithEncoderLevel(l EncoderLevel) EOption {
	return func(o *encoderOptions) error {
		if !l.valid() {
			return fmt.Errorf("zstd: unknown level %d", l)
		}
		if err := o.keep(l == o.level, "WithEncoderLevel"); err != nil {
			return err
		}
		o.level = l
		if !o.customWindow {
			o.windowSize = engineWindow
			if l == SpeedFastest {
				o.windowSize = engineWindow / 2
			}
		}
		return nil
	}
}

// WithZeroFrames chooses whether empty content becomes a frame. The default is true. Without it the
// output is empty too, which zstd does not take for compressed data.
func WithZeroFrames(b bool) EOption {
	return func(o *encoderOptions) error { o.fullZero = b; return nil }
}

// WithAllLitEntropyCompression has no effect. The engine codes literals wherever that makes them
// smaller, at all levels.
func WithAllLitEntropyCompression(bool) EOption {
	return func(*encoderOptions) error { return nil }
}

// WithNoEntropyCompression has no effect. The engine codes literals wherever that makes them
// smaller, at all levels.
func WithNoEntropyCompression(bool) EOption {
	return func(*encoderOptions) error { return nil }
}

// WithSingleSegment chooses whether frames of [Encoder.EncodeAll] have the flag "single segment".
// Decoders then need as much memory as the frame has content. Without the option frames of no more
// content than a window have it. With false frames of less than 256 bytes do not state the size of
// their content. The option does not count for streams.
func WithSingleSegment(b bool) EOption {
	return func(o *encoderOptions) error { o.single = &b; return nil }
}

// WithLowerEncoderMem has no effect besides that [Encoder.EncodeAll] makes no room in an empty dst
// in advance. The engine's buffers grow with the content, and tables are those of the workers. To
// take less memory use [WithWindowSize]. It cannot be changed on Reset.
func WithLowerEncoderMem(b bool) EOption {
	return func(o *encoderOptions) error {
		if err := o.keep(b == o.lowMem, "WithLowerEncoderMem"); err != nil {
			return err
		}
		o.lowMem = b
		return nil
	}
}

// WithConcurrentBlocks has no effect. The engine itself decides what its workers do at the same
// time, and the output does not depend on it. It cannot be changed on Reset.
func WithConcurrentBlocks(b bool) EOption {
	return func(o *encoderOptions) error {
		if err := o.keep(b == o.concurrentBlocks, "WithConcurrentBlocks"); err != nil {
			return err
		}
		o.concurrentBlocks = b
		return nil
	}
}

// WithEncoderDict compresses with a dictionary, as "zstd --train", "pz --train" and [BuildDict]
// make them. A dictionary that is damaged, has the ID 0, or is larger than 32 MiB is an error. Of a
// stream the first block uses its content: as much of the stream as half of a window. Matches reach
// the last 8 MiB of the dictionary. The Encoder copies dict.
func WithEncoderDict(dict []byte) EOption {
	return func(o *encoderOptions) error {
		d, err := newEncoderDict(dict)
		if err != nil {
			return err
		}
		o.dict = d
		return nil
	}
}

// WithEncoderDictRaw compresses with any content as a dictionary. Frames name it by id, unless that
// is 0. It has effect as with [WithEncoderDict]; only the last 32 MiB count. The Encoder copies
// content.
func WithEncoderDictRaw(id uint32, content []byte) EOption {
	return func(o *encoderOptions) error {
		d, err := newRawEncoderDict(id, content)
		if err != nil {
			return err
		}
		o.dict = d
		return nil
	}
}

// WithEncoderDictDelete compresses without a dictionary. It is for [Encoder.ResetWithOptions].
func WithEncoderDictDelete() EOption {
	return func(o *encoderOptions) error { o.dict = nil; return nil }
}
