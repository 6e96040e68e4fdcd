package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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

// A Joiner is a filesystem.Interface that can make a file of parts without reading them, for
// instance by a multipart copy. The parts are files of the same file system. Join replaces output
// atomically. Parts may be small: content of 64 MiB may compress to a
// few KiB.
type Joiner interface {
	Join(ctx context.Context, output string, parts []string) error
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
		return nil, fmt.Errorf("pzbeam: %s cannot be read at any offset", filename)
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

// publish writes a file by f. The file appears at once, with all bytes, and only if f succeeds.
func publish(ctx context.Context, filename string, f func(io.Writer) error) error {
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return err
	}
	defer fs.Close()
	// An object appears when its writer is closed. After an error the context ends the upload
	// instead, and the writer is never closed. A file of an operating system appears when it is
	// created, so it gets another name first.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	renamer, local := fs.(filesystem.Renamer)
	if local = local && isLocalFile(filename); !local {
		w, err := fs.OpenWrite(ctx, filename)
		if err != nil {
			return err
		}
		if err := f(w); err != nil {
			return err
		}
		return w.Close()
	}
	temp := fmt.Sprintf("%s.%016x%s", filename, rand.Uint64(), tempSuffix)
	w, err := fs.OpenWrite(ctx, temp)
	if err != nil {
		return err
	}
	err = f(w)
	if s, ok := w.(interface{ Sync() error }); ok && err == nil {
		err = s.Sync()
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = renamer.Rename(ctx, temp, filename)
	}
	if err != nil {
		err = errors.Join(err, remove(ctx, fs, temp))
	}
	return err
}

const tempSuffix = ".pzbeam-tmp"

// isLocalFile reports whether a name is that of a file of the operating system.
func isLocalFile(filename string) bool { return !strings.Contains(filename, "://") }

// remove removes a file. It is no error if there is none.
func remove(ctx context.Context, fs filesystem.Interface, filename string) error {
	r, ok := fs.(filesystem.Remover)
	if !ok {
		return nil
	}
	err := r.Remove(ctx, filename)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// join makes a file of parts.
func join(ctx context.Context, output string, parts []string) error {
	fs, err := filesystem.New(ctx, output)
	if err != nil {
		return err
	}
	defer fs.Close()
	if j, ok := fs.(Joiner); ok {
		return j.Join(ctx, output, parts)
	}
	return publish(ctx, output, func(w io.Writer) error {
		for _, part := range parts {
			if err := readFrom(ctx, part, func(r io.Reader) error {
				_, err := io.Copy(w, r)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// A lender keeps open files between bundles.
type lender[T io.Closer] struct {
	mu   sync.Mutex
	kept map[string]T
}

// keptFiles is how many files a lender keeps open.
const keptFiles = 4

// take returns the file with that name, which open opens if it is not kept.
func (l *lender[T]) take(name string, open func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.kept[name]; ok {
		delete(l.kept, name)
		return f, nil
	}
	return open()
}

// put gives a file back.
func (l *lender[T]) put(name string, f T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.kept[name]; ok || len(l.kept) >= keptFiles {
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
