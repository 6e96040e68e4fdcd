// Package source opens what a server serves: directories, tar archives and single files, local ones
// and those behind URLs. It shows their contents as file systems, in bounded memory.
//
// A source that changes is opened again. What was opened before stays valid until its last user is
// gone.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/bridge"
)

// ErrChanged says that a file changed while it was read. The next Acquire opens it again.
var ErrChanged = errors.New("the file changed while it was read")

// An Observer learns what sources do. Its methods are called from several goroutines at the same
// time.
type Observer interface {
	// Stored is called for each read of n stored bytes.
	Stored(n int, took time.Duration, err error)
	// Decoded is called for each stage of each block of a file, by the name of the source and, for
	// a directory, the name of the file in it.
	Decoded(source, file string, e *compress.Stage)
	// Waited is called for each read that has waited for memory.
	Waited(d time.Duration)
	// Reopened is called when a source was opened again, or has failed to.
	Reopened(err error)
}

// Config is what the sources of a server share.
type Config struct {
	Memory Memory
	Allow  AllowList // of URLs
	// WaitTimeout bounds how long a read waits for memory, and a request for a source to be opened
	// again.
	WaitTimeout time.Duration
	Observer    Observer
	Log         *slog.Logger
}

// A Source is one operand of the command. Its methods may be called from several goroutines at the
// same time.
type Source struct {
	Name  string // in URLs and logs; no two sources of a Set have the same
	Kind  string // "directory", "archive" or "file"
	Label string // the operand, without secrets of a URL

	set    *Set
	open   func(*Source) (*opened, error)
	fresh  func(*opened) bool // whether the source is what was opened; nil if reading shows that
	limit  int64              // memory of a ReaderAt
	budget *budget            // of reads; nil if limit bounds them

	mu      sync.Mutex
	current *opened
	checked time.Time     // when fresh was called last
	tried   time.Time     // when opening it again failed last
	failure error         // of that
	opening chan struct{} // closed when the opening under way has ended; nil if there is none
}

// recheck is how often a source is compared with what was opened, and how long a failure to open it
// again lasts.
const recheck = time.Second

// fileSystem is what an opened source shows.
type fileSystem interface {
	fs.ReadDirFS
	fs.StatFS
}

// opened is a source as it was at some time.
type opened struct {
	fileSystem
	tree    *archive.ContentFS // of a directory, else nil
	stored  fs.FS              // of a directory: the files as they are
	version string             // part of entity tags; "" for a directory
	remote  *httprange.Reader  // nil for local sources
	info    fs.FileInfo        // of a local file
	close   func()

	stale atomic.Bool
	users int // the Source's own use counts; belongs to Source.mu
}

// A View is a Source as it is at one time. The caller releases it.
type View struct {
	s *Source
	o *opened
}

