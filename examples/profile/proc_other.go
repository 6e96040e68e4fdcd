//go:build !linux

package main

import "time"

// cpuWait returns 0: this system does not tell.
func cpuWait() time.Duration { return 0 }

// resident returns 0: this system does not tell.
func resident() (now, peak int64) { return 0, 0 }

// resetPeak does nothing.
func resetPeak() {}
