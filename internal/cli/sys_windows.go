package cli

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// openShared opens a file to read it. Other handles may remove or rename the file meanwhile, which
// os.Open does not allow: --rm removes a source that is open. There is one flag, to read.
func openShared(path string, _ int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// renameOver renames a file. It replaces a file of the new name. Windows does not replace a
// read-only file, so that attribute goes first.
func renameOver(root *os.Root, from, to string) error {
	err := root.Rename(from, to)
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	fi, statErr := root.Lstat(to)
	if statErr != nil || !fi.Mode().IsRegular() || root.Chmod(to, 0o666) != nil {
		return err
	}
	if err = root.Rename(from, to); err != nil {
		root.Chmod(to, fi.Mode().Perm())
	}
	return err
}

// isBrokenPipe reports whether err is that of writing to a pipe that its reader has closed.
func isBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// systemReason returns the text of an error of the system. Frequent errors read as on other
// systems. Other texts are sentences of Windows; they lose the full stop, because more may follow.
func systemReason(err error) string {
	no, ok := err.(syscall.Errno)
	switch {
	case !ok:
		return err.Error()
	case no == windows.ERROR_FILE_NOT_FOUND, no == windows.ERROR_PATH_NOT_FOUND:
		return "no such file or directory"
	case no == windows.ERROR_ACCESS_DENIED:
		return "permission denied"
	}
	return strings.TrimSuffix(no.Error(), ".")
}
