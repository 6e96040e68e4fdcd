package simd

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// tryScatter puts random rounds to pieces that have places for all of them, with gaps between.
func tryScatter(t *testing.T, r *rand.Rand, dst, buf []byte) {
	t.Helper()
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	for i := range dst {
		dst[i] = byte(r.Uint32())
	}
	width, rounds := Lanes<<r.IntN(2), len(buf)/ChainRound
	var at [ChainRound]int
	for l := range at {
		at[l] = -1 // not to be used
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
			want[at[l]+k] = buf[k*ChainRound+l]
		}
	}
	if Scatter(dst, &at, width, buf); !bytes.Equal(dst, want) {
		t.Fatalf("%d rounds of %d lanes", rounds, width)
	}
}

func TestScatter(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(59, 60))
		for range scaled(2000) {
			n := r.IntN(50)
			tryScatter(t, r, make([]byte, n*ChainRound+r.IntN(n*ChainRound+100)), make([]byte, n*ChainRound))
		}
	})
}

// TestScatterWidth: lanes are moved by groups, and another number of them is a mistake in the program.
func TestScatterWidth(t *testing.T) {
	for _, width := range []int{-1, 0, 1, Lanes - 1, Lanes + 1, ChainRound - 1, ChainRound + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d lanes are taken", width)
				}
			}()
			Scatter(make([]byte, 1), new([ChainRound]int), width, make([]byte, ChainRound))
		}()
	}
}

func BenchmarkScatter(b *testing.B) {
	const rounds = 128
	dst, buf := make([]byte, 1<<20), make([]byte, rounds*ChainRound)
	var at [ChainRound]int
	for l := range at {
		at[l] = l * (len(dst)/ChainRound - 100)
	}
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		for b.Loop() {
			Scatter(dst, &at, ChainRound, buf)
		}
	})
}
