package cli

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// setTime sets the time of modification of f. It leaves the time of access as it is. It does so
// through the handle that has written the file: closing that handle may else set the time again.
func setTime(f *os.File, _ *os.Root, _ string, modTime time.Time) error {
	const from1601 = 11_644_473_600 // seconds to 1970
	ticks := (modTime.Unix()+from1601)*1e7 + int64(modTime.Nanosecond())/100
	t := windows.Filetime{LowDateTime: uint32(ticks), HighDateTime: uint32(ticks >> 32)}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) {
		failed = windows.SetFileTime(windows.Handle(fd), nil, nil, &t)
	}); err != nil {
		return err
	}
	return failed
}

// setDirTime sets the time of modification of a directory.
func setDirTime(root *os.Root, modTime time.Time) error {
	return root.Chtimes(".", time.Time{}, modTime)
}

// setLinkTime does nothing: Go offers no call that sets the time of a symbolic link.
func setLinkTime(*os.Root, string, time.Time) {}
