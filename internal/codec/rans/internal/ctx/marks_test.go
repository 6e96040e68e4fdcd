package ctx

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// TestPieceStart checks that the pieces cover the segment in order and that the longer ones come
// first.
func TestPieceStart(t *testing.T) {
	for n := range 300 {
		for _, width := range []int{model.Lanes, kernels.CtxRound} {
			next, last := 0, n+1
			for l := range width {
				a, b := pieceStart(n, l, width), pieceStart(n, l+1, width)
				if a != next || b-a > last || b-a < n/width {
					t.Fatalf("%d symbols, %d lanes: piece %d is [%d, %d), the one before ends at %d",
						n, width, l, a, b, next)
				}
				tail := tailLanes(n, l/model.Lanes, width)
				if more := b-a > n/width; more != (l%model.Lanes < tail) {
					t.Fatalf("%d symbols, %d lanes: lane %d has one more: %v", n, width, l, more)
				}
				next, last = b, b-a
			}
			if next != n {
				t.Fatalf("%d symbols, %d model.Lanes: the pieces end at %d", n, width, next)
			}
		}
	}
}

// TestMarksByRound compares marksByRound with single bits.
func TestMarksByRound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		bits := make([]uint64, 100)
		for i := range bits {
			bits[i] = r.Uint64()
		}
		marks := make([]uint64, 1+r.IntN(blockRounds))
		width := model.Lanes << r.IntN(2)
		from := r.IntN(1000)
		var at [kernels.CtxRound]int
		for l := range at {
			at[l] = r.IntN(64*len(bits) - blockRounds - 64 - from)
		}
		marksByRound(marks, bits, from, &at, width)
		for k, m := range marks {
			for l := range at {
				i := from + at[l] + k
				want := uint64(0)
				if l < width {
					want = bits[i/64] >> (i % 64) & 1
				}
				if m>>l&1 != want {
					t.Fatalf("round %d of lane %d: %d, want %d", k, l, m>>l&1, want)
				}
			}
		}
	}
}
