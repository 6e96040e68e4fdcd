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
// headers of .pz and .zst tell the size. Memory is kept for the next call. A .pz stream with up to
// 65,000 bytes of content in one block is 16 to 18 bytes larger than its payload.
//
// The caller's goroutine compresses content below 64 KiB itself and waits for no worker, unless
// [WithDevice] insists on a device. In the steady state such a call allocates nothing if dst has
// the capacity and opts are made once and used again.
//
// Nothing reads src after the call has returned. A device works on a copy.
func AppendEncode(dst, src []byte, opts ...WriterOption) ([]byte, error) {
	pool := &encoders
	if len(src) < smallContent {
		pool = &smallEncoders
	}
	e := pool.Get().(*encoder)
	err := e.encode(dst, src, opts)
	if err == nil {
		dst = e.sink.p
	}
	e.putAway()
	pool.Put(e)
	return dst, err
}

// Encoders and decoders are kept for the next call. Those of small content are apart, because they
// have one block.
var (
	encoders      = sync.Pool{New: func() any { return new(encoder) }}
	smallEncoders = sync.Pool{New: func() any { return new(encoder) }}
	decoders      = sync.Pool{New: func() any {
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
}

func (e *encoder) encode(dst, src []byte, opts []WriterOption) (err error) {
	o := &e.opt
	if err := o.setWriter(opts, int64(len(src))); err != nil {
		return err
	}
	small := len(src) < smallContent
	e.budget, err = o.writerBudget(small)
	if err != nil {
		return err
	}
	e.sched, e.sink.p, e.callerOwned = o.scheduler(), dst, true
	if err := o.checkBackend(e.sched, pipeline.Compress, o.pipe, o.limits.Checks, o.blockSize); err != nil {
		return err
	}
	e.Reset(&e.sink)
	e.beginRun()
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.checkSize(len(src)); err != nil {
		return err
	}
	if o.singleFrame && len(src) > o.blockSize {
		e.callerOwned = false // blocks have a window in front of them
		if _, err := e.addContent(src); err != nil {
			return err
		}
	}
	for at := int(e.in); at < len(src); {
		n := min(len(src)-at, o.blockSize)
		if o.rsyncable {
			n, _ = e.cutter.Next(src[at : at+n])
		}
		b, err := e.getBlock()
		if err != nil {
			return e.fail(err)
		}
		b.Window = min(at, o.pipe.Window)
		b.Src, b.CallerOwned = src[at-b.Window:at+n:at+n], true
		at += n
		b.Last = at == len(src)
		e.cur = b
		e.in += int64(n)
		if err := e.submit(small); err != nil {
			return e.fail(err)
		}
	}
	return e.Close()
}

// putAway makes the encoder ready for the pool, without references to the caller's memory.
func (e *encoder) putAway() {
	e.recycle()
	e.unbind()
	e.opt = options{private: e.opt.private}
	e.sched, e.dst, e.sink.p, e.err = nil, nil, nil, nil
}

// AppendDecode appends the content of src, which a [Reader] could read, to dst and returns the
// extended slice. The free capacity of dst must not overlap src, and may be written to beyond the
// result. With an error it returns the content in front of the damage.
//
// Before content is decoded, dst grows to at most 8 times len(src), if a header announces as much.
// Beyond that it grows with what has been decoded. Some kilobytes can decode to gigabytes: use
// [WithMaxDecodedSize] for input that is not trusted.
//
// The caller's goroutine decompresses the first 64 KiB itself, as a [Reader] does. In the steady
// state a call with less content than that allocates nothing if dst has the capacity and opts are
// made once and used again.
func AppendDecode(dst, src []byte, opts ...ReaderOption) ([]byte, error) {
	d := decoders.Get().(*decoder)
	err := d.decode(dst, src, opts)
	dst = d.sink.p
	d.putAway()
	decoders.Put(d)
	return dst, err
}

// A decoder is a Reader whose workers decode into the caller's memory.
type decoder struct {
	Reader
	sink  sink
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

func (d *decoder) decode(dst, src []byte, opts []ReaderOption) error {
	d.sink.p, d.base, d.size, d.grown = dst, len(dst), len(src), false
	if err := d.opt.set(forReader, opts); err != nil {
		return err
	}
	d.sched = d.opt.scheduler()
	d.Reset(nil)
	d.runSpec = container.Spec{} // the run of the last call has other options
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

// putAway makes the decoder ready for the pool, without references to the caller's memory.
func (d *decoder) putAway() {
	d.release()
	d.unbind()
	d.memory = nil
	d.opt = options{private: d.opt.private}
	d.sched, d.sink.p, d.err, d.end = nil, nil, nil, nil
}
