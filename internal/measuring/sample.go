package measuring

import (
	"slices"
	"time"
)

// Middle returns the median of values, for an even number of them the mean of the two in the
// middle.
func Middle[T ~int64 | ~float64](values []T) T {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// MBps returns a speed in MB/s, of 1,000,000 bytes. It is +Inf if d is 0 or less.
func MBps(bytes int64, d time.Duration) float64 { return float64(bytes) / 1e6 / max(0, d.Seconds()) }
