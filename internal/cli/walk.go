package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// maxOpenDirs is how many directories on the way down are open at a time, the first one not counted. Trees are hardly ever as deep;
// the descriptors of one that is might be more than the program may have, which is 256 on some systems.
const maxOpenDirs = 32

// dir is a directory that -r is in.
type dir struct {
	up   *dir   // nil for an operand
	name string // in up
	path string // for messages
	root *os.Root
	info fs.FileInfo
}

// open makes sure that the directory is open. One that had to be closed is found again from the last that is open, unless
// something else has any of the names in between by now.
func (d *dir) open() (*os.Root, error) {
	if d.root != nil {
		return d.root, nil
	}
	var way []*dir // from here up to one that is open
	at := d
	for ; at.root == nil; at = at.up {
		way = append(way, at)
	}
	root := at.root
	for i := len(way) - 1; i >= 0; i-- {
		sub, err := openSub(root, way[i].name, way[i].info)
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

// close leaves a directory, which can be opened again.
func (d *dir) close() {
	if d.root != nil {
		d.root.Close()
		d.root = nil
	}
}

// openSub opens a directory in another one, unless it is not the one that was there before.
func openSub(root *os.Root, name string, was fs.FileInfo) (*os.Root, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	is, err := sub.Stat(".")
	if err == nil && !os.SameFile(was, is) {
		err = errMoved
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// walk calls do for the files in a directory and below it that the mode is meant for. Symbolic links and special
// files in it are left out, as gzip -r does.
func (a *app) walk(d *dir, do func(entry)) {
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
		path := filepath.Join(d.path, e.Name())
		switch {
		case e.IsDir():
			a.walkSub(d, e.Name(), path, do)
		case !e.Type().IsRegular():
			a.note(path, "is not a regular file -- ignored")
		default:
			if _, _, packed := a.cfg.packedName(e.Name()); packed == (a.cfg.mode == modeCompress) {
				a.note(path, "not meant by -r -- ignored")
				continue
			}
			do(entry{path: path, base: e.Name(), root: root, walked: true})
		}
	}
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

// walkSub enters a directory unless it has become a symbolic link since it was read.
func (a *app) walkSub(up *dir, name, path string, do func(entry)) {
	info, err := up.root.Lstat(name)
	var root *os.Root
	if err == nil {
		root, err = openSub(up.root, name, info)
	}
	if err != nil {
		a.fail(path, "%s", reason(err))
		return
	}
	d := &dir{up: up, name: name, path: path, root: root, info: info}
	defer d.close()
	d.makeRoom()
	a.walk(d, do)
}

// makeRoom closes the directory that is maxOpenDirs further up.
func (d *dir) makeRoom() {
	at := d
	for range maxOpenDirs {
		if at = at.up; at == nil {
			return
		}
	}
	if at.up != nil { // the first one can only be found by its path, where somebody may have put a link by now
		at.close()
	}
}
