package cli

import (
	"errors"
	"io/fs"
	"os"
)

// linkNew renames a file unless the new name exists. A hard link cannot replace a file. On a file
// system without hard links it checks for the name first, which is not atomic.
func linkNew(root *os.Root, from, to string) error {
	err := root.Link(from, to)
	if err == nil {
		return root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return root.Rename(from, to)
}
