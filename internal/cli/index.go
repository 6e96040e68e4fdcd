package cli

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gopz/compress"
)

// indexSuffix is the suffix of the file that --index writes. With a name that ends in .gzi, -o
// chooses another format.
const (
	indexSuffix = ".gzidx"
	gziSuffix   = ".gzi"
)

// indexTo writes an index of a .gz file to w.
func (a *app) indexTo(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	switch {
	case !in.regular():
		return errNotRegular
	case !in.is(compress.Gzip):
		return errors.New("is not a .gz file, which --index needs")
	}
	r, err := compress.NewReaderAt(&countReaderAt{m: m}, in.info.Size(), opts...)
	if errors.Is(err, compress.ErrTrailing) {
		return errors.New("has other data behind its content -- not indexed; remove that data first")
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if !strings.HasSuffix(a.cfg.output, gziSuffix) {
		return r.WriteIndex(w, "gzidx")
	}
	// bgzip and gztool use the same suffix. bgzip's index is for BGZF files only.
	err = r.WriteIndex(w, "bgzip")
	if errors.Is(err, compress.ErrOption) {
		err = r.WriteIndex(w, "gztool")
	}
	return err
}

// openIndex opens the index beside a .gz file, by the names that pz, bgzip and gztool give it. It
// returns nil if there is none.
func (a *app) openIndex(in *source) (f *os.File, size int64) {
	if in.f == a.stdin || in.remote != nil || !in.is(compress.Gzip) {
		return nil, 0
	}
	for _, name := range indexesOf(in.name) {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			return f, fi.Size()
		}
		f.Close()
	}
	return nil, 0
}

// openByIndex opens a .gz file by the index beside it. It returns nil if there is none, and with a
// warning if that is of no use. index is its name.
func (a *app) openByIndex(
	in *source, opts []compress.ReaderOption,
) (r *compress.ReaderAt, index string) {
	f, size := a.openIndex(in)
	if f == nil {
		return nil, ""
	}
	defer f.Close()
	opts = append(slices.Clip(opts), compress.WithIndex(f, size))
	r, err := compress.NewReaderAt(in.section(), in.size(), opts...)
	if err != nil {
		a.warnIndex(f.Name(), in)
		return nil, ""
	}
	return r, f.Name()
}

// warnIndex says that the index beside a .gz file is not used.
func (a *app) warnIndex(index string, in *source) {
	a.warn(index, "is not used; it is damaged, or it does not fit %s", printable(in.name))
}

// An indexedReader reads a .gz file by the index beside it. Once that turns out not to fit, it
// warns, and reads what the file holds from a temporary file.
type indexedReader struct {
	*compress.ReaderAt
	a     *app
	in    *source
	index string

	spool func() (io.ReaderAt, error) // makes the temporary file, once
	wrong atomic.Bool                 // the index does not fit
}

// ReadAt implements io.ReaderAt.
func (r *indexedReader) ReadAt(p []byte, off int64) (n int, err error) {
	if !r.wrong.Load() {
		n, err = r.ReaderAt.ReadAt(p, off)
		if err == nil || !errors.Is(err, compress.ErrCorrupt) {
			return n, err
		}
		if r.wrong.CompareAndSwap(false, true) {
			r.a.warnIndex(r.index, r.in)
		}
	}
	content, err := r.spool()
	if err != nil {
		return 0, err
	}
	return content.ReadAt(p, off)
}

// indexesOf returns the files beside a .gz file that have the name of an index.
func indexesOf(path string) (names []string) {
	all := []string{path + indexSuffix, path + gziSuffix}
	if base, ok := strings.CutSuffix(path, ".gz"); ok {
		all = append(all, base+gziSuffix)
	}
	for _, name := range all {
		if fi, err := os.Stat(name); err == nil && fi.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// readInfo describes a source for -l, by the index beside it if there is one that fits, and calls
// report for each block. index is the name of that index.
func (a *app) readInfo(
	in *source, report func(compress.BlockInfo) error,
) (info compress.Info, index string, err error) {
	opts := []compress.ReaderOption{
		compress.WithMaxMemory(a.cfg.memory), compress.WithConcurrency(a.cfg.threads),
		compress.WithDictionary(a.dictionary), in.noteSections(),
	}
	if f, size := a.openIndex(in); f != nil {
		defer f.Close()
		indexed := append(opts, compress.WithIndex(f, size))
		info, err := compress.ReadInfo(in.readerAt(), in.length(), report, indexed...)
		if err == nil || err == errStdout {
			return info, f.Name(), err
		}
		a.warnIndex(f.Name(), in)
	}
	if in.remote != nil && in.is(compress.Zstd) {
		// The headers of frames lie all over the file. A seek table is in one place.
		if r, err := compress.NewReaderAt(in.remote, in.info.Size(), opts...); err == nil {
			defer r.Close()
			for b := range r.Blocks() {
				if err := report(b); err != nil {
					return r.Info(), "", err
				}
			}
			return r.Info(), "", nil
		}
	}
	info, err = compress.ReadInfo(in.readerAt(), in.length(), report, opts...)
	return info, "", err
}
