package archive

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gopz/compress"
)

// ContentFS is a file system of compressed files that shows their contents. See [Contents].
type ContentFS struct {
	fsys    fs.FS
	opts    []compress.ReaderOption
	optsFor func(name string) []compress.ReaderOption // may be nil

	mu   sync.Mutex
	open map[string]*content // by the name in fsys
	used int64               // counts uses
}

var (
	_ fs.ReadDirFS = (*ContentFS)(nil)
	_ fs.StatFS    = (*ContentFS)(nil)
)

// suffixes of compressed files. Of several files of one content the first one counts.
var suffixes = []string{".pz", ".zst", ".gz"}

// contentCache is the size of the cache of all files in bytes, without WithCache.
const contentCache = 64 << 20

// maxIdle is the most files that stay open although nobody reads them.
const maxIdle = 32

// Contents returns a file system in which a file NAME.pz, NAME.zst or NAME.gz of fsys is NAME, with
// what it decompresses to. Other files are as they are. A compressed file does not appear if there
// is a file NAME beside it. Methods may be called from several goroutines at the same time.
//
// Files are [io.Seeker] and [io.ReaderAt], those of fsys too as far as they are. Files of fsys that
// are compressed must be [io.ReaderAt], as those of [os.DirFS] and [embed.FS] are. A read
// decompresses only the blocks that it needs, if [compress.NewReaderAt] can open the file. Others,
// .zst files with neither a seek table nor sizes in their frames, are decompressed from the
// beginning, and for their size as a whole. NewReaderAt says what opening a .gz file takes. So
// listing names is fast, and [fs.DirEntry.Info] opens a file.
//
// All files share a cache of 64 MiB, or that of [compress.WithCache]. Up to 32 files that nobody
// reads stay open. Close closes them. The checkpoints of an open .gz file take up to 64 MiB, or an
// eighth of [compress.WithMaxMemory].
func Contents(fsys fs.FS, opts ...compress.ReaderOption) *ContentFS {
	cache := compress.WithCache(compress.NewCache(contentCache))
	opts = append([]compress.ReaderOption{cache}, opts...)
	return &ContentFS{fsys: fsys, opts: opts, open: map[string]*content{}}
}

// FileOptions has f return further options for each compressed file that is opened, by its name in
// the underlying file system. A .gz file can have its index that way, by [compress.WithIndex], and
// a trace can tell files apart. f may be called from several goroutines at the same time.
// FileOptions must be called before the ContentFS is used.
func (c *ContentFS) FileOptions(f func(name string) []compress.ReaderOption) { c.optsFor = f }

// Stored returns which file of the underlying file system a name stands for, and describes that
// file. It opens no file. For a directory, and for a file that is not compressed, it is the name
// itself.
func (c *ContentFS) Stored(name string) (stored string, info fs.FileInfo, err error) {
	stored, info, err = c.find("stat", name)
	if err == nil && stored == "" {
		stored = name
	}
	return stored, info, err
}

// content is an open compressed file.
type content struct {
	fsys  *ContentFS
	name  string // in fsys
	file  fs.File
	src   io.ReaderAt
	info  fs.FileInfo // of the name when it was looked up
	stat  fs.FileInfo // of file, which may be a newer one
	opts  []compress.ReaderOption
	r     *compress.ReaderAt
	size  int64
	err   error
	ready chan struct{} // closed when the fields above are valid

	users int   // calls and files that use it
	used  int64 // when it was used last
	stale bool  // the file has changed
}

// Open opens a file or directory.
func (c *ContentFS) Open(name string) (fs.File, error) {
	packed, info, err := c.find("open", name)
	if err != nil {
		return nil, err
	}
	if packed == "" {
		if info.IsDir() {
			list := func() ([]fs.DirEntry, error) { return c.ReadDir(name) }
			return &dir{info: info, list: list}, nil
		}
		return c.fsys.Open(name)
	}
	x, err := c.takeFile(packed, info)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return x.newFile(name), nil
}

// Stat describes a file or directory.
func (c *ContentFS) Stat(name string) (fs.FileInfo, error) {
	packed, info, err := c.find("stat", name)
	if err != nil || packed == "" {
		return info, err
	}
	x, err := c.takeFile(packed, info)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	defer c.releaseFile(x)
	return x.infoAs(name), nil
}

// ReadDir returns the entries of a directory, sorted by name.
func (c *ContentFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(c.fsys, name)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, e := range list {
		if _, ok := contentName(e.Name()); !ok || c.isDir(name, e) {
			seen[e.Name()] = true
		}
	}
	for i, e := range list {
		content, ok := contentName(e.Name())
		if !ok || c.isDir(name, e) {
			continue
		}
		list[i] = nil
		if !seen[content] {
			seen[content] = true
			list[i] = &contentEntry{c, path.Join(name, content)}
		}
	}
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return e == nil })
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// isDir reports whether an entry of a directory is a directory, or a link to one.
func (c *ContentFS) isDir(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := fs.Stat(c.fsys, path.Join(dir, e.Name()))
	return err != nil || info.IsDir()
}

// Close closes files that nobody reads. Others are closed when they are.
func (c *ContentFS) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.open {
		if x.users == 0 {
			c.closeFile(x)
		}
		x.stale = true
	}
	clear(c.open)
	return nil
}

