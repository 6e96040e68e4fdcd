//go:build unix

package cli

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var fatalSignals = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU,
}

// linkCount returns the number of hard links of the file.
func linkCount(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// copyOwner gives f the owner and group of src as far as this user may. It returns the permissions
// for f, which let no more users read it than can read src: if the group cannot be set, the new
// group gets only the permissions of all others.
func copyOwner(f *os.File, src fs.FileInfo) fs.FileMode {
	perm := src.Mode().Perm()
	want, ok := src.Sys().(*syscall.Stat_t)
	if !ok {
		return perm & 0o700
	}
	if os.Geteuid() == 0 {
		f.Chown(int(want.Uid), -1) // on failure the file stays ours
	}
	if f.Chown(-1, int(want.Gid)) != nil {
		perm &= 0o707 | perm<<3&0o070
	}
	return perm
}

// syncDir makes a rename in the directory durable.
func syncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return syncFile(d)
}

// syncFile makes a file or directory durable. It succeeds where the file system does not support
// that.
func syncFile(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
