package compress

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// sniffSize is how many bytes tell a format.
const sniffSize = 4

// sniff tells the format that begins with p. maybe says that p is too short to tell, but begins like one of them.
func sniff(p []byte) (f pipeline.Format, known, maybe bool) {
	const gzip = gzfile.Magic + "\x08" // with the only method there is
	switch n := min(len(p), len(gzip)); {
	case zstfile.IsFrame(p), zstfile.IsSkippable(p):
		return pipeline.ZST, true, false
	case string(p[:n]) == gzip[:n]:
		return pipeline.GZ, n == len(gzip), true
	}
	return pipeline.PZ, false, len(p) < sniffSize && maybeFrame(p)
}

// maybeFrame reports whether p can be the beginning of a frame of zstd or of a skippable one.
func maybeFrame(p []byte) bool {
	var full [sniffSize]byte
	for _, magic := range [...]string{"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18"} {
		copy(full[copy(full[:], p):], magic[min(len(p), sniffSize):])
		if zstfile.IsFrame(full[:]) || zstfile.IsSkippable(full[:]) {
			return true
		}
	}
	return false
}

// noIndex says what is wrong with a file of another format where an index is needed.
func noIndex(f pipeline.Format) error {
	detail := "zstd data without a seek table can only be read from front to back, by a Reader"
	if f == pipeline.GZ {
		detail = "gzip data has no index and can only be read from front to back, by a Reader"
	}
	return &Error{Kind: ErrNoIndex, Block: -1, Offset: -1, Detail: detail}
}

// unit is what becomes a block of the run: a block of .pz, a frame of zstd, or a piece of content that can only be decoded in order,
// and has been when the block is submitted.
type unit struct {
	need
	kind  pipeline.Kind
	raw   int
	sum   uint32
	place place
	// pause says that what follows may be long in coming.
	pause bool
}

// need is what a run must be made for to take a unit.
type need struct {
	pipe   *pipeline.Pipeline
	checks bool
	size   int   // of the content at most, in bytes; a power of two, or fixed for the stream
	extra  int64 // memory in bytes that is taken besides, by a decoder of the Reader's own
	serial bool  // units are decoded in order: no use in having many of them
}

// fits reports whether a run that was made for a will do for b.
func (a *need) fits(b *need) bool {
	return a.pipe == b.pipe && a.checks == b.checks && b.size <= a.size && b.extra <= a.extra && (b.serial || !a.serial)
}

const (
	// pieceSize is the content of a block that was decoded in order, in bytes: the largest block of zstd, and four windows of Deflate. Larger ones
	// leave the cache.
	pieceSize = 128 << 10

	// frameWorker is the scratch of a worker that decodes frames, in bytes: two buffers of a block, tables, and 24 bytes for each of the sequences of a block.
	frameWorker = 2 << 20
)

// memory is what n blocks in flight take, with the scratch of so many workers and the buffer of the input, in bytes.
func (u *need) memory(n, workers int) int64 {
	fixed := u.extra + inputBuffer
	if u.serial {
		return int64(n)*int64(u.size) + fixed
	}
	return int64(n)*(int64(u.size)+payloadLimit(int64(u.size))+4096) + int64(min(n, workers))*frameWorker + fixed
}

// foreignPlan is how many blocks may be in flight for units of another format.
func (o *options) foreignPlan(u *need) (plan, error) {
	n, workers, limit := o.inFlight(u.pipe, pipeline.Decompress, u.size), o.workerCount(), o.readerLimit()
	if u.serial {
		n = 2 // one to decode into and one that is given out
	}
	for n > 1 && u.memory(n, workers) > limit {
		n--
	}
	m := u.memory(n, workers)
	if m > limit {
		return plan{}, &Error{Kind: ErrMemory, Block: -1, Offset: -1, Memory: m, Detail: fmt.Sprintf("decoding takes %d bytes of memory, more than the limit of %d", m, limit)}
	}
	return plan{n, m}, nil
}

