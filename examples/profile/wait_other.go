//go:build !linux

package main

import "time"

// cpuWait returns 0: this system does not tell.
func cpuWait() time.Duration { return 0 }
