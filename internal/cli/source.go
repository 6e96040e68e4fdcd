package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// entry is a file to work on: an operand, or what -r found in a directory.
type entry struct {
	path   string
	base   string
	root   *os.Root // the directory of a file that -r found; nil for an operand
	walked bool
}

// lstat, stat and open reach a file that -r found through its open directory, so that a directory which is swapped
// for a symbolic link meanwhile leads nowhere else.
func (e entry) lstat() (fs.FileInfo, error) {
	if e.root != nil {
		return e.root.Lstat(e.base)
	}
	return os.Lstat(e.path)
}

func (e entry) open() (*os.File, error) {
	if e.root != nil {
		return e.root.Open(e.base)
	}
	return os.Open(e.path)
}

// place returns the name beside the entry. The caller owns the root of it if the entry has none.
func (e entry) place(base string) (place, error) {
	p := place{root: e.root, base: base, path: filepath.Join(filepath.Dir(e.path), base)}
	if p.root != nil {
		return p, nil
	}
	var err error
	p.root, err = os.OpenRoot(filepath.Dir(e.path))
	return p, err
}

// source is an open input.
type source struct {
	app    *app
	f      *os.File
	name   string      // for messages
	info   fs.FileInfo // of the open file; nil where it cannot be had
	link   fs.FileInfo // of the directory entry: info itself, or that of the symbolic link; nil for standard input
	at     place       // where the entry is; without a root for standard input
	start  int64       // offset in a regular file where reading begins: standard input need not be at its front
	origin origin      // what -N finds in it
	head   []byte      // the first bytes of what can be read only once, as far as they have been read
}

func (s *source) regular() bool { return s.info != nil && s.info.Mode().IsRegular() }
func (s *source) close()        { s.f.Close() }

// keepHead notes what was read, if it is the beginning.
func (s *source) keepHead(p []byte) {
	if room := magicSize - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
}

// beginning returns the first bytes, or fewer if that is all there is.
func (s *source) beginning() []byte {
	if !s.regular() {
		return s.head
	}
	p := make([]byte, magicSize)
	n, _ := s.f.ReadAt(p, s.start)
	return p[:n]
}

// size is what a regular file says is left in it, and −1 where there is no such promise. It is the same whether the
// file was named or redirected, so that the results are. Files of /proc and the like claim 0 and hold more, so 0
// promises nothing.
func (s *source) size() int64 {
	if s.regular() && s.info.Size() > s.start {
		return s.info.Size() - s.start
	}
	return -1
}

var (
	errShrank = errors.New("it shrank while it was read (to compress a file that changes, give it through a pipe: cat FILE | pz)")
	errMoved  = errors.New("it was replaced while it was opened")
)

// sizedReader reads as much of a source as the header of the output already promises, and remembers whether there is
// more by then: a log that is written to all the time has to end somewhere.
type sizedReader struct {
	r    io.Reader
	in   *source
	left int64
	grew bool
}

func (s *sizedReader) Read(p []byte) (int, error) {
	if s.left == 0 {
		// What the file holds counts, not what it says: not all file systems know a size before they are read.
		var b [1]byte
		n, _ := s.in.f.ReadAt(b[:], s.in.start+s.in.size())
		s.grew = n > 0
		return 0, io.EOF
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err == io.EOF && s.left > 0 {
		return n, errShrank
	}
	return n, err
}

// changed says whether the file was written to since it was opened.
func (s *source) changed() bool {
	now, err := s.f.Stat()
	return err != nil || now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime())
}

// remove deletes the name of the source, if it still is the file that was read.
func (s *source) remove() {
	now, err := s.at.root.Lstat(s.at.base)
	if err == nil && !os.SameFile(now, s.link) {
		err = errors.New("another file has its name now")
	}
	if err == nil && s.changed() {
		// The disk may have taken its time with the result.
		err = errors.New("it has changed since it was read")
	}
	if err == nil {
		err = s.at.root.Remove(s.at.base)
	}
	if err != nil {
		s.app.warn(s.name, "not removed: %s", reason(err))
	}
}
