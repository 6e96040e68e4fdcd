package cli

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// madeDir is a directory that -x has created.
type madeDir struct {
	name string // in the archive
	perm fs.FileMode
	time *time.Time // nil for none
}

// dir opens the directory of a name in the archive, and creates it and those above it if need be.
// It stays open until flush, or until another call finds too many open.
func (x *extraction) dir(name string) (*os.Root, error) {
	if name == "." {
		return x.top, nil
	}
	// Most often the directory or the one above it is open.
	open, root := name, x.dirs.find(name)
	for root == nil {
		n := strings.LastIndexByte(open, '/')
		if n < 0 {
			open, root = "", x.top
			break
		}
		open = open[:n]
		root = x.dirs.find(open)
	}
	for open != name {
		if x.dirs.count() >= x.app.batchFiles {
			x.commitJobs()
			x.dirs.closeHalf(open)
		}
		end := len(name)
		if n := strings.IndexByte(name[len(open)+1:], '/'); n >= 0 {
			end = len(open) + 1 + n
		}
		up, part := root, name[:end]
		var err error
		root, err = x.dirs.get(part, func() (*os.Root, error) { return x.openDir(up, part) })
		if err != nil {
			return nil, err
		}
		open = part
	}
	return root, nil
}

var errNoDirectory = errors.New("is no directory, so nothing can be extracted to it")

// openDir opens or creates a directory in up, the one above it. It follows no symbolic link.
func (x *extraction) openDir(up *os.Root, name string) (*os.Root, error) {
	x.app.step("directory")
	base, made := path.Base(name), madeDir{name: name, perm: 0o777}
	if e, ok := x.archive.Entry(name); ok {
		made.perm = e.Info.Mode().Perm()
		if !e.IsImplied() {
			t := e.Info.ModTime()
			made.time = &t
		}
	}
	switch err := up.Mkdir(base, made.perm|0o700); {
	case err == nil:
		x.made = append(x.made, made)
		x.noteNew(name)
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	info, err := up.Lstat(base)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errNoDirectory
	}
	return openSub(up, base, info)
}

// noteNew notes that the directory of a name has a new name that no job syncs.
func (x *extraction) noteNew(name string) {
	if x.unsynced == nil {
		x.unsynced = map[string]bool{}
	}
	x.unsynced[path.Dir(name)] = true
}

// finishDirs gives new directories their times and modes, those below others first, and brings new
// names to disk. Until then pz may need to write to the directories.
func (x *extraction) finishDirs() {
	for i := len(x.made) - 1; i >= 0; i-- {
		m := &x.made[i]
		delete(x.unsynced, m.name)
		if err := x.finishDir(m); err != nil {
			x.app.fail(x.path(m.name), "cannot complete the directory: %s", reason(err))
		}
	}
	for name := range x.unsynced {
		root, err := x.dir(name)
		if err == nil {
			err = x.app.syncDir(root)
		}
		if err != nil {
			x.app.fail(x.path(name), "cannot sync the directory: %s", reason(err))
		}
	}
}

func (x *extraction) finishDir(m *madeDir) error {
	root, err := x.dir(m.name)
	if err != nil {
		return err
	}
	if m.time != nil {
		if err := setDirTime(root, *m.time); err != nil {
			x.app.warn(x.path(m.name), "cannot set the time: %s", reason(err))
		}
	}
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	// The mode comes last: it may keep this user from the directory.
	if err := x.app.syncDir(root); err != nil || m.perm&0o700 == 0o700 {
		return err // the umask has not touched these bits
	}
	return root.Chmod(".", info.Mode().Perm()&m.perm)
}