// foreign reads a .gz or .zst file from the front: members, or frames, one after the other.
type foreign struct {
	in    input
	opt   *options
	quick bool // as the Reader's
	read  interface {
		// next says what comes next: a unit, errStreamEnd if there is nothing just now, or io.EOF.
		next(u *unit) error
		// payload fills in Block.Src and what is not known of the unit. It may change its mind: then it returns errStreamEnd.
		payload(u *unit, p []byte) ([]byte, error)
		// sure reports whether nobody can wait for the content in hand, of which the n bytes of a piece are the last: whether going on, with more of it or to
		// the next header, takes no more input than is there already, or not all has come of what was flushed last.
		sure(n int) bool
	}
	before int64 // content so far
	stop   error // what comes after a piece that has been given out

	gz gzScanner
	zs zstScanner
}

// begin begins a file that the scanner has seen the beginning of.
func (f *foreign) begin(format pipeline.Format, s *scanner, opt *options, quick bool) {
	f.in.begin(s)
	f.opt, f.quick, f.before, f.stop = opt, quick, 0, nil
	if format == pipeline.GZ {
		f.gz.begin(f)
		f.read = &f.gz
	} else {
		f.zs.begin(f)
		f.read = &f.zs
	}
}

// forget lets go of what is the caller's.
func (f *foreign) forget() {
	f.in.forget()
	f.zs.forget()
	f.opt, f.read, f.stop = nil, nil, nil
}

func (f *foreign) next(u *unit) error {
	if f.stop != nil {
		return f.stop
	}
	return f.read.next(u)
}

func (f *foreign) payload(u *unit, p []byte) ([]byte, error) {
	p, err := f.read.payload(u, p)
	if err == nil {
		f.before += int64(u.raw)
		u.place.content, u.place.end = f.before, f.in.off()
		u.pause = !f.quick && !f.read.sure(0)
	}
	return p, err
}

// fail describes what is wrong at an offset.
func (f *foreign) fail(kind error, stream int, block, off int64, detail string) error {
	return &Error{Kind: kind, Stream: stream, Block: block, Offset: off, Detail: detail}
}

// tooLarge reports whether size bytes more are more than allowed.
func (f *foreign) tooLarge(size int64) bool {
	return f.opt.maxDecoded >= 0 && size > f.opt.maxDecoded-f.before
}

// piece decodes the next piece from src into p's memory. What ends it early is in f.stop, io.EOF being the end of src; to be asked
// for by itself if the piece is empty.
func (f *foreign) piece(p []byte, src io.Reader) []byte {
	if cap(p) < pieceSize {
		p = make([]byte, pieceSize)
	}
	p = p[:pieceSize]
	n, err := 0, error(nil)
	for empty := 0; n < pieceSize && err == nil; {
		var m int
		m, err = f.decode(src, p[n:])
		n += m
		switch {
		case m > 0:
			empty = 0
			if !f.quick && !f.read.sure(n) {
				// Somebody may wait for what there is, and send nothing before it has come.
				f.stop = err
				return p[:n]
			}
		case err == nil:
			if empty++; empty == maxEmptyReads {
				err = io.ErrNoProgress
			}
		}
	}
	f.stop = err
	return p[:n]
}

// decode lets a decoder read. A panic of its own becomes an error.
func (f *foreign) decode(src io.Reader, p []byte) (n int, err error) {
	defer func() {
		if f.in.raw.reading { // and so does the panic of the reader underneath not
			f.gz.dec, f.zs.dec = nil, nil
			return
		}
		if v := recover(); v != nil {
			n, err = 0, &Error{Kind: ErrInternal, Block: -1, Offset: f.in.off(), Detail: fmt.Sprint("panic of a decoder: ", v)}
			f.gz.dec, f.zs.dec = nil, nil
		}
	}()
	return src.Read(p)
}

// limit cuts a piece of u where there would be more content than allowed.
func (f *foreign) limit(u *unit, p []byte) []byte {
	if f.tooLarge(int64(len(p))) {
		p = p[:f.opt.maxDecoded-f.before]
		f.stop = f.fail(ErrTooLarge, u.place.stream, u.place.block, u.place.offset, "")
	}
	return p
}

// isEnd reports whether an input has ended, rather than failed.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
