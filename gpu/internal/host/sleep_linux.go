package host

import (
	"syscall"
	"time"
)

// sleep blocks the thread. time.Sleep takes at least a millisecond if the program has no other
// work.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal may end it early, which does not matter
}
