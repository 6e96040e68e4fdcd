package gzip

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
)

// An input gives the bytes of a Deflate stream, many at a time, and takes back those behind its
// end.
type input struct {
	buffered *bufio.Reader // lends its buffer, and is told what has been used
	memory   *bytes.Buffer // likewise
	seeker   io.ReadSeeker // is read ahead, and moved back at the end of the stream
	exact    io.Reader     // is read exactWindow bytes at a time

	unused   []byte // of seeker and exact, in piece
	piece    []byte
	size     int // of the next read of seeker
	progress container.ReadProgress
	err      error  // what the source has returned together with unused
	tail     uint32 // of exact: the last four bytes read
	flushed  bool   // of exact: the bytes of next may end a flush

	// While a scanner reads ahead: bytes that it has read, and those of them that memory has
	// dropped.
	given, dropped int64

	own   *bufio.Reader        // for sources that are no io.ByteReader; reads from raw
	raw   struct{ io.Reader }  // the source, or ahead
	file  *os.File             // the source, if that is a file
	ahead *container.ReadAhead // reads the source; nil if own does
}

const (
	// ownBuffer is the input buffer for a source that is no io.ByteReader, in bytes.
	ownBuffer = 16 << 10

	// Reads of a seeker begin with firstPiece bytes, which small members do not exceed by much, and
	// become four times as long each, up to maxPiece.
	firstPiece = 512
	maxPiece   = 16 << 10

	// exactWindow is how many bytes can be read of a stream that has not ended, in bytes: the
	// trailer has as many.
	exactWindow = gzfile.TrailerSize

	// flushMark is the last four bytes of a flush, a stored block without content.
	flushMark = 0xffff0000
)

// source is what a Reader reads from.
type source interface {
	io.Reader
	io.ByteReader
}

// reset makes r the source and returns it, or what buffers it.
func (in *input) reset(r io.Reader) source {
	in.buffered, in.memory, in.seeker, in.exact, in.file = nil, nil, nil, nil, nil
	in.unused, in.err, in.raw.Reader = nil, nil, nil
	in.stopAhead()
	switch s := r.(type) {
	case *bufio.Reader:
		in.buffered = s
		return s
	case *bytes.Buffer:
		in.memory = s
		return s
	case *bytes.Reader:
		in.seeker = s
		return s
	case *strings.Reader:
		in.seeker = s
		return s
	case source:
		in.exact = s
		return s
	}
	in.raw.Reader = r
	in.file, _ = r.(*os.File)
	in.buffer()
	return in.own
}

// buffer begins to read raw through a buffer.
func (in *input) buffer() {
	if in.own == nil {
		in.own = bufio.NewReaderSize(&in.raw, ownBuffer)
	} else {
		in.own.Reset(&in.raw)
	}
	in.buffered = in.own
}

// beginStream begins a stream.
func (in *input) beginStream() { in.size, in.tail, in.flushed = firstPiece, 0, false }

// next returns input of the stream that follows what has been used: at least a byte, or an error.
// It reads only if it has to.
func (in *input) next() ([]byte, error) {
	switch {
	case in.buffered != nil:
		if in.buffered.Buffered() == 0 {
			if _, err := in.buffered.Peek(1); err != nil {
				return nil, err
			}
		}
		return in.buffered.Peek(in.buffered.Buffered())
	case in.memory != nil:
		if in.memory.Len() == 0 {
			return nil, io.EOF
		}
		return in.memory.Bytes(), nil
	case len(in.unused) > 0:
		return in.unused, nil
	case in.seeker != nil:
		err := in.read(in.seeker, in.size)
		in.size = min(4*in.size, maxPiece)
		return in.unused, err
	}
	err := in.read(in.exact, exactWindow)
	in.flushed = false
	for i := range in.unused {
		in.tail = in.tail>>8 | uint32(in.unused[i])<<24
		in.flushed = in.flushed || in.tail == flushMark
	}
	return in.unused, err
}

// read reads up to n bytes, at least one.
func (in *input) read(r io.Reader, n int) error {
	if cap(in.piece) < n {
		in.piece = make([]byte, n)
	}
	for in.err == nil {
		m, err := r.Read(in.piece[:n])
		if m < 0 || m > n {
			return errs.BadCount
		}
		in.unused, in.err = in.piece[:m], in.progress.Check(m, err)
		if m > 0 {
			return nil
		}
	}
	return in.err
}

// use counts n bytes of what next has returned as used.
func (in *input) use(n int) {
	switch {
	case in.buffered != nil:
		in.buffered.Discard(n)
	case in.memory != nil:
		in.memory.Next(n)
	default:
		in.unused = in.unused[n:]
	}
}

// mayWait reports whether the content so far must be returned before next is called, because next
// may wait for a party that waits for that content. With an exact source that is so behind a flush.
func (in *input) mayWait() bool { return in.exact == nil || in.flushed }

// endStream ends the stream. The source is then right behind it, but for the bytes in unused.
func (in *input) endStream() error {
	if in.seeker == nil || len(in.unused) == 0 {
		return nil
	}
	_, err := in.seeker.Seek(-int64(len(in.unused)), io.SeekCurrent)
	in.unused = nil
	return err
}

// readTrailer reads the trailer behind a stream: the CRC-32 of the content and its size modulo 2³².
func (in *input) readTrailer(r io.Reader, p []byte) (sum, size uint32, err error) {
	n := copy(p, in.unused)
	in.unused = in.unused[n:]
	if _, err := io.ReadFull(r, p[n:gzfile.TrailerSize]); err != nil {
		return 0, 0, noEOF(err)
	}
	sum, size = gzfile.ParseTrailer(p)
	return sum, size, nil
}
