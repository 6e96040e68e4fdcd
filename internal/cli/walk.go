package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// maxOpenDirs is the number of directories below the first that -r keeps open. Some systems allow a
// process 256 open files.
const maxOpenDirs = 32

// dir is a directory that -r processes.
type dir struct {
	up   *dir   // nil for an operand
	name string // in up
	path string // for messages
	root *os.Root
	info fs.FileInfo
}

// open opens the directory unless it is open. It starts at the nearest open ancestor. It fails if
// another directory or a link has taken any name on the way.
func (d *dir) open() (*os.Root, error) {
	if d.root != nil {
		return d.root, nil
	}
	var closed []*dir // d and its ancestors below the open one
	at := d
	for ; at.root == nil; at = at.up {
		closed = append(closed, at)
	}
	root := at.root
	for i := len(closed) - 1; i >= 0; i-- {
		sub, err := openSub(root, closed[i].name, closed[i].info)
		if root != at.root {
			root.Close()
		}
		if err != nil {
			return nil, err
		}
		root = sub
	}
	d.root = root
	return root, nil
}

// closeDir closes the directory once no job of the batch uses it. open can open it again.
func (a *app) closeDir(d *dir) {
	if root := d.root; root != nil {
		a.whenFlushed(func() { root.Close() })
		d.root = nil
	}
}

// openSub opens the subdirectory name of root. It fails unless that is the directory was describes.
func openSub(root *os.Root, name string, was fs.FileInfo) (*os.Root, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	is, err := sub.Stat(".")
	if err == nil && !os.SameFile(was, is) {
		err = errReplaced
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// walk calls do for the files in a directory and below whose suffixes suit the mode. As gzip -r
// does, it leaves out symbolic links and special files with a warning. It never processes the
// temporary files of another run of pz, which may be at work on them.
func (a *app) walk(d *dir, do func(entry)) {
	a.visit(d, func(root *os.Root, path string, e fs.DirEntry) {
		switch {
		case e.IsDir():
			a.walkSub(d, e.Name(), path, func(sub *dir) { a.walk(sub, do) })
		case e.Type()&fs.ModeSymlink != 0:
			a.warn(path, "is a symbolic link -- ignored")
		case !e.Type().IsRegular():
			a.warn(path, "is not a regular file -- ignored")
		case isTempName(e.Name()):
			a.noteTemp(path)
		case a.suitsWalk(path, e.Name()):
			info, _ := e.Info()
			do(entry{path: path, base: e.Name(), root: root, info: info})
		}
	})
}

func (a *app) noteTemp(path string) { a.note(path, "is a temporary file of pz -- ignored") }

// visit calls f for the names in a directory that --exclude does not leave out, in order. root is
// the directory, and path is for messages.
func (a *app) visit(d *dir, f func(root *os.Root, path string, e fs.DirEntry)) {
	list, err := readDir(d.root)
	if err != nil {
		a.fail(d.path, "%s", reason(err))
		return
	}
	for _, e := range list {
		if a.stopped {
			return
		}
		root, err := d.open()
		if err != nil {
			a.fail(d.path, "%s", reason(err))
			return
		}
		if path := filepath.Join(d.path, e.Name()); !a.excluded(path) {
			f(root, path, e)
		}
	}
}

// suitsWalk reports whether -r processes a file of this name. If not, it prints a note: compressing
// leaves out compressed files, also with -f, and the other modes leave out all others.
func (a *app) suitsWalk(path, name string) bool {
	_, suffix, packed := a.cfg.splitSuffix(name)
	other, _, _ := foreign.BySuffix(name)
	switch {
	case packed != a.cfg.readsContent():
		return true
	case other != nil && (a.cfg.mode == modeDecompress || a.cfg.mode == modeTest):
		return true
	case packed:
		a.note(path, `already has suffix %s -- ignored; "pz -f FILE" compresses it again`, suffix)
	default:
		a.note(path, "has no suffix of compressed files -- ignored")
	}
	return false
}

func readDir(root *os.Root) ([]fs.DirEntry, error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	sort.Slice(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
	return list, err
}

// walkSub calls walk for a subdirectory. It fails if the name is no directory any more.
func (a *app) walkSub(up *dir, name, path string, walk func(*dir)) {
	info, err := up.root.Lstat(name)
	if err == nil && a.isOutputDir(info) {
		a.note(path, "is the directory of the results -- ignored")
		return
	}
	var root *os.Root
	if err == nil {
		root, err = openSub(up.root, name, info)
	}
	if err != nil {
		a.fail(path, "%s", reason(err))
		return
	}
	d := &dir{up: up, name: name, path: path, root: root, info: info}
	defer a.closeDir(d)
	a.closeDistant(d)
	walk(d)
}

// closeDistant closes the directory maxOpenDirs levels up. The operand stays open: it could only be
// reopened by its path, which may lead elsewhere by then.
func (a *app) closeDistant(d *dir) {
	at := d
	for range maxOpenDirs {
		if at = at.up; at == nil {
			return
		}
	}
	if at.up != nil {
		a.closeDir(at)
	}
}
