package bitio

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestWriter compares a Writer with bits written one by one.
func TestWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		want := []byte("front")
		bits := 8 * len(want)
		w := Writer{Out: bytes.Clone(want)}
		if r.IntN(2) == 0 {
			w.Room(1 << 10)
		}
		for range r.IntN(100) {
			n := r.UintN(57)
			v := r.Uint64() & (1<<n - 1)
			w.Put(v, n)
			for i := range n {
				if bits%8 == 0 {
					want = append(want, 0)
				}
				want[bits/8] |= byte(v>>i&1) << (bits % 8)
				bits++
			}
			if len(w.Out) != bits/8 || w.N != uint(bits%8) {
				t.Fatalf("%d bytes and %d bits after %d bits", len(w.Out), w.N, bits)
			}
			if r.IntN(20) == 0 {
				w.Align()
				bits = 8 * len(want)
			}
		}
		w.Align()
		w.Align()
		if !bytes.Equal(w.Out, want) {
			t.Fatalf("% x, want % x", w.Out, want)
		}
	}
}

func TestAllocs(t *testing.T) {
	w := Writer{Out: make([]byte, 0, 100)}
	if n := testing.AllocsPerRun(10, func() {
		w.Out = w.Out[:0]
		w.Room(8 * 50)
		for range 50 {
			w.Put(3, 8)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
