package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// A RangeReader reads a file at any offset.
type RangeReader interface {
	io.ReaderAt
	io.Closer
}

// A RangeOpener is a filesystem.Interface that can also open files for reading at any offset, for
// instance by ranged requests to an object store. The context bounds all reads.
type RangeOpener interface {
	OpenRange(ctx context.Context, filename string) (RangeReader, error)
}

// ReadRanges reports whether the file system of a file reads it at any offset: if its OpenRead
// returns an [io.ReaderAt], as that of local files does, or if it is a [RangeOpener].
func ReadRanges(ctx context.Context, filename string) (bool, error) {
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return false, err
	}
	defer fs.Close()
	if _, ok := fs.(RangeOpener); ok {
		return true, nil
	}
	r, err := fs.OpenRead(ctx, filename)
	if err != nil {
		return false, err
	}
	_, ok := r.(io.ReaderAt)
	return ok, r.Close()
}

// openRange opens a file for which ReadRanges is true.
func openRange(ctx context.Context, filename string) (RangeReader, error) {
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return nil, err
	}
	if o, ok := fs.(RangeOpener); ok {
		r, err := o.OpenRange(ctx, filename)
		return closeBoth(r, fs, err)
	}
	r, err := fs.OpenRead(ctx, filename)
	if err != nil {
		fs.Close()
		return nil, err
	}
	at, ok := r.(RangeReader)
	if !ok {
		r.Close()
		fs.Close()
		return nil, errors.New("cannot be read at any offset")
	}
	return closeBoth(at, fs, nil)
}

// rangeReader closes the file system with the file.
type rangeReader struct {
	RangeReader
	fs filesystem.Interface
}

func closeBoth(r RangeReader, fs filesystem.Interface, err error) (RangeReader, error) {
	if err != nil {
		fs.Close()
		return nil, err
	}
	return rangeReader{r, fs}, nil
}

// Close closes the file, then the file system.
func (r rangeReader) Close() error { return errors.Join(r.RangeReader.Close(), r.fs.Close()) }

// readFrom calls f with a reader of a file from its front.
func readFrom(ctx context.Context, filename string, f func(io.Reader) error) error {
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, filename)
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

// stat returns size and time of a file.
func stat(ctx context.Context, source string) (f file, err error) {
	f.Source = source
	if isLocalFile(source) {
		info, err := os.Stat(source)
		switch {
		case err != nil:
			return f, err
		case info.IsDir():
			return f, errors.New("is a directory")
		case !info.Mode().IsRegular():
			return f, errors.New("is not a regular file")
		}
		f.Size, f.ModTime = info.Size(), info.ModTime().UnixNano()
		return f, nil
	}
	fs, err := filesystem.New(ctx, source)
	if err != nil {
		return f, err
	}
	defer fs.Close()
	f.Size, err = fs.Size(ctx, source)
	if err != nil {
		return f, err
	}
	if g, ok := fs.(filesystem.LastModifiedGetter); ok {
		t, err := g.LastModified(ctx, source)
		if err != nil {
			return f, err
		}
		f.ModTime = t.UnixNano()
	}
	return f, nil
}

// unchanged returns an error if the source is no longer what it was when f was made.
func (f *file) unchanged(ctx context.Context) error {
	now, err := stat(ctx, f.Source)
	if err != nil {
		return err
	}
	if now.Size != f.Size || now.ModTime != f.ModTime {
		return errors.New("changed while it was read; run again when it is complete")
	}
	return nil
}

// exists reports whether there is a file of that name.
func exists(ctx context.Context, filename string) (bool, error) {
	if isLocalFile(filename) {
		info, err := os.Lstat(filename)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case info.IsDir():
			return false, errors.New("is a directory")
		}
		return true, nil
	}
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return false, err
	}
	defer fs.Close()
	if hasWildcard(filename) {
		// List would take the name for a pattern. Size tells a missing file from a failure only
		// where the file system returns os.ErrNotExist.
		_, err := fs.Size(ctx, filename)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	names, err := fs.List(ctx, filename)
	return len(names) > 0, err
}

// hasWildcard reports whether List takes a name for a pattern.
func hasWildcard(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// canonical returns one name for all names of a file, as far as names show that.
func canonical(filename string) string {
	if isLocalFile(filename) {
		if abs, err := filepath.Abs(filename); err == nil {
			return abs
		}
	}
	return filename
}

// about puts the name of a file in front of an error.
func about(filename string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == filename {
		err = p.Err
	}
	return fmt.Errorf("pzbeam: %s: %w", filename, err)
}

// A lender keeps open files between bundles.
type lender[T io.Closer] struct {
	mu   sync.Mutex
	kept map[string]T
}

// keptFiles is how many files a lender keeps open.
const keptFiles = 4

// takeFile returns the file with that name, which open opens if it is not kept.
func (l *lender[T]) takeFile(name string, open func() (T, error)) (T, error) {
	l.mu.Lock()
	f, ok := l.kept[name]
	delete(l.kept, name)
	l.mu.Unlock()
	if ok {
		return f, nil
	}
	return open()
}

// putFile gives a file back after work that ended with err. Only a file that worked is kept.
func (l *lender[T]) putFile(name string, f T, err error) {
	if err != nil {
		f.Close()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.kept[name]; ok { // another goroutine had opened it, too
		f.Close()
		return
	}
	if len(l.kept) >= keptFiles {
		for k := range l.kept { // any one makes room
			l.kept[k].Close()
			delete(l.kept, k)
			break
		}
	}
	if l.kept == nil {
		l.kept = map[string]T{}
	}
	l.kept[name] = f
}

// closeAll closes all files that are kept.
func (l *lender[T]) closeAll() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.kept {
		err = errors.Join(err, f.Close())
	}
	l.kept = nil
	return err
}
