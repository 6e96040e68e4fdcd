package pzbeam

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/gopz/compress"
)

func init() {
	beam.RegisterType(typeOf[Finding]())
	register.DoFn3x1[context.Context, string, func(string, file), error](&indexFn{})
	register.DoFn6x1[context.Context, *sdf.LockRTracker, file, func(string, part),
		func(string, Result), func(Finding), error](&restoreFn{})
	register.Emitter1[Finding]()
}

// A Finding is damage in a compressed file.
type Finding struct {
	File          string
	Kind          string // as compress.DamageKind names it
	Stream        int    // number of the stream, from 0
	Block         int64  // number of the first block concerned, in its stream; −1 if there is none
	Blocks        int64  // how many are lost in a row, of kind "blocks"; 0 otherwise
	Offset        int64  // in the file, in bytes; −1 if unknown
	ContentOffset int64  // in the content, in bytes; −1 if unknown
	Content       int64  // bytes of content that are lost; −1 if unknown
	Error         string
}

// Decompress restores files, a PCollection<string> of the names of .pz, .gz and .zst files, and
// returns a PCollection<Result>. Damage is an error of the pipeline. It panics if the options are
// wrong.
func Decompress(s beam.Scope, files beam.PCollection, o Options) beam.PCollection {
	results, _ := restore(s.Scope("pzbeam.Decompress"), files, o, decompressing)
	return results
}

// Recover restores what is intact of files, as compress.Recover does. It returns a
// PCollection<Result> and a PCollection<Finding>. It panics if the options are wrong.
func Recover(s beam.Scope, files beam.PCollection, o Options) (results, findings beam.PCollection) {
	return restore(s.Scope("pzbeam.Recover"), files, o, recovering)
}

// Verify decompresses files and writes nothing. It returns a PCollection<Finding>, which is empty
// if the files are intact. Of the options GroupSize and MaxMemory count.
func Verify(s beam.Scope, files beam.PCollection, o Options) beam.PCollection {
	o.Output = "/" // nothing is written
	_, findings := restore(s.Scope("pzbeam.Verify"), files, o, verifying)
	return findings
}

// mode is what restoreFn does.
type mode int

const (
	decompressing mode = iota
	recovering
	verifying
)

func restore(
	s beam.Scope, files beam.PCollection, o Options, m mode,
) (results, findings beam.PCollection) {
	o.must()
	indexed := unique(s, beam.ParDo(s, &indexFn{o, m}, files))
	parts, whole, findings := beam.ParDo3(s, &restoreFn{Options: o, Mode: m}, indexed)
	return both(s, o, parts, whole), findings
}

// archive is a compressed file that is open at any offset. One group at a time uses it.
type archive struct {
	*compress.ReaderAt
	src   RangeReader
	meter atomic.Pointer[meter] // of the group, nil while the archive is opened
}

// Close closes the index and the file.
func (a *archive) Close() error { return errors.Join(a.ReaderAt.Close(), a.src.Close()) }

// openArchive opens a .pz or .zst file by its index. It returns nil if the file has to be read as a
// whole: it has no index, or that is damaged, or it cannot be read at any offset.
func openArchive(ctx context.Context, f *file, opts ...compress.ReaderOption) (*archive, error) {
	if ranges, err := ReadRanges(ctx, f.Source); err != nil || !ranges {
		return nil, err
	}
	src, err := openRange(context.WithoutCancel(ctx), f.Source)
	if err != nil {
		return nil, err
	}
	var magic [4]byte
	n, err := src.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		src.Close()
		return nil, err
	}
	if format, known := compress.DetectFormat(magic[:n]); known && format == compress.Gzip {
		return nil, src.Close()
	}
	a := &archive{src: src}
	trace := compress.WithTrace(func(e compress.Stage) {
		if m := a.meter.Load(); m != nil {
			m.trace(e)
		}
	})
	a.ReaderAt, err = compress.NewReaderAt(src, f.Size, append(opts, trace)...)
	var e *compress.Error
	switch {
	case errors.As(err, &e) && !errors.Is(err, compress.ErrMemory):
		return nil, src.Close()
	case err != nil:
		src.Close()
		return nil, err
	}
	return a, nil
}

