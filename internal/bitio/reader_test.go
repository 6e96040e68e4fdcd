package bitio

import (
	"math/rand/v2"
	"testing"
)

// TestReader reads a Writer's output whole, cut short, and with a bit set behind the last one.
func TestReader(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		var w Writer
		var sizes []uint
		var values []uint64
		for range rnd.IntN(100) {
			n := rnd.UintN(57)
			v := rnd.Uint64() & (1<<n - 1)
			w.Put(v, n)
			sizes, values = append(sizes, n), append(values, v)
		}
		pad := w.N > 0
		last := byte(1) << w.N
		w.Align()
		size := len(w.Out)
		read := func(p []byte) (rest []byte, ok bool) {
			r := Reader{Data: p}
			for i, n := range sizes {
				if v := r.Take(n); v != values[i] && len(p) >= size {
					t.Fatalf("field %d of %d bits is %#x, want %#x", i, n, v, values[i])
				}
			}
			return r.Rest()
		}
		if rest, ok := read(append(w.Out[:size:size], "tail"...)); !ok || string(rest) != "tail" {
			t.Fatalf("%q and %v behind %d bytes", rest, ok, size)
		}
		if size == 0 {
			continue
		}
		if _, ok := read(w.Out[:size-1]); ok {
			t.Fatal("a missing byte is not reported")
		}
		if pad {
			w.Out[size-1] |= last
			if _, ok := read(w.Out); ok {
				t.Fatal("a bit behind the last field is not reported")
			}
		}
	}
}
