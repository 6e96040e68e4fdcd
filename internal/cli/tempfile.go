package cli

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// unfinished knows the temporary file that must not outlive the program. Files are written one by one, so there is
// one at most.
//
// Creating, renaming and removing it happen under the lock, and a signal takes the lock for good before it cleans
// up. So a signal finds a file either known here or not in existence, and a commit (rename, sync, removal of the
// source) is never cut in the middle.
type unfinished struct {
	dying atomic.Bool // a signal has come

	mu   sync.Mutex
	root *os.Root
	name string
}

// locked runs f where no signal can end the program.
func (u *unfinished) locked(f func() error) error {
	defer u.giveWay()
	u.mu.Lock()
	defer u.mu.Unlock()
	return f()
}

// giveWay leaves the end of the program to the signal, if one has come, so that the exit code tells of it.
func (u *unfinished) giveWay() {
	if u.dying.Load() {
		select {}
	}
}

// set and clear are called with the lock held.
func (u *unfinished) set(root *os.Root, name string) { u.root, u.name = root, name }
func (u *unfinished) clear()                         { u.root, u.name = nil, "" }

// remove deletes the file, if there is one. It is called with the lock held.
func (u *unfinished) remove() {
	if u.root != nil {
		u.root.Remove(u.name)
		u.clear()
	}
}

// watchSignals makes the fatal signals clean up and end the program with 128 + their number.
func (u *unfinished) watchSignals() {
	// A reader that went away shows as EPIPE from the write, which is reported like any other failed write. The
	// signal would end the program and leave the temporary file.
	signal.Ignore(syscall.SIGPIPE)
	ch := make(chan os.Signal, 1)
	for _, sig := range fatalSignals {
		if !signal.Ignored(sig) { // nohup, or a shell's background job
			signal.Notify(ch, sig)
		}
	}
	go func() {
		sig := <-ch
		u.dying.Store(true)
		u.mu.Lock()
		u.remove()
		code := exitError
		if n, ok := sig.(syscall.Signal); ok {
			code = 128 + int(n)
		}
		os.Exit(code)
	}()
}
