package pzbeam

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/gopz/compress"
)

func init() {
	beam.RegisterType(typeOf[Block]())
	beam.RegisterType(typeOf[Line]())
	register.DoFn4x1[context.Context, *sdf.LockRTracker, file, func(Block), error](&blocksFn{})
	register.DoFn4x1[context.Context, *sdf.LockRTracker, file, func(Line), error](&linesFn{})
	register.Emitter1[Block]()
	register.Emitter1[Line]()
}

// A Block is the content of one block of a compressed file, or, if the file has no index, at most 1
// MiB of its content.
type Block struct {
	File   string
	Offset int64 // in the content, in bytes
	Data   []byte
}

// A Line is a line of the content of a compressed file.
type Line struct {
	File   string
	Offset int64  // of the line in the content, in bytes
	Text   string // without the line feed, and without a carriage return in front of it
}

// ReadBlocks returns the content of files, a PCollection<string> of the names of .pz, .gz and .zst
// files, as a PCollection<Block>. Workers share the blocks of a file that has an index. Of the
// options GroupSize and MaxMemory count.
func ReadBlocks(s beam.Scope, files beam.PCollection, o Options) beam.PCollection {
	s = s.Scope("pzbeam.ReadBlocks")
	return beam.ParDo(s, &blocksFn{opened{Options: o}}, readable(s, files, &o))
}

// ReadLines returns the lines of files as a PCollection<Line>, in no order. It reads files as
// ReadBlocks does. A line belongs to the group of blocks that has its first byte. A line of more
// than 64 MiB is an error.
func ReadLines(s beam.Scope, files beam.PCollection, o Options) beam.PCollection {
	s = s.Scope("pzbeam.ReadLines")
	return beam.ParDo(s, &linesFn{opened{Options: o}}, readable(s, files, &o))
}

func readable(s beam.Scope, files beam.PCollection, o *Options) beam.PCollection {
	o.Output = "/" // nothing is written
	o.must()
	return unique(s, beam.ParDo(s, &indexFn{*o, verifying}, files))
}

// opened has what DoFns that read files share.
type opened struct {
	grouped
	Options  Options
	archives lender[*archive]
}

// Teardown closes the files.
func (fn *opened) Teardown() error { return fn.archives.closeAll() }

// with calls f with a reader of content from an offset on, and with the end of the group, 1<<63−1
// for a whole file.
func (fn *opened) with(
	ctx context.Context, f *file, group int64, do func(open *content) error,
) error {
	limit := compress.WithMaxMemory(fn.Options.MaxMemory)
	m := startMeter()
	if f.PerGroup == 0 {
		c := &content{to: 1<<63 - 1}
		err := readFrom(ctx, f.Source, func(src io.Reader) error {
			r, err := compress.NewReader(src, limit, compress.WithTrace(m.trace))
			if err != nil {
				return err
			}
			defer r.Close()
			c.front = r
			return do(c)
		})
		if err == nil {
			err = f.unchanged(ctx)
		}
		if err == nil {
			m.countGroup(ctx, c.end)
		}
		return err
	}
	return withArchive(ctx, &fn.archives, f, m, func(a *archive) error {
		c := &content{at: a.ReaderAt, to: a.Size()}
		first, last := f.group(group)
		if first < last {
			c.from = a.Block(first).ContentOffset
		}
		if last < f.Blocks {
			c.to = a.Block(last).ContentOffset
		}
		err := do(c)
		if err == nil {
			m.countGroup(ctx, c.to-c.from)
		}
		return err
	}, limit)
}

// content is the content of a group.
type content struct {
	at       *compress.ReaderAt // nil for a whole file
	front    *compress.Reader   // of a whole file
	from, to int64              // of the group, in the content of the file
	end      int64              // of what has been read of a whole file
}

// reader returns a reader from an offset to the end of the file.
func (c *content) reader(from int64) (io.Reader, error) {
	if c.at == nil {
		return c.front, nil
	}
	_, err := c.at.Seek(from, io.SeekStart)
	return c.at, err
}

// blocksFn reads blocks.
type blocksFn struct{ opened }

const chunkSize = 1 << 20 // bytes of a Block of a file without an index

// ProcessElement reads groups of a file.
func (fn *blocksFn) ProcessElement(
	ctx context.Context, rt *sdf.LockRTracker, f file, emit func(Block),
) error {
	return claim(rt, func(group int64) error {
		err := fn.with(ctx, &f, group, func(c *content) error { return fn.read(&f, group, c, emit) })
		if err != nil {
			return about(f.Source, err)
		}
		return nil
	})
}

func (fn *blocksFn) read(f *file, group int64, c *content, emit func(Block)) error {
	r, err := c.reader(c.from)
	if err != nil {
		return err
	}
	if c.at == nil {
		for at := int64(0); ; {
			p := make([]byte, chunkSize)
			n, err := io.ReadFull(r, p)
			if n > 0 {
				emit(Block{f.Source, at, p[:n]})
				at += int64(n)
				c.end = at
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF && n < len(p) {
				return readError(r)
			}
			if err != nil {
				return err
			}
		}
	}
	first, last := f.group(group)
	for n := first; n < last; n++ {
		b := c.at.Block(n)
		p := make([]byte, b.Content)
		if _, err := io.ReadFull(r, p); err != nil {
			return err
		}
		emit(Block{f.Source, b.ContentOffset, p})
	}
	return nil
}

// readError returns the error that a Reader ended with, nil at its end. io.ReadFull hides it.
func readError(r io.Reader) error {
	_, err := r.Read(make([]byte, 1))
	if err == io.EOF {
		return nil
	}
	return err
}

// linesFn reads lines.
type linesFn struct{ opened }

const maxLine = 64 << 20 // bytes

// ProcessElement reads the lines that begin in groups of a file.
func (fn *linesFn) ProcessElement(
	ctx context.Context, rt *sdf.LockRTracker, f file, emit func(Line),
) error {
	return claim(rt, func(group int64) error {
		err := fn.with(ctx, &f, group, func(c *content) error { return lines(f.Source, c, emit) })
		if err != nil {
			return about(f.Source, err)
		}
		return nil
	})
}

// lines emits the lines that begin in a group.
func lines(source string, c *content, emit func(Line)) error {
	// The line in front of the group ends with the byte before the first line of the group.
	at, skip := c.from, c.from > 0
	if skip {
		at--
	}
	src, err := c.reader(at)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(src, 64<<10)
	var long []byte
	for at < c.to {
		p, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if long = append(long, p...); len(long) > maxLine {
				return fmt.Errorf("line at byte %d is longer than %d bytes", at, maxLine)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		n := int64(len(long) + len(p))
		if !skip && n > 0 {
			emit(Line{source, at, trimEnd(append(long, p...))})
		}
		if err == io.EOF {
			return nil
		}
		at, skip, long = at+n, false, long[:0]
		c.end = at
	}
	return nil
}

// trimEnd returns a line without its line feed and carriage return.
func trimEnd(p []byte) string {
	if n := len(p); n > 0 && p[n-1] == '\n' {
		if p = p[:n-1]; n > 1 && p[n-2] == '\r' {
			p = p[:n-2]
		}
	}
	return string(p)
}
