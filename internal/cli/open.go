package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// openSource opens an entry. It returns nil, with a message, if the entry cannot be opened or is
// left out. The first one that is opened brings a run that only reads into its sandbox.
func (a *app) openSource(e entry) *source {
	s := a.openEntry(e)
	if s != nil {
		a.confine()
	}
	return s
}

func (a *app) openEntry(e entry) *source {
	if e.path == "-" {
		s := &source{app: a, f: a.stdin, name: "standard input"}
		s.info, _ = a.stdin.Stat()
		if s.regular() {
			s.start, _ = a.stdin.Seek(0, io.SeekCurrent)
		}
		a.setTarget(s.size())
		return s
	}
	if e.url != "" {
		return a.openRemote(e)
	}
	if a.held == nil {
		e.info = nil // it may be old
	}
	link, err := e.lstat()
	if err != nil {
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	want := link
	if link.Mode()&fs.ModeSymlink != 0 {
		if e.root != nil || !a.followsLinks() {
			a.warn(e.path, "is a symbolic link -- ignored; use -f to follow it")
			return nil
		}
		want, err = os.Stat(e.path)
		if err != nil {
			a.fail(e.path, "%s", reason(err))
			return nil
		}
	}
	if !a.acceptable(e, want) {
		return nil
	}
	f, err := e.open(want.Mode().IsRegular())
	if err != nil {
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(want, info):
		err = errReplaced // perhaps by a symbolic link to another directory
		if a.putOff() {
			err = errPutOff // lstat may be long ago
		}
	case info.Size() > largestInBatch && a.putOff():
		err = errPutOff // it has grown
	}
	if err != nil {
		f.Close()
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	if want == link {
		link = info
	}
	s := &source{app: a, f: f, name: e.path, info: info, link: link}
	if s.regular() && a.cfg.remove {
		s.change = changeTime(f)
	}
	a.setTarget(s.size())
	return s
}

var errNotRegular = errors.New("is not a regular file, which -l, --index, --recover, --repair and --merge " +
	"need; " +
	"store the data in a file first")

// needsRandomAccess reports whether the mode reads a file at any place.
func (c *config) needsRandomAccess() bool {
	return c.mode == modeList && !c.tar || c.mode == modeRecover || c.mode == modeRepair ||
		c.mode == modeMerge || c.mode == modeIndex
}

// acceptable reports whether the mode can process a file of this type. If not, it prints a message.
func (a *app) acceptable(e entry, fi fs.FileInfo) bool {
	switch {
	case fi.IsDir():
		a.warn(e.path, "is a directory -- ignored")
		return false
	case fi.Mode().IsRegular():
		return true
	case a.cfg.needsRandomAccess():
		// Opening a named pipe would block until another process writes to it.
		a.fail(e.path, "%s", errNotRegular)
		return false
	case a.writesBeside():
		a.warn(e.path, "is not a regular file -- ignored; use -c to read it")
		return false
	}
	return true
}

// removable reports whether --rm may remove the source. As in gzip a file with several hard links
// needs -f: removing one frees no space.
func (a *app) removable(s *source) bool {
	if n := linkCount(s.link); n > 1 && !a.cfg.force {
		a.warn(s.name, "has %d other hard %s -- ignored; use -f to remove this link, or --keep",
			n-1, plural(int64(n-1), "link"))
		return false
	}
	return true
}
