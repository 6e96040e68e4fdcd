package container

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/gopz/compress/internal/errs"
)

// maxEmptyReads is how many reads in a row may return nothing before io.ErrNoProgress, as in
// package bufio.
const maxEmptyReads = 100

// A ReadProgress counts reads in a row that return nothing.
type ReadProgress int

// Check returns io.ErrNoProgress after too many reads in a row that returned no bytes and no
// error. n and err are the results of a read; it returns err otherwise.
func (c *ReadProgress) Check(n int, err error) error {
	if n > 0 || err != nil {
		*c = 0
		return err
	}
	*c++
	if *c == maxEmptyReads {
		return io.ErrNoProgress
	}
	return nil
}

// ReadFull reads until p is full. Unlike io.ReadFull it gives up on a reader that returns nothing
// again and again, and returns plain io.EOF at the end of the input, however much was read.
func ReadFull(r io.Reader, p []byte) (n int, err error) {
	var progress ReadProgress
	for n < len(p) {
		m, err := r.Read(p[n:])
		if m < 0 || m > len(p)-n {
			return n, errs.BadCount
		}
		n += m
		if n == len(p) {
			return n, nil
		}
		if err = progress.Check(m, err); err != nil {
			return n, err
		}
	}
	return n, nil
}

// IsNonBlocking reports whether all of an input is available without waiting.
func IsNonBlocking(src io.Reader) bool {
	switch s := src.(type) {
	case *bytes.Reader, *bytes.Buffer, *strings.Reader:
		return true
	case *os.File:
		info, err := s.Stat()
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

// known returns how many bytes an input is known to have left.
func known(src io.Reader) int64 {
	switch s := src.(type) {
	case *bytes.Reader:
		return int64(s.Len())
	case *bytes.Buffer:
		return int64(s.Len())
	case *strings.Reader:
		return int64(s.Len())
	case *os.File:
		info, err := s.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			return max(0, info.Size()-at)
		}
	}
	return 0
}

// WriteFull writes p. A count that is too small comes with an error.
func WriteFull(w io.Writer, p []byte) (int, error) {
	n, err := w.Write(p)
	if n < 0 || n > len(p) {
		return 0, errs.BadCount
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// ReadAt fills p from offset off. The end of the input is errs.Truncated.
func ReadAt(src io.ReaderAt, p []byte, off int64) error {
	n, err := src.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return errs.At(errs.Truncated, off+int64(n), "")
	case err == nil:
		return errs.BadCount
	}
	return err
}

// Sector is the size in bytes of the pieces in which ReadAround tries a failed read again: the
// sector of most disks.
const Sector = 4096

// ReadAround fills p from offset off of src, as far as that can be read. A failed read is tried
// again in pieces, down to a sector. What cannot be read becomes zeros, and ReadAround calls failed
// with the place in p and the error. An error that failed returns ends the read. n is less than
// len(p) at the end of src.
func ReadAround(
	src io.ReaderAt, p []byte, off int64, failed func(from, to int, err error) error,
) (n int, err error) {
	size := len(p) // of the next read
	for n < len(p) {
		q := p[n:min(len(p), n+size)]
		m, err := src.ReadAt(q, off+int64(n))
		if m < 0 || m > len(q) || m < len(q) && err == nil {
			m, err = 0, errs.BadCount
		}
		n += m
		switch piece := int(Sector - (off+int64(n))%Sector); {
		case m == len(q):
			size = min(2*size, len(p))
		case err == io.EOF:
			return n, nil
		case len(q)-m > piece:
			size = piece
		default:
			clear(q[m:])
			if err := failed(n, n+len(q)-m, err); err != nil {
				return n, err
			}
			n += len(q) - m
			size = Sector
		}
	}
	return n, nil
}

// Broken converts a read error. The end of the input becomes the errs.Truncated that truncated
// returns. An error of the underlying reader is returned as it is.
func Broken(err error, truncated func() error) error {
	if e, ok := SourceError(err); ok {
		return e
	}
	if errs.IsEnd(err) {
		return truncated()
	}
	return err
}
