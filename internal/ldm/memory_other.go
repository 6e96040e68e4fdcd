//go:build !linux

package ldm

// newMemory returns n new elements.
func newMemory[T byte | uint64](n int) []T { return make([]T, n) }
