package simd

import "unsafe"

// Prefetch hides the latency of tables that do not fit the caches: a match finder prefetches the
// entries for positions ahead of the search. An ordinary load does the same, but the processor
// retires instructions in order. An unfinished load at the head fills its buffers, and few loads
// are in flight. A prefetch retires at once.

// Prefetch prefetches the entries at[k]&mask of a table into the first-level cache. Entries outside
// the table are allowed; they cost time only. It does nothing where there is no kernel.
func Prefetch[T any](table []T, at []uint32, mask uint32) {
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(table)))
	prefetchKernel(first, int(unsafe.Sizeof(*new(T))), at, mask)
}
