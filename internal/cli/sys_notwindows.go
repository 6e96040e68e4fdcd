//go:build !windows

package cli

import (
	"errors"
	"os"
	"syscall"
)

// openShared opens a file with a flag for reading. Other programs may remove or rename the file
// meanwhile.
func openShared(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) }

// renameOver renames a file. It replaces a file of the new name.
func renameOver(root *os.Root, from, to string) error { return root.Rename(from, to) }

// isBrokenPipe reports whether err is that of writing to a pipe that its reader has closed.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// systemReason returns the text of an error of the system.
func systemReason(err error) string { return err.Error() }
