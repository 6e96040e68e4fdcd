package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// tryDeinterleave moves random rounds to pieces with random gaps between them.
func tryDeinterleave(t *testing.T, r *rand.Rand, dst, buf []byte) {
	t.Helper()
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	for i := range dst {
		dst[i] = byte(r.Uint32())
	}
	width, rounds := Lanes<<r.IntN(2), len(buf)/CtxRound
	var at [CtxRound]int
	for l := range at {
		at[l] = -1 // beyond width
	}
	want := bytes.Clone(dst)
	next, room := 0, len(dst)-width*rounds
	for l := range width {
		gap := r.IntN(2*room/width + 1)
		if l == width-1 && r.IntN(2) == 0 {
			gap = room
		}
		gap = min(gap, room)
		at[l], next, room = next+gap, next+gap+rounds, room-gap
		for k := range rounds {
			want[at[l]+k] = buf[k*CtxRound+l]
		}
	}
	Deinterleave(dst, &at, width, buf)
	if !bytes.Equal(dst, want) {
		t.Fatalf("Deinterleave of %d rounds of %d lanes: wrong content", rounds, width)
	}
}

func TestDeinterleave(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(59, 60))
		for range scaled(2000) {
			n := r.IntN(50)
			tryDeinterleave(t, r, make([]byte, n*CtxRound+r.IntN(n*CtxRound+100)),
				make([]byte, n*CtxRound))
		}
	})
}

// TestDeinterleaveWidth checks that Deinterleave panics unless width is one lane group or two.
func TestDeinterleaveWidth(t *testing.T) {
	for _, width := range []int{-1, 0, 1, Lanes - 1, Lanes + 1, CtxRound - 1, CtxRound + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("width %d: no panic", width)
				}
			}()
			Deinterleave(make([]byte, 1), new([CtxRound]int), width, make([]byte, CtxRound))
		}()
	}
}

func BenchmarkDeinterleave(b *testing.B) {
	const rounds = 128
	dst, buf := make([]byte, 1<<20), make([]byte, rounds*CtxRound)
	var at [CtxRound]int
	for l := range at {
		at[l] = l * (len(dst)/CtxRound - 100)
	}
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		for b.Loop() {
			Deinterleave(dst, &at, CtxRound, buf)
		}
	})
}
