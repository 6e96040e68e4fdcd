//go:build arm64 && !noasm

package simd

const neon = portable + 1 // 16-byte vectors

var tierNames = [...]string{"portable", "neon"}

// detect returns neon: every ARMv8-A system that Go supports has it, and the Go runtime uses it.
func detect() tier { return neon }
