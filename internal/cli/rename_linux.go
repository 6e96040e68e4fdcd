package cli

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file atomically unless the new name exists. It falls back to linkNew where
// kernel or file system do not support that.
func renameNew(root *os.Root, from, to string) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	fd := int(d.Fd())
	err = unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return linkNew(root, from, to)
}
