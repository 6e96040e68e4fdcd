//go:build !linux

package cli

import "math"

// spaceLeft returns MaxInt64: what is left of the address space is not known.
func spaceLeft() int64 { return math.MaxInt64 }
