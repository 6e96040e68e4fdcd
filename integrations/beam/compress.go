package pzbeam

import (
	"context"
	"io"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/gopz/compress"
)

func init() {
	register.DoFn3x1[context.Context, string, func(string, file), error](&planFn{})
	register.DoFn5x1[context.Context, *sdf.LockRTracker, file, func(string, part),
		func(string, Result), error](&compressFn{})
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Compress compresses files, a PCollection<string> of their names, and returns a
// PCollection<Result>. It panics if the options are wrong.
func Compress(s beam.Scope, files beam.PCollection, o Options) beam.PCollection {
	s = s.Scope("pzbeam.Compress")
	o.must()
	planned := unique(s, beam.ParDo(s, &planFn{o}, files))
	parts, whole := beam.ParDo2(s, &compressFn{Options: o}, planned)
	return both(s, o, parts, whole)
}

// must panics if the options are wrong, as functions of Beam that build a pipeline do.
func (o *Options) must() {
	if err := o.check(); err != nil {
		panic(err)
	}
}

// both returns the Results of files that were done in groups, and as a whole.
func both(s beam.Scope, o Options, parts, whole beam.PCollection) beam.PCollection {
	joined := finish(s.Scope("Join"), o, parts)
	direct := beam.ParDo(s, &cleanFn{}, beam.GroupByKey(s, whole))
	return beam.Flatten(s, joined, direct)
}

// planFn finds out what there is to compress.
type planFn struct{ Options Options }

// ProcessElement plans a file.
func (fn *planFn) ProcessElement(ctx context.Context, source string, emit func(string, file)) error {
	f, err := stat(ctx, source)
	if err != nil {
		return about(source, err)
	}
	var wanted bool
	f.Output, wanted, err = fn.Options.target(ctx, source, fn.Options.addExtension())
	if err != nil || !wanted {
		return err
	}
	p, err := fn.Options.plan(&f)
	if err != nil {
		return about(source, err)
	}
	f.Blocks = p.Blocks()
	f.PerGroup = fn.Options.groupBlocks(f.Size, int64(p.BlockSize()))
	if f.groups() > 1 {
		ranges, err := ReadRanges(ctx, source)
		if err != nil {
			return about(source, err)
		}
		if !ranges {
			f.PerGroup = f.Blocks
		}
	}
	emitFile(f, emit)
	return nil
}

// compressFn compresses groups of blocks.
type compressFn struct {
	grouped
	Options Options
	sources lender[RangeReader]
}

// Teardown closes the sources.
func (fn *compressFn) Teardown() error { return fn.sources.closeAll() }

// ProcessElement compresses groups of a file to parts, or the whole file to the output.
func (fn *compressFn) ProcessElement(
	ctx context.Context, rt *sdf.LockRTracker, f file,
	emitPart func(string, part), emitResult func(string, Result),
) error {
	return claim(rt, func(group int64) error {
		staging := fn.Options.staging(&f)
		if f.groups() == 1 {
			r := Result{Source: f.Source, Output: f.Output, Content: f.Size, Staging: staging}
			var err error
			r.Packed, err = fn.whole(ctx, &f, staging)
			if err != nil {
				return about(f.Source, err)
			}
			emitResult(f.Output, r)
			return nil
		}
		p := part{File: f, Group: group, Name: partName(staging, group)}
		if err := fn.group(ctx, &p, staging); err != nil {
			return about(f.Source, err)
		}
		emitPart(f.Output, p)
		return nil
	})
}

// group writes the part of a group.
func (fn *compressFn) group(ctx context.Context, p *part, staging string) (err error) {
	f := &p.File
	m := startMeter()
	plan, err := fn.Options.plan(f, compress.WithTrace(m.trace))
	if err != nil {
		return err
	}
	src, err := fn.sources.takeFile(f.Source, func() (RangeReader, error) {
		return openRange(context.WithoutCancel(ctx), f.Source)
	})
	if err != nil {
		return err
	}
	defer func() { fn.sources.putFile(f.Source, src, err) }()
	first, last := f.group(p.Group)
	from, to := plan.Input(first, last)
	var piece *compress.Piece
	err = publish(ctx, p.Name, staging, func(w io.Writer) error {
		if first == 0 {
			h := plan.Header()
			p.Packed = int64(len(h))
			if _, err := w.Write(h); err != nil {
				return err
			}
		}
		piece, err = plan.Encode(w, io.NewSectionReader(src, from, to-from), first, last)
		if err != nil {
			return err
		}
		return f.unchanged(ctx)
	})
	if err != nil {
		return err
	}
	p.Piece, err = piece.MarshalBinary()
	if err != nil {
		return err
	}
	from, to = plan.Content(first, last)
	p.Content, p.Packed = to-from, p.Packed+piece.Size()
	m.countGroup(ctx, p.Content)
	return nil
}

// whole compresses a file from front to back, and returns the size of the output.
func (fn *compressFn) whole(ctx context.Context, f *file, staging string) (size int64, err error) {
	m := startMeter()
	opts, err := fn.Options.compression(f)
	if err != nil {
		return 0, err
	}
	opts = append(opts, compress.WithTrace(m.trace))
	if f.Size > 0 { // pz does not believe that a file is empty, and states no size
		opts = append(opts, compress.WithContentSize(f.Size))
	}
	err = publish(ctx, f.Output, staging, func(dst io.Writer) error {
		n := &counter{w: dst}
		w, err := compress.NewWriter(n, opts...)
		if err != nil {
			return err
		}
		err = readFrom(ctx, f.Source, func(r io.Reader) error {
			_, err := w.ReadFrom(r)
			return err
		})
		if err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		size = n.n
		return f.unchanged(ctx)
	})
	if err == nil {
		m.countGroup(ctx, f.Size)
	}
	return size, err
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writeTrailer writes the last part of a compressed file, and returns its name and size.
func (o *Options) writeTrailer(
	ctx context.Context, f *file, parts []*part, staging string,
) (name string, size int64, err error) {
	plan, err := o.plan(f)
	if err != nil {
		return "", 0, err
	}
	pieces := make([]*compress.Piece, len(parts))
	for i, p := range parts {
		pieces[i] = new(compress.Piece)
		if err := pieces[i].UnmarshalBinary(p.Piece); err != nil {
			return "", 0, about(f.Source, err)
		}
	}
	trailer, err := plan.Trailer(pieces...)
	if err != nil {
		return "", 0, about(f.Source, err)
	}
	name = partName(staging, f.groups())
	err = publish(ctx, name, staging, func(w io.Writer) error {
		_, err := w.Write(trailer)
		return err
	})
	return name, int64(len(trailer)), err
}
