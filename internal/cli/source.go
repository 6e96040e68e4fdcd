package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gopz/compress/parity"
)

// entry is a file to process: an operand, or a file that -r found in a directory.
type entry struct {
	path string
	base string
	root *os.Root    // directory of a file that -r found or that goes into a batch; else nil
	info fs.FileInfo // what lstat has returned some time ago; nil if it is to be called
	url  string      // of a remote file, with its secrets; else ""
}

// lstat and open go through the directory that is open. So they stay in it even if a symbolic link
// replaces it meanwhile.
func (e entry) lstat() (fs.FileInfo, error) {
	if e.info != nil {
		return e.info, nil
	}
	if e.root != nil {
		return e.root.Lstat(e.base)
	}
	return os.Lstat(e.path)
}

// open opens the entry. regular says that it was a regular file when it was looked at.
func (e entry) open(regular bool) (*os.File, error) {
	if !regular {
		return e.openFlag(os.O_RDONLY)
	}
	f, err := e.openFlag(os.O_RDONLY | openRegular)
	if errors.Is(err, syscall.EAGAIN) { // another program has a lease, which it is to give up
		return e.openFlag(os.O_RDONLY)
	}
	return f, err
}

func (e entry) openFlag(flag int) (*os.File, error) {
	if e.root != nil {
		return e.root.OpenFile(e.base, flag, 0)
	}
	return openShared(e.path, flag)
}

// sibling returns the location of the name base in the directory of the entry. The caller closes
// its root if the entry has none.
func (e entry) sibling(base string) (location, error) {
	l := location{root: e.root, base: base, path: filepath.Join(filepath.Dir(e.path), base)}
	if l.root != nil {
		return l, nil
	}
	var err error
	l.root, err = os.OpenRoot(filepath.Dir(e.path))
	return l, err
}

// source is an open input.
type source struct {
	app    *app
	f      *os.File    // nil for a remote file
	remote Remote      // nil for other files
	name   string      // for messages
	info   fs.FileInfo // of the open file; nil if Stat failed
	change time.Time   // when content or attributes of a regular file last changed; zero without --rm
	link   fs.FileInfo // of the entry, which may be a symbolic link; nil for standard input
	at     location    // where the entry is; no root for standard input
	start  int64       // offset where reading begins: standard input may be partly read
	part   int64       // bytes in front of start that have been restored, in other formats
	stored storedName  // name and time in a .gz header that -N uses
	prefix []byte      // first bytes of an input without random access, as far as they are read

	parity  *parity.ReaderAt  // heals the file while it is read; nil if it has no parity
	healing *io.SectionReader // of parity

	badSection atomic.Bool // a section of parity was seen that is damaged
}

// regular reports whether the source has a size and random access: a regular file, or a remote one.
func (s *source) regular() bool { return s.info != nil && s.info.Mode().IsRegular() }

// onDisk reports whether the source is a regular file of this machine.
func (s *source) onDisk() bool { return s.remote == nil && s.regular() }

// readerAt returns what a regular source is read through at any place.
func (s *source) readerAt() io.ReaderAt {
	switch {
	case s.remote != nil:
		return s.remote
	case s.parity != nil:
		return s.parity
	}
	return s.f
}

// read reads a source in order.
func (s *source) read(p []byte) (int, error) {
	switch {
	case s.remote != nil:
		return s.remote.Read(p)
	case s.healing != nil:
		return s.healing.Read(p)
	}
	return s.f.Read(p)
}

func (s *source) close() {
	if s.remote != nil {
		s.app.noteTraffic(s)
		s.remote.Close()
		return
	}
	s.f.Close()
}

// keepPrefix stores the first bytes of the source. p is what was just read.
func (s *source) keepPrefix(p []byte) {
	if room := magicSize - len(s.prefix); room > 0 {
		s.prefix = append(s.prefix, p[:min(room, len(p))]...)
	}
}

// head returns the first magicSize bytes, or fewer if there are no more.
func (s *source) head() []byte {
	if !s.regular() {
		return s.prefix
	}
	p := make([]byte, magicSize)
	n, _ := s.readerAt().ReadAt(p, s.start)
	return p[:n]
}

// size returns the number of bytes left in a regular file, and -1 if it is unknown. A named and a
// redirected file have the same size, so they give the same output. Files in /proc state size 0 and
// hold more, so 0 counts as unknown.
func (s *source) size() int64 {
	if s.regular() && s.length() > s.start {
		return s.length() - s.start
	}
	return -1
}

// length returns the bytes that readerAt has of a regular source.
func (s *source) length() int64 {
	if s.parity != nil {
		return s.parity.Size()
	}
	return s.info.Size()
}

var (
	errShrank = errors.New("the file shrank while it was read; " +
		"to compress a changing file, use a pipe: cat FILE | pz")
	errReplaced = errors.New("the file was replaced while it was opened")
)

// sizedReader reads the number of bytes that the header of the output states, and notes whether the
// source holds more. So it ends even if a program keeps appending to the file.
type sizedReader struct {
	r    io.Reader
	in   *source
	left int64
	grew bool
}

func (s *sizedReader) Read(p []byte) (int, error) {
	if s.left == 0 {
		// Read instead of Stat: some file systems do not know the size before a read.
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

// changed reports whether the file changed since it was opened. A program can set the time of
// modification back, but not the time of the last change of content or attributes. That time also
// changes if a program, such as another pz, removes the file. Then nothing is left to keep.
func (s *source) changed() bool {
	now, err := s.f.Stat()
	if err != nil || now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime()) {
		return true
	}
	return !changeTime(s.f).Equal(s.change) && linkCount(now) > 0
}

// remove deletes the source unless the name now belongs to another file or the file has changed. It
// is content if another program has removed it.
func (s *source) remove() {
	now, err := s.at.root.Lstat(s.at.base)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && !os.SameFile(now, s.link) {
		err = errors.New("another file has its name now")
	}
	if err == nil && s.changed() { // while the result was synced
		err = errors.New("it changed after it was read")
	}
	if err == nil {
		err = s.at.root.Remove(s.at.base)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.app.warn(s.name, "not removed: %s", reason(err))
	}
}
