package cli

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// tempFile is the temporary file that must not outlive the program. The command writes files one
// by one, so there is at most one.
//
// The program creates, renames and removes it under the lock. A signal takes the lock and never
// releases it before it cleans up. So a signal finds the file either registered here or not in
// existence, and never interrupts a commit (rename, sync, removal of the source).
type tempFile struct {
	signalled atomic.Bool // a fatal signal has arrived

	mu   sync.Mutex
	root *os.Root
	name string
}

// locked runs f. No signal ends the program meanwhile. After a fatal signal locked does not begin f.
func (t *tempFile) locked(f func() error) error {
	defer t.waitForSignal()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signalled.Load() {
		return nil // to waitForSignal, without the lock
	}
	return f()
}

// waitForSignal blocks for ever if a fatal signal has arrived, so that the signal's goroutine ends
// the program.
func (t *tempFile) waitForSignal() {
	if t.signalled.Load() {
		select {}
	}
}

// set registers the file. The caller holds the lock.
func (t *tempFile) set(root *os.Root, name string) { t.root, t.name = root, name }

// clear forgets the file. The caller holds the lock.
func (t *tempFile) clear() { t.root, t.name = nil, "" }

// remove deletes the file, if there is one. The caller holds the lock.
func (t *tempFile) remove() {
	if t.root != nil {
		t.root.Remove(t.name)
		t.clear()
	}
}

// watchSignals makes a fatal signal remove the file and then end the program.
func (t *tempFile) watchSignals() {
	if runtime.GOARCH == "wasm" {
		return // has no signals, and signal.Ignored panics
	}
	// A reader that closes its pipe makes the next write fail with EPIPE. SIGPIPE would end the
	// program at once and leave the temporary file. After signal.Ignore dieByBrokenPipe would fail.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ch := make(chan os.Signal, 1)
	for _, sig := range fatalSignals {
		if !signal.Ignored(sig) { // ignored under nohup and in a shell's background job
			signal.Notify(ch, sig)
		}
	}
	go func() {
		sig := <-ch
		t.signalled.Store(true)
		t.mu.Lock()
		t.remove()
		dieBy(sig)
	}()
}
