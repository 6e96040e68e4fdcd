package cli

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A renamer renames files in one directory after another. It keeps the last directory open.
type renamer struct {
	root *os.Root
	dir  *os.File
}

// renameNew renames a file atomically unless the new name exists. It falls back to linkNew where
// kernel or file system do not support that.
func (r *renamer) renameNew(root *os.Root, from, to string) error {
	if r.root != root {
		dir, err := root.Open(".")
		if err != nil {
			return err
		}
		r.close()
		r.root, r.dir = root, dir
	}
	fd := int(r.dir.Fd())
	err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return linkNew(root, from, to)
}

// close closes the directory.
func (r *renamer) close() {
	if r.root != nil {
		r.dir.Close()
		r.root = nil
	}
}
