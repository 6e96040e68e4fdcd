//go:build !unix

package compress

import "time"

var processStart = time.Now()

// cpuTime stands for the processor time that the process has taken.
func cpuTime() time.Duration { return time.Since(processStart) }
