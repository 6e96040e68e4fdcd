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

// Fill sets every byte of p to c. It has no kernel: copy doubles the filled part each time, and the
// standard library's copy uses vectors.
func Fill(p []byte, c byte) {
	if len(p) == 0 {
		return
	}
	p[0] = c
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