// Acquire returns the source as it is now. It opens a source again that has changed.
func (s *Source) Acquire(ctx context.Context) (*View, error) {
	late := time.NewTimer(s.set.cfg.WaitTimeout)
	defer late.Stop()
	for {
		s.mu.Lock()
		o := s.current
		if !s.due(o) {
			o.users++
			s.mu.Unlock()
			return &View{s, o}, nil
		}
		if s.failure != nil && time.Since(s.tried) < recheck {
			err := s.failure
			s.mu.Unlock()
			return nil, err
		}
		wait := s.opening
		if wait == nil {
			wait = make(chan struct{})
			s.opening = wait
			go s.reopen(wait)
		}
		s.mu.Unlock()
		select {
		case <-wait:
		case <-late.C:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// due reports whether the source must be opened again. The caller holds s.mu.
func (s *Source) due(o *opened) bool {
	if o.stale.Load() {
		return true
	}
	if s.fresh == nil || time.Since(s.checked) < recheck {
		return false
	}
	s.checked = time.Now()
	return !s.fresh(o)
}

// reopen opens the source. If that fails, what was opened before stays, unless reading it has
// failed.
func (s *Source) reopen(done chan struct{}) {
	o, err := s.open(s)
	s.set.cfg.Observer.Reopened(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(done)
	s.opening, s.failure, s.checked = nil, nil, time.Now()
	if err != nil {
		s.set.cfg.Log.Error("cannot open again", "source", s.Label, "err", err)
		if s.current.stale.Load() {
			s.failure, s.tried = err, time.Now()
		}
		return
	}
	s.set.cfg.Log.Info("opened again", "source", s.Label)
	s.releaseVersion(s.current)
	s.current = o
}

// releaseVersion ends a use. The caller holds s.mu.
func (s *Source) releaseVersion(o *opened) {
	o.users--
	if o.users == 0 {
		o.close()
	}
}

// Release ends the use of the View. Its files must be closed before.
func (v *View) Release() {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	v.s.releaseVersion(v.o)
}

// Name returns the name of the source.
func (v *View) Name() string { return v.s.Name }

// Version changes with the source. It is "" for a directory.
func (v *View) Version() string { return v.o.version }

// Lookup describes a file or directory without opening it. Of a compressed file in a directory it
// has the size of the stored file.
func (v *View) Lookup(name string) (info fs.FileInfo, err error) {
	if v.o.tree != nil {
		_, info, err = v.o.tree.Stored(name)
	} else {
		info, err = v.o.Stat(name)
	}
	return info, v.failed(err)
}

// ReadDir returns the entries of a directory, sorted by name.
func (v *View) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := v.o.ReadDir(name)
	return list, v.failed(err)
}

// Stored describes the file that a name of a directory is stored as, without opening it. ok is
// false if it is stored as it is, or in an archive.
func (v *View) Stored(name string) (stored string, info fs.FileInfo, ok bool) {
	if v.o.tree == nil {
		return "", nil, false
	}
	stored, info, err := v.o.tree.Stored(name)
	return stored, info, err == nil && stored != name
}

// OpenStored opens a file of a directory as it is stored.
func (v *View) OpenStored(name string) (fs.File, error) { return v.o.stored.Open(name) }

// Open opens a file. Its reads end with ctx if they wait for memory.
func (v *View) Open(ctx context.Context, name string) (*File, error) {
	b := v.s.budget
	if b != nil {
		// Opening a .gz file decompresses it.
		n := int64(0)
		if _, info, ok := v.Stored(name); ok {
			n = b.weight(info.Size())
		}
		if err := b.acquire(ctx, n); err != nil {
			return nil, err
		}
		defer b.release(n)
	}
	f, err := v.o.Open(name)
	if err != nil {
		return nil, v.failed(err)
	}
	info, err := f.Stat()
	seeker, ok := f.(io.ReadSeeker)
	if err == nil && (!ok || !info.Mode().IsRegular()) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r := &File{ReadSeeker: seeker, Info: info, ctx: ctx, view: v, file: f}
	if b != nil {
		r.weight = b.weight(info.Size())
	}
	return r, nil
}

// failed marks the source as stale if err says so. It returns err.
func (v *View) failed(err error) error {
	var remote *httprange.Error
	if errors.Is(err, ErrChanged) || errors.Is(err, httprange.ErrChanged) ||
		v.o.remote != nil && errors.As(err, &remote) && errors.Is(err, httprange.ErrAnswer) {
		v.o.stale.Store(true)
	}
	return err
}

// A File is an open file. It is for one goroutine.
type File struct {
	io.ReadSeeker
	Info fs.FileInfo

	ctx    context.Context
	view   *View
	file   fs.File
	weight int64 // memory of a read; 0 if the source bounds it
	err    error
}

// Read reads the next bytes. It waits until there is memory for that.
func (f *File) Read(p []byte) (n int, err error) {
	if f.weight > 0 {
		if err := f.view.s.budget.acquire(f.ctx, f.weight); err != nil {
			f.err = err
			return 0, err
		}
		defer f.view.s.budget.release(f.weight)
	}
	n, err = f.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		f.err = f.view.failed(err)
	}
	return n, err
}

// Seek sets the place of the next Read, and forgets the error of the last one.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.err = nil
	return f.ReadSeeker.Seek(offset, whence)
}

// Err returns the error of the last Read.
func (f *File) Err() error { return f.err }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// A Set has the sources of a server.
type Set struct {
	Sources []*Source

	cfg   Config
	ctx   context.Context
	cache *compress.Cache

	verdicts verdicts
}

// CacheStats returns the statistics of the cache of all sources.
func (t *Set) CacheStats() blockcache.Stats { return bridge.CacheStats(t.cache) }

// RemoteStats returns the sum of what the open URLs have done.
func (t *Set) RemoteStats() (sum httprange.Stats) {
	for _, s := range t.Sources {
		s.mu.Lock()
		if r := s.current.remote; r != nil {
			st := r.Stats()
			sum.Requests += st.Requests
			sum.Retries += st.Retries
			sum.Bytes += st.Bytes
		}
		s.mu.Unlock()
	}
	return sum
}

// Close closes the sources. Views of them must be released before.
func (t *Set) Close() {
	for _, s := range t.Sources {
		s.mu.Lock()
		s.releaseVersion(s.current)
		s.mu.Unlock()
	}
}

// openError says which operand cannot be opened, and what may help.
func openError(label string, err error) error {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err // label has the path
	}
	switch {
	case errors.Is(err, compress.ErrCorrupt), errors.Is(err, compress.ErrTruncated):
		return fmt.Errorf("%s: %w; \"pz -t\" checks the whole file", label, err)
	case errors.Is(err, compress.ErrNoIndex):
		return fmt.Errorf("%s: %w; compress it again with \"pz --seekable\" to read parts of it", label, err)
	case errors.Is(err, compress.ErrMemory):
		return fmt.Errorf("%s: %w; raise --memory", label, err)
	}
	return fmt.Errorf("%s: %w", label, err)
}
