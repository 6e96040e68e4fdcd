//go:build arm64 && !noasm

package simd

const neon = portable + 1 // 16-byte vectors

var tierNames = [...]string{"portable", "neon"}

// detect need not ask: ARMv8-A systems that Go runs on have NEON, and the runtime uses it.
func detect() tier { return neon }
