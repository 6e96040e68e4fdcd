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
	if *c++; *c == maxEmptyReads {
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
