package gzip

import (
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/pipeline"
)

// Levels for [NewWriterLevel], besides 1 to 9.
const (
	NoCompression      = flate.NoCompression      // stored blocks only
	BestSpeed          = flate.BestSpeed          // level 1
	BestCompression    = flate.BestCompression    // level 9
	DefaultCompression = flate.DefaultCompression // level 6
	HuffmanOnly        = flate.HuffmanOnly        // Huffman codes without matches

	// ConstantCompression is what klauspost/compress and pgzip call HuffmanOnly.
	ConstantCompression = HuffmanOnly
	// StatelessCompression of klauspost/compress is level 1. A Writer has no tables in any case.
	StatelessCompression = -3
)

// defaultLevel is the level of DefaultCompression.
const defaultLevel = 6

var (
	// errClosed has the message that compress/gzip has for Write after Close.
	errClosed = errors.New("flate: closed writer")

	errTooLate = errors.New("gzip: SetOptions after the first Write, Flush or Close")
)

// Writer compresses what is written to it into one member and writes that to an underlying writer.
//
// The Header is written with the first Write, Flush or Close; set its fields before. Methods are
// for one goroutine at a time. After an error all methods return it until Reset. The zero value
// writes with [NoCompression] after a Reset.
type Writer struct {
	Header // written by the first Write, Flush or Close

	w      io.Writer
	level  int
	opts   []compress.WriterOption
	begun  bool // the header is written
	closed bool
	err    error
	size   int        // bytes of content so far
	body   compressor // nil until the first use
	rest   headless   // what body writes to, for a compress.Writer
	buf    []byte     // for parts of the header
}

// A compressor writes the Deflate stream and the trailer of a member, and perhaps a header.
type compressor interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// headless passes on what is written to it, without the first bytes. A compress.Writer writes a
// header without fields, in place of which the Writer has written its own.
type headless struct {
	w    io.Writer
	skip int // bytes not to pass on
}

// Write writes p without what is to be skipped.
func (h *headless) Write(p []byte) (int, error) {
	skip := min(h.skip, len(p))
	h.skip -= skip
	if skip > 0 && skip == len(p) {
		return skip, nil
	}
	n, err := h.w.Write(p[skip:])
	return skip + n, err
}

// NewWriter returns a Writer with [DefaultCompression] that writes to w. The caller closes it to
// complete the member. Close does not close w.
func NewWriter(w io.Writer) *Writer {
	z, _ := NewWriterLevel(w, DefaultCompression)
	return z
}

// NewWriterLevel is NewWriter with a level: 1 to 9, [NoCompression], [DefaultCompression],
// [HuffmanOnly] or [StatelessCompression]. Any other level is an error.
func NewWriterLevel(w io.Writer, level int) (*Writer, error) {
	if level < StatelessCompression || level > BestCompression {
		return nil, fmt.Errorf("gzip: invalid compression level: %d", level)
	}
	z := &Writer{level: level}
	z.Reset(w)
	return z, nil
}

// Reset makes the Writer as [NewWriterLevel] returned it, with the same level and options, but
// writing to w. It keeps memory. Content not yet written is dropped.
func (z *Writer) Reset(w io.Writer) {
	z.Header = Header{OS: gzfile.UnknownOS}
	z.w, z.begun, z.closed, z.err, z.size = w, false, false, nil, 0
	if z.body != nil {
		z.resetBody()
	}
}

// SetOptions chooses how a Writer works, except at [NoCompression], by [compress.WithConcurrency],
// WithBlockSize, WithScheduler, WithContext, WithMaxMemory and others. Format, level and name
// remain the Writer's. The options last until the next SetOptions. Call it before the first Write,
// Flush or Close. An option that is out of its range, or not for .gz, is a [compress.ErrOption],
// and the options remain as before.
func (z *Writer) SetOptions(opts ...compress.WriterOption) error {
	if z.begun || z.closed {
		return errTooLate
	}
	body, err := z.newStream(opts)
	if err != nil {
		return err
	}
	z.opts = append([]compress.WriterOption(nil), opts...)
	if z.level != NoCompression {
		z.body = body
		z.resetBody()
	}
	return nil
}

