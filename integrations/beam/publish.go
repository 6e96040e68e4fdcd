package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// A Joiner is a filesystem.Interface that can make a file of parts without reading them, for
// instance by a multipart copy. The parts are files of the same file system. Join replaces output
// atomically. A part may be as small as a few bytes.
type Joiner interface {
	Join(ctx context.Context, output string, parts []string) error
}

// publish writes a file by f. The file appears at once, with all bytes, and only if f succeeds. A
// local file is written to another name in the directory staging first.
func publish(ctx context.Context, filename, staging string, f func(io.Writer) error) error {
	fs, err := filesystem.New(ctx, filename)
	if err != nil {
		return err
	}
	defer fs.Close()
	renamer, ok := fs.(filesystem.Renamer)
	if ok && isLocalFile(filename) {
		return publishLocal(ctx, fs, renamer, filename, staging, f)
	}
	// An object appears when its writer is closed. After an error the writer is never closed.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := fs.OpenWrite(ctx, filename)
	if err != nil {
		return err
	}
	n := &counter{w: w}
	if err := f(n); err != nil {
		cancel()
		abandon(n, filename)
		return err
	}
	return w.Close()
}

// abandon ends the goroutine of a writer whose context is canceled. That of s3:// waits for the
// rest of a part of 5 MiB, and only then notices the context.
func abandon(w *counter, filename string) {
	if w.n == 0 || !strings.HasPrefix(filename, "s3://") {
		return
	}
	p := make([]byte, 1<<20)
	for range 32 {
		if _, err := w.Write(p); err != nil {
			return
		}
	}
}

// publishLocal writes a file of the operating system.
func publishLocal(
	ctx context.Context, fs filesystem.Interface, renamer filesystem.Renamer, filename, staging string,
	f func(io.Writer) error,
) error {
	temp := fmt.Sprintf("%s/new-%016x", staging, rand.Uint64())
	w, err := createLocal(ctx, fs, temp)
	if err != nil {
		return err
	}
	err = f(w)
	if file, ok := w.(*os.File); ok && err == nil {
		err = file.Sync()
	}
	cerr := w.Close()
	if err == nil {
		err = cerr
	}
	dir := filepath.Dir(filename)
	if err == nil {
		err = makeDir(dir)
	}
	if err == nil {
		err = renamer.Rename(ctx, temp, filename)
	}
	if err != nil {
		err = errors.Join(err, remove(ctx, fs, temp))
		removeEmpty(staging)
		return err
	}
	return syncDir(dir)
}

// createLocal creates a file and its directory.
func createLocal(ctx context.Context, fs filesystem.Interface, name string) (io.WriteCloser, error) {
	for try := 0; ; try++ {
		err := makeDir(filepath.Dir(name))
		if err == nil {
			var w io.WriteCloser
			w, err = fs.OpenWrite(ctx, name)
			if err == nil {
				return w, nil
			}
		}
		// Another worker may have removed a directory that was empty.
		if try == 10 || !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
}

// makeDir makes a directory, and those above it, and makes their names durable.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes the names in a directory durable, where the file system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// stagingDir is the directory of all staging directories, below Options.Output.
const stagingDir = ".pzbeam"

// removeEmpty removes a staging directory if it is empty, and the directory of all staging
// directories above it.
func removeEmpty(staging string) {
	os.Remove(staging)
	if dir := filepath.Dir(staging); filepath.Base(dir) == stagingDir {
		os.Remove(dir)
	}
}

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
func join(ctx context.Context, output, staging string, parts []string) error {
	fs, err := filesystem.New(ctx, output)
	if err != nil {
		return err
	}
	defer fs.Close()
	if j, ok := fs.(Joiner); ok {
		return j.Join(ctx, output, parts)
	}
	return publish(ctx, output, staging, func(w io.Writer) error {
		for _, part := range parts {
			if err := readFrom(ctx, part, func(r io.Reader) error {
				_, err := io.Copy(w, r) // between local files the operating system copies
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// clean removes all files of a staging directory, and the directory where there is such a thing.
func clean(ctx context.Context, staging string) error {
	if staging == "" {
		return nil
	}
	fs, err := filesystem.New(ctx, staging)
	if err != nil {
		return err
	}
	defer fs.Close()
	if isLocalFile(staging) {
		if err := os.RemoveAll(staging); err != nil {
			return err
		}
		removeEmpty(staging)
		return nil
	}
	names, err := fs.List(ctx, staging+"/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := remove(ctx, fs, name); err != nil {
			return err
		}
	}
	return nil
}