// contentName returns the name of the content of a compressed file.
func contentName(name string) (content string, ok bool) {
	for _, s := range suffixes {
		if content, ok = strings.CutSuffix(name, s); ok && content != "" && !strings.HasSuffix(content, "/") {
			return content, true
		}
	}
	return "", false
}

// find returns what name stands for: a file of fsys, described by info, or with packed not empty
// the content of that file.
func (c *ContentFS) find(op, name string) (packed string, info fs.FileInfo, err error) {
	fail := func(err error) (string, fs.FileInfo, error) {
		return "", nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	info, err = fs.Stat(c.fsys, name)
	if _, hidden := contentName(name); err == nil && (info.IsDir() || !hidden) {
		return "", info, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	if name != "." {
		for _, s := range suffixes {
			if info, err = fs.Stat(c.fsys, name+s); err == nil && !info.IsDir() {
				return name + s, info, nil
			}
		}
	}
	return fail(fs.ErrNotExist)
}

// takeFile returns an open compressed file, which the caller gives back by releaseFile.
func (c *ContentFS) takeFile(name string, info fs.FileInfo) (*content, error) {
	c.mu.Lock()
	c.used++
	x := c.open[name]
	if x != nil && (x.info.Size() != info.Size() || !x.info.ModTime().Equal(info.ModTime())) {
		delete(c.open, name)
		if x.users == 0 {
			c.closeFile(x)
		}
		x.stale, x = true, nil
	}
	isNew := x == nil
	if isNew {
		x = &content{fsys: c, name: name, info: info, ready: make(chan struct{})}
		c.open[name] = x
	}
	x.users++
	x.used = c.used
	c.mu.Unlock()
	if isNew {
		x.err = x.load()
		close(x.ready)
	}
	<-x.ready
	if x.err != nil {
		err := x.err
		c.mu.Lock()
		if c.open[name] == x {
			delete(c.open, name)
		}
		x.stale = true
		c.mu.Unlock()
		c.releaseFile(x)
		return nil, err
	}
	return x, nil
}

// releaseFile gives back what takeFile returned.
func (c *ContentFS) releaseFile(x *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.users--
	if x.users > 0 {
		return
	}
	if x.stale {
		c.closeFile(x)
		return
	}
	var oldest *content
	idle := 0
	for _, y := range c.open {
		if y.users == 0 {
			idle++
			if oldest == nil || y.used < oldest.used {
				oldest = y
			}
		}
	}
	if idle > maxIdle {
		delete(c.open, oldest.name)
		c.closeFile(oldest)
	}
}

// closeFile closes a file that nobody uses.
func (c *ContentFS) closeFile(x *content) {
	if x.r != nil {
		x.r.Close()
	}
	if x.file != nil {
		x.file.Close()
	}
}

// load opens the file.
func (x *content) load() (err error) {
	x.file, err = x.fsys.fsys.Open(x.name)
	if err != nil {
		return err
	}
	x.stat, err = x.file.Stat()
	if err != nil {
		return err
	}
	src, ok := x.file.(io.ReaderAt)
	if !ok {
		return errors.ErrUnsupported
	}
	x.src = src
	x.opts = x.fsys.opts
	if f := x.fsys.optsFor; f != nil {
		x.opts = append(slices.Clip(x.opts), f(x.name)...)
	}
	x.r, err = compress.NewReaderAt(src, x.stat.Size(), x.opts...)
	if err == nil {
		x.size = x.r.Size()
		return nil
	}
	if !errors.Is(err, compress.ErrNoIndex) {
		return err
	}
	r, err := x.read()
	if err == nil {
		x.size, err = io.Copy(io.Discard, r)
	}
	return err
}

// read returns the content from its beginning.
func (x *content) read() (io.Reader, error) {
	// A Reader knows no cache, no index and no zeros.
	opts := append(slices.Clip(x.opts),
		compress.WithCache(nil), compress.WithIndex(nil, 0), compress.WithZeroFill(false))
	return compress.NewReader(io.NewSectionReader(x.src, 0, x.stat.Size()), opts...)
}

// infoAs describes the content under the last element of a path.
func (x *content) infoAs(name string) *info {
	return &info{path.Base(name), x.size, x.stat.Mode(), x.stat.ModTime()}
}

// newFile returns an open file. Closing it gives x back.
func (x *content) newFile(name string) fs.File {
	info := x.infoAs(name)
	if x.r == nil {
		return &contentFile{reading: &sequentialFile{file: file{info: info}, open: x.read}, x: x}
	}
	return &contentFile{reading: &file{info: info, content: io.NewSectionReader(x.r, 0, x.size)}, x: x}
}

// reading is what files have in common.
type reading interface {
	fs.File
	io.Seeker
	io.ReaderAt
}

// contentFile is an open file of a ContentFS.
type contentFile struct {
	reading
	x    *content
	once sync.Once
}

func (f *contentFile) Close() error {
	f.once.Do(func() { f.x.fsys.releaseFile(f.x) })
	return nil
}

// contentEntry is a compressed file in a directory.
type contentEntry struct {
	fs   *ContentFS
	name string
}

func (e *contentEntry) Name() string               { return path.Base(e.name) }
func (e *contentEntry) IsDir() bool                { return false }
func (e *contentEntry) Type() fs.FileMode          { return 0 }
func (e *contentEntry) Info() (fs.FileInfo, error) { return e.fs.Stat(e.name) }
func (e *contentEntry) String() string             { return fs.FormatDirEntry(e) }
