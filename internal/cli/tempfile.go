package cli

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// tempFiles is the set of temporary files, which must not outlive the program.
//
// The program creates, renames and removes them under the read lock, which several goroutines may
// hold. A signal takes the write lock and never releases it before it cleans up. So a signal finds
// a file either registered here or not in existence, and never interrupts a commit (renames, syncs,
// removal of the sources).
type tempFiles struct {
	signalled atomic.Bool  // a fatal signal has arrived
	drawn     atomic.Int64 // columns of a line on the terminal that does not stay

	mu  sync.RWMutex
	set sync.Map // of *output
}

// locked runs f. No signal ends the program meanwhile. After a fatal signal locked does not begin
// f.
func (t *tempFiles) locked(f func() error) error {
	defer t.waitForSignal()
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.signalled.Load() {
		return nil // to waitForSignal, without the lock
	}
	return f()
}

// waitForSignal blocks for ever if a fatal signal has arrived, so that the signal's goroutine ends
// the program.
func (t *tempFiles) waitForSignal() {
	if t.signalled.Load() {
		select {}
	}
}

// addOutput registers the temporary file of an output. The caller holds the lock.
func (t *tempFiles) addOutput(o *output) { t.set.Store(o, nil) }

// forgetOutput unregisters a file that has got its name. The caller holds the lock.
func (t *tempFiles) forgetOutput(o *output) { t.set.Delete(o) }

// removeOutput deletes the temporary file of an output if it is registered. The caller holds the
// lock.
func (t *tempFiles) removeOutput(o *output) {
	if _, ok := t.set.LoadAndDelete(o); ok {
		o.at.root.Remove(o.temp)
	}
}

// removeAll deletes all files. The caller holds the lock.
func (t *tempFiles) removeAll() {
	for o := range t.set.Range {
		t.removeOutput(o.(*output))
	}
}

// catchBrokenPipe makes writing to a pipe that its reader has closed fail with EPIPE. SIGPIPE would
// end the program at once and leave the temporary files. After signal.Ignore dieByBrokenPipe would
// fail.
//
// To begin that takes as long as watchSignals, so a run that makes no file does so before its first
// message. Standard output needs it only for the temporary files.
var catchBrokenPipe = sync.OnceFunc(func() {
	if runtime.GOARCH != "wasm" {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
})

// watchSignals makes a fatal signal remove the files, call clear, and then end the program.
func (t *tempFiles) watchSignals(clear func()) {
	if runtime.GOARCH == "wasm" {
		return // has no signals, and signal.Ignored panics
	}
	catchBrokenPipe()
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
		t.removeAll()
		clear()
		dieBy(sig)
	}()
}
