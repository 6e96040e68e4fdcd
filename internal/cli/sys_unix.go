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

// linkCount is the number of names the file has.
func linkCount(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// keepOwner gives f the owner and group of the source as far as this user may, and returns the permissions that f
// can have without more people reading it than can read the source: where the group could not be kept, its members
// get no more than everybody.
func keepOwner(f *os.File, src fs.FileInfo) fs.FileMode {
	perm := src.Mode().Perm()
	want, ok := src.Sys().(*syscall.Stat_t)
	if !ok {
		return perm & 0o700
	}
	if os.Geteuid() == 0 {
		f.Chown(int(want.Uid), -1) // best effort: without it the file is ours
	}
	if f.Chown(-1, int(want.Gid)) != nil {
		perm &= 0o707 | perm<<3&0o070
	}
	return perm
}

// syncDir makes a rename in the directory durable. Some file systems cannot and say so.
func syncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return supportedSync(d)
}

func supportedSync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