// withArchive calls do with a file that could be opened by its index before.
func withArchive(
	ctx context.Context, l *lender[*archive], f *file, m *meter, do func(a *archive) error,
	opts ...compress.ReaderOption,
) error {
	a, err := l.takeFile(f.Source, func() (*archive, error) {
		a, err := openArchive(ctx, f, opts...)
		if err == nil && a == nil {
			err = errors.New("its index can no longer be read")
		}
		return a, err
	})
	if err != nil {
		return err
	}
	a.meter.Store(m)
	if err = do(a); err == nil {
		err = f.unchanged(ctx)
	}
	l.putFile(f.Source, a, err)
	return err
}

// indexFn finds out what there is to restore.
type indexFn struct {
	Options Options
	Mode    mode
}

// ProcessElement reads the index of a file.
func (fn *indexFn) ProcessElement(ctx context.Context, source string, emit func(string, file)) error {
	f, err := stat(ctx, source)
	if err != nil {
		return about(source, err)
	}
	if fn.Mode != verifying {
		var wanted bool
		f.Output, wanted, err = fn.Options.target(ctx, source, cutExtension)
		if err != nil || !wanted {
			return err
		}
	}
	a, err := openArchive(ctx, &f, compress.WithMaxMemory(fn.Options.MaxMemory))
	if err != nil {
		return about(source, err)
	}
	if a != nil {
		defer a.Close()
		x := a.Info()
		f.Blocks, f.PerGroup = x.Blocks, fn.Options.perGroup(x.Content, x.Blocks)
	}
	if fn.Mode == verifying {
		f.Output = source
		emit(canonical(source), f)
	} else {
		emitFile(f, emit)
	}
	return nil
}

// restoreFn restores groups of blocks.
type restoreFn struct {
	grouped
	Options  Options
	Mode     mode
	archives lender[*archive]
}

// Teardown closes the files.
func (fn *restoreFn) Teardown() error { return fn.archives.closeAll() }

// recoverOptions returns the options of what recovers blocks.
func (fn *restoreFn) recoverOptions() []compress.ReaderOption {
	return []compress.ReaderOption{
		compress.WithMaxMemory(fn.Options.MaxMemory), compress.WithZeroFill(fn.Options.ZeroFill),
	}
}

// ProcessElement restores groups of a file to parts, or the whole file to the output.
func (fn *restoreFn) ProcessElement(
	ctx context.Context, rt *sdf.LockRTracker, f file,
	emitPart func(string, part), emitResult func(string, Result), emitFinding func(Finding),
) error {
	return claim(rt, func(group int64) error {
		p := part{File: f, Group: group, Name: f.Output}
		staging := fn.Options.staging(&f)
		if f.groups() > 1 {
			p.Name = partName(staging, group)
		}
		report := func(d compress.Damage) error {
			if fn.Mode == decompressing {
				return d.Err
			}
			p.Lost += max(0, d.Content)
			found := findingOf(f.Source, d)
			findingCount.Inc(ctx, 1)
			log.Errorf(ctx, "pzbeam: %s: %s", found.File, found.Error)
			emitFinding(found)
			return nil
		}
		do := func(w io.Writer) error {
			n := &counter{w: w}
			err := fn.do(ctx, &p, n, report)
			p.Content = n.n
			return err
		}
		var err error
		if fn.Mode == verifying {
			err = do(io.Discard)
		} else {
			err = publish(ctx, p.Name, staging, do)
		}
		switch {
		case err != nil:
			return about(f.Source, err)
		case fn.Mode == verifying:
		case f.groups() == 1:
			emitResult(f.Output, Result{
				Source: f.Source, Output: f.Output, Content: p.Content, Packed: f.Size, Lost: p.Lost,
				Staging: staging,
			})
		default:
			p.Packed = f.Size / f.groups()
			if group == 0 {
				p.Packed += f.Size % f.groups()
			}
			emitPart(f.Output, p)
		}
		return nil
	})
}

