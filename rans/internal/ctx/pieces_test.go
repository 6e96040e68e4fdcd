package ctx

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// TestPieces: the pieces are the segment, one after the other, and those that are longer than others come first.
func TestPieces(t *testing.T) {
	for n := range 300 {
		for _, width := range []int{model.Lanes, simd.CtxRound} {
			next, last := 0, n+1
			for l := range width {
				a, b := piece(n, l, width), piece(n, l+1, width)
				if a != next || b-a > last || b-a < n/width {
					t.Fatalf("%d symbols, %d model.Lanes: piece %d is from %d to %d, the one before ends at %d", n, width, l, a, b, next)
				}
				if more := b-a > n/width; more != (l%model.Lanes < short(n, l/model.Lanes, width)) {
					t.Fatalf("%d symbols, %d model.Lanes: a symbol more for lane %d: %v", n, width, l, more)
				}
				next, last = b, b-a
			}
			if next != n {
				t.Fatalf("%d symbols, %d model.Lanes: the pieces end at %d", n, width, next)
			}
		}
	}
}

// TestGather: the mark of symbol i of a lane's piece stands in round i.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		bits := make([]uint64, 100)
		for i := range bits {
			bits[i] = r.Uint64()
		}
		marks := make([]uint64, 1+r.IntN(blockRounds))
		width := model.Lanes << r.IntN(2)
		from := r.IntN(1000)
		var at [simd.CtxRound]int
		for l := range at {
			at[l] = r.IntN(64*len(bits) - blockRounds - 64 - from)
		}
		gather(marks, bits, from, &at, width)
		for k, m := range marks {
			for l := range at {
				i := from + at[l] + k
				if want := bits[i/64] >> (i % 64) & 1; l < width && m>>l&1 != want || l >= width && m>>l&1 != 0 {
					t.Fatalf("round %d of lane %d: %d, want %d", k, l, m>>l&1, want)
				}
			}
		}
	}
}
