package kernels

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/gopz/compress/internal/testenv"
)

// guarded is memory between two pages that cannot be accessed. A kernel that leaves its slices ends
// the test program with a fault.
type guarded []byte

func newGuarded(t testing.TB, size int) guarded {
	page := os.Getpagesize()
	return testenv.Guarded(t, (size+page-1)&^(page-1))
}

// last returns a copy of p right before the second page, first one right behind the first page.
func (g guarded) last(p []byte) []byte  { return g[len(g)-copy(g[len(g)-len(p):], p):] }
func (g guarded) first(p []byte) []byte { n := copy(g, p); return g[:n:n] }

// put returns a copy of p at one of the two ends.
func (g guarded) put(r *rand.Rand, p []byte) []byte {
	if r.IntN(2) == 0 {
		return g.first(p)
	}
	return g.last(p)
}

// sequences returns room for n sequences at one of the two ends.
func (g guarded) sequences(r *rand.Rand, n int) []sequence {
	p := g.put(r, make([]byte, n*sequenceBytes))
	return unsafe.Slice((*sequence)(unsafe.Pointer(unsafe.SliceData(p))), n)
}

const sequenceBytes = int(unsafe.Sizeof(sequence{}))

// TestGuardPagesMarkX86Displacements checks that no more is read than the documented bytes, and no
// more is written than the masks.
func TestGuardPagesMarkX86Displacements(t *testing.T) {
	const most = 30
	mem := newGuarded(t, most*64+2)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(19, 20))
		for range scaled(2000) {
			n := r.IntN(most + 1)
			p := mem.put(r, displacementBytes(r, 64*n+2))
			got, want := make([]uint64, n+1), make([]uint64, n+1)
			markDisplacementsNaively(want[:n], p)
			MarkX86Displacements(got[:n], p)
			if !slices.Equal(got, want) {
				t.Fatalf("%d masks differ", n)
			}
		}
	})
}

// TestGuardPagesDeinterleave moves symbols between guard pages.
func TestGuardPagesDeinterleave(t *testing.T) {
	const rounds = 40
	to, from := newGuarded(t, 2*rounds*CtxRound), newGuarded(t, rounds*CtxRound)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(57, 58))
		for range scaled(2000) {
			n := r.IntN(rounds + 1)
			tryDeinterleave(t, r, to.put(r, make([]byte, n*CtxRound+r.IntN(n*CtxRound+1))),
				from.put(r, make([]byte, n*CtxRound)))
		}
	})
}
