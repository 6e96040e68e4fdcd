//go:build unix

package compress

import (
	"syscall"
	"time"
)

var processStart = time.Now()

// cpuTime is the processor time that the process has taken, which hardly depends on what else the machine has to do.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return time.Since(processStart)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