// do writes the content of a group.
func (fn *restoreFn) do(
	ctx context.Context, p *part, w *counter, report func(compress.Damage) error,
) error {
	f, m := &p.File, startMeter()
	trace := compress.WithTrace(m.trace)
	var err error
	switch {
	case f.PerGroup > 0:
		err = withArchive(ctx, &fn.archives, f, m, func(a *archive) error {
			first, last := f.group(p.Group)
			return a.Recover(w, first, last, report)
		}, fn.recoverOptions()...)
	case fn.Mode == recovering:
		err = fn.recover(ctx, f, w, report, append(fn.recoverOptions(), trace))
	default:
		err = readFrom(ctx, f.Source, func(src io.Reader) error {
			r, err := compress.NewReader(src, compress.WithMaxMemory(fn.Options.MaxMemory), trace)
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = r.WriteTo(w)
			return err
		})
		var e *compress.Error
		if errors.As(err, &e) && fn.Mode == verifying {
			err = fn.examine(ctx, f, e, report, append(fn.recoverOptions(), trace))
		}
	}
	if err == nil && f.PerGroup == 0 {
		err = f.unchanged(ctx)
	}
	if err == nil {
		m.countGroup(ctx, w.n)
	}
	return err
}

// recover writes what is intact of a file without an index.
func (fn *restoreFn) recover(
	ctx context.Context, f *file, w io.Writer, report func(compress.Damage) error,
	opts []compress.ReaderOption,
) error {
	src, size, err := anywhere(ctx, f)
	if err != nil {
		return err
	}
	defer src.Close()
	return compress.Recover(w, src, size, report, opts...)
}

// examine reports the damage to a file that a Reader has found damaged.
func (fn *restoreFn) examine(
	ctx context.Context, f *file, found *compress.Error, report func(compress.Damage) error,
	opts []compress.ReaderOption,
) error {
	n := 0
	err := fn.recover(ctx, f, io.Discard, func(d compress.Damage) error {
		n++
		return report(d)
	}, opts)
	var e *compress.Error
	if err != nil && !errors.As(err, &e) {
		return err
	}
	if n > 0 {
		return nil
	}
	// Recover does not know such a file, or does not mind, as with data behind the last stream.
	return report(compress.Damage{
		Kind: compress.DamageUnknown, Stream: found.Stream, Block: found.Block, ContentOffset: -1,
		Content: -1, Err: found,
	})
}

// anywhere opens a file at any offset. If the file system cannot, it first copies the file.
func anywhere(ctx context.Context, f *file) (RangeReader, int64, error) {
	ranges, err := ReadRanges(ctx, f.Source)
	if err != nil {
		return nil, 0, err
	}
	if ranges {
		src, err := openRange(ctx, f.Source)
		return src, f.Size, err
	}
	temp, err := os.CreateTemp("", "pzbeam-*")
	if err != nil {
		return nil, 0, err
	}
	os.Remove(temp.Name()) // it goes away with the last use
	var size int64
	err = readFrom(ctx, f.Source, func(r io.Reader) (err error) {
		size, err = io.Copy(temp, r)
		return err
	})
	if err != nil {
		return nil, 0, errors.Join(err, temp.Close())
	}
	return temp, size, nil
}

func findingOf(source string, d compress.Damage) Finding {
	f := Finding{
		File: source, Kind: d.Kind.String(), Stream: d.Stream, Block: d.Block, Blocks: d.Blocks,
		Offset: -1, ContentOffset: d.ContentOffset, Content: d.Content,
	}
	if d.Err != nil {
		f.Error = d.Err.Error()
	}
	var e *compress.Error
	if errors.As(d.Err, &e) {
		f.Offset = e.Offset
	}
	return f
}
