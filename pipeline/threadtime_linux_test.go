package pipeline

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime returns the processor time of this thread. getrusage is too coarse.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	p := uintptr(unsafe.Pointer(&t))
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, p, 0); err != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
