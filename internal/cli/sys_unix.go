//go:build unix

package cli

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var fatalSignals = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU,
}

// openRegular is the flag to open a regular file with. Without it package os sets the flag, tries
// to watch the file, which no regular file supports, and takes the flag back: four more system
// calls.
// If a named pipe has replaced the file meanwhile, the program does not wait for its writer.
const openRegular = syscall.O_NONBLOCK

// dieBy ends the program by a signal that it has caught. A shell that runs a loop sees the signal
// and ends the loop. For SIGQUIT and SIGXCPU, where the default action of the Go runtime is another
// one than the system's, the exit code names the signal.
func dieBy(sig os.Signal) {
	n := sig.(syscall.Signal)
	if n == syscall.SIGINT || n == syscall.SIGTERM || n == syscall.SIGHUP {
		signal.Reset(n)
		if syscall.Kill(os.Getpid(), n) == nil {
			select {} // until the signal arrives
		}
	}
	os.Exit(128 + int(n))
}

// dieByBrokenPipe ends the program by SIGPIPE. out is standard output or error, whose reader has
// closed the pipe: a write that fails there raises the signal, unless the program ignores it.
func dieByBrokenPipe(out *os.File) {
	signal.Reset(syscall.SIGPIPE)
	out.Write([]byte{0})
}

// crashBySignal makes a crash of the Go runtime end the program by SIGABRT, in place of exit code
// 2, which means a warning here. The runtime crashes if it gets no memory. There is no core dump.
func crashBySignal() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
	debug.SetTraceback("crash")
}

// rlimitBytes returns a number of bytes, or MaxInt64 if it is larger, as that of no limit is.
func rlimitBytes(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// linkCount returns the number of hard links of the file.
func linkCount(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// fileID identifies a file with all of its hard links.
type fileID struct{ dev, ino uint64 }

// idOf returns the fileID of a file. ok is false if the system does not say it.
func idOf(fi fs.FileInfo) (id fileID, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, true
}

// copyAccess gives f the owner, group, mode and access list of src, as far as this user may. No
// more users can read f than can read src. If the group cannot be set, the new group gets only the
// permissions of all others. info describes src.
func copyAccess(f, src *os.File, info fs.FileInfo) error {
	perm := info.Mode().Perm()
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return f.Chmod(perm & 0o700)
	}
	var have unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &have); err != nil {
		return err
	}
	if have.Uid != want.Uid && os.Geteuid() == 0 {
		f.Chown(int(want.Uid), -1) // on failure the file stays ours
	}
	sameGroup := have.Gid == want.Gid || f.Chown(-1, int(want.Gid)) == nil
	copied, least := copyAccessList(f, src, sameGroup)
	if copied {
		return nil
	}
	perm &= least
	if !sameGroup {
		perm &= 0o707 | perm<<3&0o070
	}
	return f.Chmod(perm)
}

// changeTime returns when content or attributes of a file last changed.
func changeTime(f *os.File) time.Time {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}

// openFileLimit returns how many files the program may have open. The Go runtime has raised the
// limit as far as it may.
func openFileLimit() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return filesOfProgram
	}
	return int(min(limit.Cur, 1<<20))
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

// stopWaiting makes a read of f fail where it would have to wait for content.
func stopWaiting(f *os.File) { syscall.SetNonblock(int(f.Fd()), true) }