// SetConcurrency has the Writer compress up to blocks blocks of blockSize bytes at once, as the
// method of klauspost/pgzip does. blockSize becomes the next power of two from 4 KiB to 64 MiB, and
// blocks is at most 1,024; numbers below 1 are an error. Call it before the first Write, Flush or
// Close. It adds to the options of [Writer.SetOptions].
func (z *Writer) SetConcurrency(blockSize, blocks int) error {
	if blockSize < 1 || blocks < 1 {
		return errs.BadOption("concurrency of %d blocks of %d bytes", blocks, blockSize)
	}
	size := min(max(container.CeilPow2(blockSize), compress.MinBlockSize), compress.MaxBlockSize)
	return z.SetOptions(append(z.opts[:len(z.opts):len(z.opts)],
		compress.WithBlockSize(size), compress.WithConcurrency(min(blocks, pipeline.MaxWorkers)))...)
}

// UncompressedSize returns how many bytes of content have been written since NewWriter or Reset, as
// the method of klauspost/pgzip does.
func (z *Writer) UncompressedSize() int { return z.size }

// newStream returns a compress.Writer that writes to z.rest.
func (z *Writer) newStream(opts []compress.WriterOption) (*compress.Writer, error) {
	all := append(opts[:len(opts):len(opts)],
		compress.WithFormat(compress.Gzip), compress.WithName("", time.Time{}))
	switch z.level {
	case HuffmanOnly:
		all = append(all, compress.WithLevel(BestSpeed), bridge.Literals())
	case StatelessCompression:
		all = append(all, compress.WithLevel(BestSpeed))
	case DefaultCompression, NoCompression:
		all = append(all, compress.WithLevel(defaultLevel))
	default:
		all = append(all, compress.WithLevel(z.level))
	}
	return compress.NewWriter(&z.rest, all...)
}

// resetBody begins a stream.
func (z *Writer) resetBody() {
	z.rest = headless{z.w, gzfile.MinHeaderSize}
	if z.level == NoCompression {
		z.body.Reset(z.w)
	} else {
		z.body.Reset(&z.rest)
	}
}

// beginMember writes the header if it is not written yet. It returns an error if z cannot go on.
func (z *Writer) beginMember() error {
	if z.begun || z.err != nil {
		return z.err
	}
	z.begun = true
	if z.err = z.writeHeader(); z.err != nil || z.body != nil {
		return z.err
	}
	if z.level == NoCompression {
		z.body = new(plain)
	} else {
		var stream *compress.Writer
		stream, z.err = z.newStream(z.opts)
		if z.err != nil {
			return z.err
		}
		z.body = stream
	}
	z.resetBody()
	return nil
}

// Write compresses p. Part of it may stay in memory until Flush or Close.
func (z *Writer) Write(p []byte) (n int, err error) {
	if z.closed && z.err == nil {
		z.err = errClosed
	}
	if err := z.beginMember(); err != nil {
		return 0, err
	}
	n, z.err = z.body.Write(p)
	z.size += n
	return n, z.err
}

// Flush compresses the content of all Writes so far and gives it to the underlying writer, as
// Z_SYNC_FLUSH of zlib does. A reader of the data can then return that content. After Close it does
// nothing.
func (z *Writer) Flush() error {
	if z.closed {
		return z.err
	}
	if err := z.beginMember(); err != nil {
		return err
	}
	z.err = z.body.Flush()
	return z.err
}

// Close writes what is left and the trailer. It does not close the underlying writer. Another Close
// does nothing.
func (z *Writer) Close() error {
	if z.closed {
		return z.err
	}
	err := z.beginMember()
	z.closed = err == nil
	if err != nil {
		return err
	}
	z.err = z.body.Close()
	return z.err
}
