//go:build unix

package main

import (
	"syscall"
	"time"
)

// clockName says what clocked counts.
const clockName = "processor time"

// clocked returns how many seconds of processor time f takes, in all threads.
func clocked(f func() error) (float64, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return 0, err
	}
	took := time.Duration(after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano())
	return max(took, time.Microsecond).Seconds(), nil
}
