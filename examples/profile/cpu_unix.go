//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process so far, of all threads; 0 on an error.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
