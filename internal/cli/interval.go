package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gopz/compress"
)

// interval is the value of --range: a part of the content.
type interval struct{ off, size int64 }

// toEnd is the size of an interval that has none.
const toEnd = math.MaxInt64

func (c *config) setRange(s string) error {
	off, size, ok := strings.Cut(s, ":")
	i, err := &interval{size: toEnd}, error(nil)
	i.off, err = parseSize(off)
	if err == nil && size != "" {
		i.size, err = parseSize(size)
	}
	if err != nil || !ok {
		return errors.New("the range must be an offset and a size, as in 4M:512K, " +
			"or an offset alone, as in 4M: for all that follows")
	}
	c.interval = i
	return nil
}

// ranged reports whether only a part of the content is wanted.
func (c *config) ranged() bool { return c.interval != nil }

// rangeBuffer is the most content in bytes that one read asks for. Its blocks are restored in
// parallel.
const rangeBuffer = 8 << 20

// restoreRange writes the part of the content that --range names. It reads no other blocks if the
// file has an index, and else all that is in front of the part.
func (a *app) restoreRange(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	i := *a.cfg.interval
	if done, err := a.copyRange(w, in, m, opts, &i); done {
		return err
	}
	c := &cutWriter{w: w, interval: i}
	err := a.restore(c, in, m, opts)
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err == nil && c.off > 0:
		return behindEnd(i.off - c.off)
	}
	return err
}

// behindEnd returns the error of a range that begins behind content of size bytes.
func behindEnd(size int64) error {
	return fmt.Errorf("has %d bytes of content; --range begins behind them", size)
}

// copyRange is restoreRange for files with an index. It returns false for others, and if the index
// beside a .gz file is of no use; i is then what has not been written.
func (a *app) copyRange(
	w io.Writer, in *source, m *meter, opts []compress.ReaderOption, i *interval,
) (done bool, err error) {
	if !in.regular() || in.size() < 0 {
		return false, nil
	}
	var r *compress.ReaderAt
	index := ""
	switch f, _ := in.format(); f {
	case compress.Gzip:
		r, index = a.openByIndex(in, opts)
		if r == nil {
			return false, nil // NewReaderAt would read all of the file
		}
	case compress.PZ, compress.Zstd:
		r, err = compress.NewReaderAt(in.section(), in.size(), opts...)
	default:
		return false, nil
	}
	if errors.Is(err, compress.ErrNoIndex) || in.goesOn(err) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	defer r.Close()
	if in.badSection.Load() && in.openParity(true) {
		return a.copyRange(w, in, m, opts, i) // headers of frames, which have no check, gave the index
	}
	if i.off > r.Size() {
		return true, behindEnd(r.Size())
	}
	size := min(i.size, r.Size()-i.off)
	part := io.NewSectionReader(r, i.off, size)
	buf := make([]byte, min(size, rangeBuffer)+1)
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, part, buf)
	if index != "" && errors.Is(err, compress.ErrCorrupt) {
		a.warnIndex(index, in)
		i.off += n
		if i.size != toEnd {
			i.size -= n
		}
		return false, nil
	}
	m.last.Content = n
	return true, err
}

// errEnough ends reading once a cutWriter has all that it wants.
var errEnough = errors.New("cli: the end of the range")

// cutWriter passes on an interval of what is written.
type cutWriter struct {
	w io.Writer
	interval
}

func (c *cutWriter) Write(p []byte) (int, error) {
	skip := min(c.off, int64(len(p)))
	c.off -= skip
	part := p[skip:]
	part = part[:min(c.size, int64(len(part)))]
	if len(part) > 0 {
		if n, err := c.w.Write(part); err != nil {
			return int(skip) + n, err
		}
	}
	if c.size -= int64(len(part)); c.size == 0 && c.off == 0 {
		return int(skip) + len(part), errEnough
	}
	return len(p), nil
}
