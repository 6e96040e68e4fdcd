package deflate

import (
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// escaped moves an Encoder to the heap.
var escaped *Encoder

// TestMemory compares the memory of an Encoder with the bound of Memory, from below too: a bound
// far too high would cost workers. Only content with a long match may need less.
func TestMemory(t *testing.T) {
	const sizeClasses = 32 << 10 // rounding of a few large allocations by the runtime
	for _, kind := range []string{"text", "zeros", "short", "random"} {
		for _, n := range []int{0, 100, 5000, 1 << 18, 1 << 20} {
			data := corpus.ByName(kind).Make(n)
			seqs := greedy.parse(data, 0)
			dst := make([]byte, 0, n+n/8+1000)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			escaped = new(Encoder)
			escaped.Append(dst, data, seqs, true)
			runtime.ReadMemStats(&after)
			got, bound := int(after.TotalAlloc-before.TotalAlloc), Memory(n, len(seqs))
			if got > bound+sizeClasses || got < bound/2 && kind != "zeros" {
				t.Errorf("%s, %d bytes: %d allocated, Memory says %d", kind, n, got, bound)
			}
		}
	}
}
