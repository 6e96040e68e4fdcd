package simd

import "unsafe"

// Prefetch asks for the entries at[k]&mask of a table, so that they are near when they are read, and waits for none of them. A read that nobody waits for does so too, but the processor has room
// for few instructions behind one that is not done, and so for few such reads; these are done at once. What is not in the table costs time, and nothing else. Without a kernel this does nothing.
func Prefetch[T any](table []T, at []uint32, mask uint32) {
	prefetchKernel((*byte)(unsafe.Pointer(unsafe.SliceData(table))), int(unsafe.Sizeof(*new(T))), at, mask)
}
