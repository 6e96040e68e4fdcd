//go:build arm64 && !noasm

package cpu

// NEON is the tier above Portable: 16-byte vectors.
const NEON = Portable + 1

var tierNames = [...]string{"portable", "neon"}

// detect returns NEON: every ARMv8-A system that Go supports has it, and the Go runtime uses it.
func detect() Tier { return NEON }
