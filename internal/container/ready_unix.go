//go:build unix

package container

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Readiness returns a function that reports whether one read of src would not wait, because there
// is input or the input has ended. It returns nil if src is not a file that can be asked.
func Readiness(src io.Reader) func() bool {
	f, ok := src.(*os.File)
	if !ok || f == nil {
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	ready := false
	poll := func(fd uintptr) {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p[:], 0)
		ready = err == nil && n > 0
	}
	return func() bool {
		ready = false
		return conn.Control(poll) == nil && ready
	}
}
