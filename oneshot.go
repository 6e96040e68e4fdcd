package compress

import (
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/gopz/compress/pipeline"
)

// AppendEncode appends src, compressed as a [Writer] would, to dst and returns the extended slice. dst's free capacity must not overlap
// src. Since the content's size is known, a block is no larger than it needs to be, and headers of .pz and .zst tell the size. Small calls are cheap: what they
// need is kept for the next one; but .pz is for large content: around it stand 46 bytes and more, and below some kilobytes the pipeline "lzf" (.zst) gives less. With an error dst is returned as it was; its free capacity may have been written to.
//
// A device that is given up may still read src, and throws away what it reads; the same holds for AppendDecode.
func AppendEncode(dst, src []byte, opts ...Option) ([]byte, error) {
	o, err := newWriterOptions(append(opts[:len(opts):len(opts)], announce(len(src))))
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

// announce is WithContentSize for a Writer that knows, unless the options say something already.
func announce(n int) Option {
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
		d.into = d.room
		return d
	}}
)

// sink is a writer that appends.
type sink struct{ p []byte }

func (s *sink) Write(p []byte) (int, error) {
	if n := len(s.p); len(p) > 0 && cap(s.p)-n >= len(p) && &s.p[:n+1][n] == &p[0] {
		s.p = s.p[:n+len(p)] // it is there already
		return len(p), nil
	}
	s.p = append(s.p, p...)
	return len(p), nil
}

// encoder is a Writer that takes its blocks straight from the caller's memory.
type encoder struct {
	Writer
	sink sink
	key  runKey
}

// runKey says whether a run that is at rest does for another call.
type runKey struct {
	pipe     *pipeline.Pipeline
	level    int
	tuning   Tuning
	inFlight int
	limit    int64
	checks   bool
}

// kept reports whether a run with these options may be kept for other calls: not if it is bound to something of the caller's.
func (o *options) kept() bool {
	return o.ctx == nil && o.sched == nil && o.workers == 0 && o.trace == nil && o.assign == pipeline.Assignment{}
}

func (e *encoder) encode(dst, src []byte, o options) error {
	e.sink.p = dst
	p, err := o.writerPlan()
	if err != nil {
		return err
	}
	if key := (runKey{pipe: o.pipe, level: o.level, tuning: o.tuning, inFlight: p.inFlight, checks: o.checks}); e.key != key {
		e.stop()
		e.key = key
	}
	e.opt, e.plan, e.borrowed = o, p, true
	if e.sched = o.scheduler(); !o.kept() {
		e.stop()
	}
	if err := o.check(e.sched, pipeline.Compress, o.pipe, o.checks, o.blockSize); err != nil {
		return err
	}
	e.Reset(&e.sink)
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.expect(len(src)); err != nil {
		return err
	}
	for at := 0; at < len(src); {
		n := min(len(src)-at, o.blockSize)
		b, err := e.get()
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

// putAway puts the encoder away. Nothing of the caller's stays in it.
func (e *encoder) putAway() {
	if e.free(); !e.opt.kept() {
		e.stop()
	}
	e.opt, e.sched, e.dst, e.sink.p, e.err = options{}, nil, nil, nil, nil
	encoders.Put(e)
}

// AppendDecode appends the content of src, which a [Reader] could read, to dst and returns the extended slice. dst's free
// capacity must not overlap src, and may be written to beyond what is returned. With an error comes the content in front of the damage.
//
// On the word of a header dst grows to 8 times src at most; beyond that it grows with what has been decoded. Some kilobytes
// can decode to gigabytes: input that is not trusted needs [WithMaxDecodedSize].
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

// decoder is a Reader that gives the caller's memory to the workers.
type decoder struct {
	Reader
	sink sink
	key  runKey
	base int  // what was in dst
	size int  // of the input
	made bool // room for the content
}

// room returns where in the caller's memory the content of a unit belongs, so that workers decode it there; nil if it is beyond what there is.
func (d *decoder) room(u *unit) []byte {
	if !d.made {
		d.made = true
		d.sink.p = slices.Grow(d.sink.p, d.sizeHint(d.size))
	}
	end := u.place.content + int64(d.base)
	if end > int64(cap(d.sink.p)) {
		return nil
	}
	return d.sink.p[:cap(d.sink.p)][end-int64(u.raw) : end : end]
}

func (d *decoder) decode(dst, src []byte, o options) error {
	d.sink.p, d.base, d.size, d.made = dst, len(dst), len(src), false
	if key := (runKey{limit: o.readerLimit(), checks: o.checks}); d.key != key {
		d.runner.stop()
		d.key = key
	}
	d.opt = o
	if d.sched = o.scheduler(); !o.kept() {
		d.runner.stop()
	}
	d.Reset(nil)
	if src == nil {
		src = []byte{}
	}
	d.scan.mem, d.quick = src, true
	if err := d.next(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	d.sink.p = slices.Grow(d.sink.p, d.sizeHint(len(src)))
	_, err := d.WriteTo(&d.sink)
	return err
}

// mostHint is the most to make room for on the word of a header, in bytes: on 32 bits 256 MiB, since all there is are a few times that.
const mostHint = math.MaxInt32 >> (3 * (64 - bits.UintSize) / 32)

// sizeHint is how much content to make room for at once: what the header says as far as it is plausible. Whatever is
// more than that comes by doubling.
func (d *decoder) sizeHint(n int) int {
	const plausible = 8 // times the input's size: more than most content gives, so that what it wastes is little and rare
	most := min(plausible*int64(n), mostHint)
	return max(len(d.out), int(min(d.scan.hdr.ContentSize, most)))
}

// putAway puts the decoder away. Nothing of the caller's stays in it.
func (d *decoder) putAway() {
	d.park()
	if !d.opt.kept() {
		d.runner.stop()
	}
	d.scan.mem = nil
	d.opt, d.sched, d.sink.p, d.err, d.stop = options{}, nil, nil, nil, nil
	decoders.Put(d)
}
