package cli

import (
	"bytes"
	"io"
	"os"
)

const (
	// writebackStep is how much of a file is new between two calls of startWriteback, in bytes.
	writebackStep = 8 << 20

	// holeUnit is the size in bytes of the aligned parts of a sparse file that are left out if they
	// are zero. Smaller holes would split the file into many extents.
	holeUnit = 32 << 10
)

var zeroUnit [holeUnit]byte

// A fileWriter writes to a new file. The system starts to bring content to disk while more is made,
// so that the sync at the end finds little to do.
type fileWriter struct {
	f       *os.File
	sparse  bool  // leave holes for zeros
	size    int64 // of the file
	started int64 // end of what the system has started to bring to disk
	hole    bool  // the file ends in a hole, which it does not have yet
}

func (w *fileWriter) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, w.hole = w.next(p[n:])
		if !w.hole {
			m, err = w.f.WriteAt(p[n:n+m], w.size)
		}
		n += m
		w.size += int64(m)
	}
	if fresh := w.size - w.started; fresh >= writebackStep {
		startWriteback(w.f, w.started, fresh)
		w.started = w.size
	}
	return n, err
}

// next returns how many bytes of p to write at once, or that so many bytes are zero and become a
// hole.
func (w *fileWriter) next(p []byte) (n int, hole bool) {
	if !w.sparse {
		return len(p), false
	}
	for n < len(p) {
		unit := min(len(p)-n, holeUnit-int((w.size+int64(n))%holeUnit))
		zero := bytes.Equal(p[n:n+unit], zeroUnit[:unit])
		if n > 0 && zero != hole {
			break
		}
		hole = zero
		n += unit
	}
	return n, hole
}

// writeHole writes n zeros, to a file as a hole if it may have some.
func writeHole(w io.Writer, n int64) (err error) {
	if f, ok := w.(*fileWriter); ok && f.sparse && n > 0 {
		f.size += n
		f.hole = true
		return nil
	}
	for n > 0 && err == nil {
		part := min(n, holeUnit)
		_, err = w.Write(zeroUnit[:part])
		n -= part
	}
	return err
}

// finishHole completes a file that ends in a hole.
func (w *fileWriter) finishHole() error {
	if !w.hole {
		return nil
	}
	return w.f.Truncate(w.size)
}
