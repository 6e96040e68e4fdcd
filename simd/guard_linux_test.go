package simd

import (
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/gopz/compress/internal/testenv"
)

// guarded is memory between two pages that cannot be accessed. A kernel that leaves its slices ends
// the test program with a fault.
type guarded []byte

func newGuarded(t testing.TB) guarded { return testenv.Guarded(t, os.Getpagesize()) }

// put returns a copy of p at one of the two ends.
func (g guarded) put(r *rand.Rand, p []byte) []byte {
	if r.IntN(2) == 0 {
		n := copy(g, p)
		return g[:n:n]
	}
	return g[len(g)-copy(g[len(g)-len(p):], p):]
}

// TestGuardPagesBytes runs MatchLen, CRC32C and Histogram between guard pages.
func TestGuardPagesBytes(t *testing.T) {
	const most = 2000
	mem := [2]guarded{newGuarded(t), newGuarded(t)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		for range scaled(20_000) {
			p := make([]byte, r.IntN(most+1))
			if r.IntN(2) == 0 {
				p = p[:min(len(p), r.IntN(140))]
			}
			for i := range p {
				p[i] = byte(r.Uint32N(3))
			}
			a, b := mem[0].put(r, p), mem[1].put(r, p)
			want := len(p)
			if n := r.IntN(2*len(p) + 1); n < len(p) {
				b[n] ^= 0x40
				want = n
			}
			if got := MatchLen(a, b); got != want {
				t.Fatalf("MatchLen with %d of %d bytes equal: %d", want, len(p), got)
			}
			if CRC32C(1, a) != crcBits(1, a) {
				t.Fatalf("CRC32C of %d bytes differs", len(a))
			}
			var counts, naive [256]uint32
			for _, c := range b {
				naive[c]++
			}
			Histogram(&counts, b)
			if counts != naive {
				t.Fatalf("Histogram of %d bytes differs", len(b))
			}
		}
	})
}

// TestGuardPagesPrefetch prefetches entries outside the table, with their numbers next to a guard
// page.
func TestGuardPagesPrefetch(t *testing.T) {
	const most = 100
	room, from := newGuarded(t), newGuarded(t)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(95, 96))
		for range scaled(2000) {
			table := room.put(r, make([]byte, r.IntN(most+1)))
			placed := from.put(r, make([]byte, 4*r.IntN(most+1)))
			for i := range placed {
				placed[i] = byte(r.Uint32())
			}
			at := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(placed))), len(placed)/4)
			Prefetch(table, at, ^uint32(0))
			Prefetch(table, at, r.Uint32()>>r.IntN(32))
		}
	})
}
