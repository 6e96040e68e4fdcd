//go:build unix

package main

import (
	"syscall"
	"time"
)

// hasProcessTime says whether processTime counts.
const hasProcessTime = true

// processTime returns the processor time that all threads of this process have had, 0 on an error.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
