package zstd

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

const (
	// parallelFrom is the least input in bytes that workers decode.
	parallelFrom = 1 << 20
	// parallelMemory is the memory limit in bytes of what workers decode. It suffices for a window
	// of 32 MiB and several parts in flight.
	parallelMemory = 64 << 20
	// workersEach is how many workers there are for each Decoder that uses them.
	workersEach = 4
)

// A parallel is a stream that workers decode. If something is wrong with the input, the Decoder
// decodes the stream again by itself, and passes over the content that has been returned. So errors
// and the content in front of them do not depend on the workers.
type parallel struct {
	options *decoderOptions     // that reader was made for
	sched   *compress.Scheduler // nil for the one of the process
	reader  *compress.Reader
	permit  permit

	src   io.ReadSeeker // nil if the Decoder decodes the stream itself
	start int64         // where the stream begins in src
	n     int64         // bytes of content returned
}

// permits counts the permits in use.
var permits atomic.Int64

// A permit is in use or not. Decoders that are open at the same time do not all use workers,
// because those take much more memory.
type permit struct{ used *atomic.Bool }

// acquire takes the permit into use if there are not too many.
func (p permit) acquire() bool {
	if permits.Add(1) > int64(max(1, runtime.GOMAXPROCS(0)/workersEach)) {
		permits.Add(-1)
		return false
	}
	p.used.Store(true)
	return true
}

// release ends the use, if any.
func (p permit) release() {
	if p.used.Swap(false) {
		permits.Add(-1)
	}
}

// seekable returns r if all of its input is there and can be read again, and the bytes left.
func seekable(r io.Reader) (s io.ReadSeeker, left int64) {
	switch r := r.(type) {
	case *bytes.Reader:
		return r, int64(r.Len())
	case *strings.Reader:
		return r, int64(r.Len())
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return nil, 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, 0
		}
		return r, info.Size() - at
	}
	return nil, 0
}

// beginWorkers has workers decode the stream if that pays.
func (d *Decoder) beginWorkers(o *decoderOptions) {
	if o.concurrent < 2 || len(o.dicts) > 0 {
		return
	}
	src, left := seekable(d.source.r)
	if src == nil || left < parallelFrom {
		return
	}
	start, err := src.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	if d.workers == nil {
		d.workers = newParallel(o)
	}
	if d.workers.permit.acquire() {
		d.workers.begin(src, start, o)
	}
}

func newParallel(o *decoderOptions) *parallel {
	p := &parallel{permit: permit{new(atomic.Bool)}}
	runtime.AddCleanup(p, permit.release, p.permit) // a Decoder may be dropped without Close
	var defaults decoderOptions
	defaults.setDefault()
	if o.concurrent != defaults.concurrent {
		p.sched = compress.NewScheduler(o.concurrent)
	}
	return p
}

// begin begins a stream that begins at an offset of src.
func (p *parallel) begin(src io.ReadSeeker, start int64, o *decoderOptions) {
	if p.options != o {
		var err error
		p.reader, err = compress.NewReader(nil, bridge.OnlyZstd(int64(min(o.window(), math.MaxInt64))),
			compress.WithScheduler(p.sched), compress.WithMaxMemory(parallelMemory),
			compress.WithChecksum(!o.ignoreChecksum))
		if err != nil {
			panic(err) // the options are in their ranges
		}
		p.options = o
	}
	p.src, p.start, p.n = src, start, 0
	p.reader.Reset(src)
}

// active reports whether workers decode the stream.
func (p *parallel) active() bool { return p != nil && p.src != nil }

// errAgain says that the Decoder has to decode the stream again.
var errAgain = errors.New("zstd: to be decoded again")

// read is [Decoder.Read] for a stream that workers decode. It may return errAgain, and then no
// content.
func (p *parallel) read(b []byte) (n int, err error) {
	n, err = p.reader.Read(b)
	p.n += int64(n)
	if err != nil {
		err = p.end(err)
	}
	return n, err
}

// writeTo is [Decoder.WriteTo] for a stream that workers decode. It ends with an error, which is
// io.EOF at the end. With errAgain it may have written content.
func (p *parallel) writeTo(w io.Writer) (n int64, err error) {
	t := tracker{w: w}
	n, err = p.reader.WriteTo(&t)
	p.n += n
	switch {
	case t.err != nil:
		p.stop()
		return n, t.err
	case err == nil:
		err = io.EOF
	}
	return n, p.end(err)
}

// A tracker keeps the error of a writer.
type tracker struct {
	w   io.Writer
	err error
}

func (t *tracker) Write(p []byte) (n int, err error) {
	n, t.err = t.w.Write(p)
	if t.err == nil && n < len(p) {
		t.err = io.ErrShortWrite
	}
	return n, t.err
}

// end ends the stream behind an error, and returns it. If it is about the input, end goes back to
// the start, and returns errAgain.
func (p *parallel) end(err error) error {
	src := p.src
	p.stop()
	var e *compress.Error
	if !errors.As(err, &e) {
		return err // io.EOF, or an error of the source
	}
	if _, err := src.Seek(p.start, io.SeekStart); err != nil {
		return err
	}
	return errAgain
}

// stop ends the work, and drops the source.
func (p *parallel) stop() {
	if p.active() {
		p.reader.Reset(nil)
		p.permit.release()
		p.src = nil
	}
}
