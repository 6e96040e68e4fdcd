package cli

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setTime sets the time of modification of the open file f, which is called name in root. It leaves
// the time of access as it is.
func setTime(f *os.File, root *os.Root, name string, modTime time.Time) error {
	mod, err := unix.TimeToTimespec(modTime)
	if err == nil {
		times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, mod}
		err = unix.UtimesNanoAt(int(f.Fd()), "", times, unix.AT_EMPTY_PATH)
	}
	if err != nil { // kernels before 5.8 need a name
		return root.Chtimes(name, time.Time{}, modTime)
	}
	return nil
}

// setDirTime sets the time of modification of a directory.
func setDirTime(root *os.Root, modTime time.Time) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return setTime(dir, root, ".", modTime)
}

// setLinkTime sets the time of modification of the symbolic link called name in root. Links whose
// time cannot be set keep that of now.
func setLinkTime(root *os.Root, name string, modTime time.Time) {
	mod, err := unix.TimeToTimespec(modTime)
	if err != nil {
		return
	}
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, mod}
	unix.UtimesNanoAt(int(dir.Fd()), name, times, unix.AT_SYMLINK_NOFOLLOW)
}
