//go:build !unix

package main

import "time"

// clockName says what clocked counts.
const clockName = "wall time"

// clocked returns how many seconds f takes.
func clocked(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return max(time.Since(start), time.Microsecond).Seconds(), err
}
