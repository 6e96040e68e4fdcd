package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
)

// verifies reports whether the result of the job must restore to its source before --rm removes
// that. When restoring, checks in the file have verified the result.
func (j *job) verifies() bool {
	return j.remove && !j.app.cfg.removeFast && j.app.cfg.mode == modeCompress
}

// verify restores the temporary file and compares the content with the source. It takes a fault of
// memory, or of a processor, for what it is before the source is gone.
func (j *job) verify() error {
	f, err := j.out.at.root.Open(j.out.temp)
	if err != nil {
		return fmt.Errorf("cannot be read for --rm: %s", reason(err))
	}
	defer f.Close()
	r, err := compress.NewReader(f, j.app.readOptions()...)
	if err != nil {
		return fmt.Errorf("does not restore: %s", reason(err))
	}
	defer r.Close()
	src := io.NewSectionReader(j.in.readerAt(), j.in.start, j.m.read())
	c := &comparer{src: src}
	if j.app.held == nil {
		c.bar = j.app.newProgressBar("comparing ", j.in, j.out, j.app.now())
		defer c.bar.close()
	}
	if _, err := r.WriteTo(c); err != nil {
		return fmt.Errorf("does not restore to the source: %s", reason(err))
	}
	if n, _ := src.Read(make([]byte, 1)); n > 0 {
		return errors.New("does not restore to the source: its end is missing")
	}
	return nil
}

var errDiffers = errors.New("the content differs")

// A comparer is a Writer that expects the bytes of src.
type comparer struct {
	src io.Reader
	bar *progressBar
	n   int64 // bytes compared
	buf [64 << 10]byte
}

func (c *comparer) Write(p []byte) (done int, err error) {
	for done < len(p) {
		q := c.buf[:min(len(c.buf), len(p)-done)]
		n, err := io.ReadFull(c.src, q)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return done, err
		}
		if n < len(q) || !bytes.Equal(q, p[done:][:n]) {
			return done, errDiffers
		}
		done += n
		c.n += int64(n)
		c.bar.setDone(c.n, c.n)
	}
	return done, nil
}
