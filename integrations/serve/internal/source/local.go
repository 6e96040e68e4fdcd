package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gopz/compress/httprange"
)

// rootFS is what os.Root.FS returns.
type rootFS interface {
	fs.ReadDirFS
	fs.StatFS
}

// rooted is a directory that symbolic links cannot leave. Links that lead out of it do not exist.
// Nor do files of which no content can be read, such as pipes.
type rooted struct {
	rootFS
	observer Observer
}

func (r *rooted) Open(name string) (fs.File, error) {
	info, err := r.Stat(name) // opening a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := r.rootFS.Open(name)
	if err != nil {
		return nil, inRoot("open", name, err)
	}
	file, ok := f.(*os.File)
	if !ok || info.IsDir() {
		return f, nil
	}
	info, err = file.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &watched{osFile: osFile{file, r.observer}, info: info}, nil
}

func (r *rooted) Stat(name string) (fs.FileInfo, error) {
	info, err := r.rootFS.Stat(name)
	return info, inRoot("stat", name, err)
}

// inRoot returns fs.ErrNotExist for a name that stands for nothing in the directory.
func inRoot(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG),
		errors.Is(err, syscall.ELOOP), leadsOut(err):
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return err
}

// leadsOut reports whether an error says that a name leads out of the directory. Package os exports
// no value for that. Its other errors of files are those of the system, or of package io/fs.
func leadsOut(err error) bool {
	var path *fs.PathError
	var system syscall.Errno
	return errors.As(err, &path) && !errors.As(err, &system) &&
		!errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrClosed) &&
		!errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, fs.ErrNotExist)
}

// osFile tells an observer of its reads.
type osFile struct {
	*os.File
	observer Observer
}

func (f *osFile) Read(p []byte) (int, error) {
	begin := time.Now()
	n, err := f.File.Read(p)
	f.observer.Stored(n, time.Since(begin), failure(err))
	return n, err
}

// watched is a file whose ReadAt fails if the file has changed since it was opened. A reader of
// blocks needs that, since it remembers where they are. Read is for files that are served as they
// are, and those may grow.
type watched struct {
	osFile
	info fs.FileInfo
}

func (f *watched) ReadAt(p []byte, off int64) (int, error) {
	begin := time.Now()
	n, err := f.File.ReadAt(p, off)
	if info, serr := f.File.Stat(); serr != nil || !same(info, f.info) {
		n, err = 0, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrChanged}
	}
	f.observer.Stored(n, time.Since(begin), failure(err))
	return n, err
}

// same reports whether size and time of a file are the same.
func same(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// failure returns err, but not the end of a file.
func failure(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// observedReader tells an observer of the reads of a URL.
type observedReader struct {
	*httprange.Reader
	observer Observer
}

func (r *observedReader) ReadAt(p []byte, off int64) (int, error) {
	begin := time.Now()
	n, err := r.Reader.ReadAt(p, off)
	r.observer.Stored(n, time.Since(begin), failure(err))
	return n, err
}
