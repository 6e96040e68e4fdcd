package compress

import (
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/pipeline"
)

// AppendEncode appends src, compressed as a [Writer] would, to dst and returns the extended slice.
// The free capacity of dst must not overlap src. With an error it returns dst as it was; its free
// capacity may have been written to.
//
// Since the size of the content is known, blocks are no larger than they need to be, and the
// headers of .pz and .zst tell the size. Memory is kept for the next call. A .pz stream of one
// block is 78 bytes larger than its payload; below a few KiB [Zstd] is smaller.
//
// A device that was given up may still read src, and its results are discarded. The same holds for
// AppendDecode.
func AppendEncode(dst, src []byte, opts ...Option) ([]byte, error) {
	o, err := newWriterOptions(append(opts[:len(opts):len(opts)], defaultContentSize(len(src))))
	if err != nil {
		return dst, err
	}
	e := encoders.Get().(*encoder)
	if err = e.encode(dst, src, o); err == nil {
		dst = e.sink.p
	}
	e.putAway()
	return dst, err
}

// defaultContentSize is WithContentSize, unless the options have one already.
func defaultContentSize(n int) Option {
	return func(o *options) error {
		if o.contentSize < 0 {
			o.contentSize = int64(n)
		}
		return nil
	}
}

var (
	encoders = sync.Pool{New: func() any { return new(encoder) }}
	decoders = sync.Pool{New: func() any {
		d := new(decoder)
		d.into = d.destination
		return d
	}}
)

// A sink is a writer that appends.
type sink struct{ p []byte }

// Write appends p. It copies nothing if p lies where it would be appended.
func (s *sink) Write(p []byte) (int, error) {
	if n := len(s.p); len(p) > 0 && cap(s.p)-n >= len(p) && &s.p[:n+1][n] == &p[0] {
		s.p = s.p[:n+len(p)]
		return len(p), nil
	}
	s.p = append(s.p, p...)
	return len(p), nil
}

// An encoder is a Writer whose blocks are parts of the caller's memory.
type encoder struct {
	Writer
	sink sink
	key  encoderKey
}

// An encoderKey holds the options that the run of a pooled encoder depends on.
type encoderKey struct {
	pipe     *pipeline.Pipeline
	level    int
	tuning   Tuning
	inFlight int
	checks   bool
}

func (e *encoder) encode(dst, src []byte, o options) error {
	e.sink.p = dst
	b, err := o.writerBudget()
	if err != nil {
		return err
	}
	key := encoderKey{
		pipe: o.pipe, level: o.level, tuning: o.tuning, inFlight: b.inFlight, checks: o.limits.Checks,
	}
	if e.key != key {
		e.stop()
		e.key = key
	}
	e.opt, e.budget, e.callerOwned = o, b, true
	if e.sched = o.scheduler(); !o.isShared() {
		e.stop()
	}
	if err := o.checkBackend(e.sched, pipeline.Compress, o.pipe, o.limits.Checks, o.blockSize); err != nil {
		return err
	}
	e.Reset(&e.sink)
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.checkSize(len(src)); err != nil {
		return err
	}
	for at := 0; at < len(src); {
		n := min(len(src)-at, o.blockSize)
		b, err := e.getBlock()
		if err != nil {
			return e.fail(err)
		}
		b.Window = min(at, o.pipe.Window)
		b.Src, b.CallerOwned = src[at-b.Window:at+n:at+n], true
		at += n
		e.cur = b
		e.in += int64(n)
		if err := e.submit(); err != nil {
			return e.fail(err)
		}
	}
	return e.Close()
}

// putAway returns the encoder to the pool, without references to the caller's memory.
func (e *encoder) putAway() {
	if e.recycle(); !e.opt.isShared() {
		e.stop()
	}
	e.opt, e.sched, e.dst, e.sink.p, e.err = options{}, nil, nil, nil, nil
	encoders.Put(e)
}

// AppendDecode appends the content of src, which a [Reader] could read, to dst and returns the
// extended slice. The free capacity of dst must not overlap src, and may be written to beyond the
// result. With an error it returns the content in front of the damage.
//
// Before content is decoded, dst grows to at most 8 times len(src), if a header announces as much.
// Beyond that it grows with what has been decoded. Some kilobytes can decode to gigabytes: use
// [WithMaxDecodedSize] for input that is not trusted.
func AppendDecode(dst, src []byte, opts ...Option) ([]byte, error) {
	o, err := newOptions(opts)
	if err != nil {
		return dst, err
	}
	d := decoders.Get().(*decoder)
	err = d.decode(dst, src, o)
	dst = d.sink.p
	d.putAway()
	return dst, err
}

// A decoderKey holds the options that the run of a pooled decoder depends on.
type decoderKey struct {
	limit  int64
	checks bool
}

// A decoder is a Reader whose workers decode into the caller's memory.
type decoder struct {
	Reader
	sink  sink
	key   decoderKey
	base  int  // bytes of dst in front of the content
	size  int  // bytes of src
	grown bool // dst has room for the content that the header announces
}

// destination returns where in the caller's memory the content of a unit belongs, nil if that is
// beyond its capacity.
func (d *decoder) destination(u *container.Unit) []byte {
	if !d.grown {
		d.grown = true
		d.makeRoom()
	}
	end := u.Place.Content + int64(d.base)
	if end > int64(cap(d.sink.p)) {
		return nil
	}
	return d.sink.p[:cap(d.sink.p)][end-int64(u.Raw) : end : end]
}

func (d *decoder) decode(dst, src []byte, o options) error {
	d.sink.p, d.base, d.size, d.grown = dst, len(dst), len(src), false
	if key := (decoderKey{limit: o.limits.Memory(), checks: o.limits.Checks}); d.key != key {
		d.stop()
		d.key = key
	}
	d.opt = o
	if d.sched = o.scheduler(); !o.isShared() {
		d.stop()
	}
	d.Reset(nil)
	if src == nil {
		src = []byte{}
	}
	d.memory, d.nonBlocking = src, true
	if err := d.next(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	d.makeRoom()
	_, err := d.WriteTo(&d.sink)
	return err
}

const (
	// maxHint is the most room to make on the word of a header, in bytes: 256 MiB on 32 bits.
	maxHint = math.MaxInt32 >> (3 * (64 - bits.UintSize) / 32)

	// hintFactor is the most room to make as a multiple of the input. Little content compresses
	// further, so that rooms that are too large are rare and small.
	hintFactor = 8
)

// sizeHint returns how much room to make at once for the content of an input of n bytes: what the
// header announces, as far as it is plausible. More room comes by doubling.
func sizeHint(announced int64, n int) int {
	return int(min(max(announced, 0), hintFactor*int64(n), maxHint))
}

// makeRoom makes room for the content that the header announces, and for the current block.
func (d *decoder) makeRoom() {
	announced := int64(0)
	if d.format == PZ {
		announced = d.sources.pz.ContentSize()
	}
	d.sink.p = slices.Grow(d.sink.p, max(len(d.out), sizeHint(announced, d.size)))
}

// putAway returns the decoder to the pool, without references to the caller's memory.
func (d *decoder) putAway() {
	d.release()
	if !d.opt.isShared() {
		d.stop()
	}
	d.memory = nil
	d.opt, d.sched, d.sink.p, d.err, d.end = options{}, nil, nil, nil, nil
	decoders.Put(d)
}
