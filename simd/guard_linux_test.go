package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded is memory between two pages that cannot be accessed. A kernel that leaves its slices ends
// the test program with a fault.
type guarded []byte

func newGuarded(t testing.TB, size int) guarded {
	page := unix.Getpagesize()
	size = (size + page - 1) &^ (page - 1)
	m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[page+size:]} {
		if err := unix.Mprotect(p, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[page : page+size : page+size]
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

// TestGuardPagesBytes runs MatchLen, CRC32C and Histogram between guard pages.
func TestGuardPagesBytes(t *testing.T) {
	const most = 2000
	mem := [2]guarded{newGuarded(t, most), newGuarded(t, most)}
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

// TestGuardPagesPrefetch prefetches entries outside the table, with their numbers next to a guard
// page.
func TestGuardPagesPrefetch(t *testing.T) {
	const most = 100
	room, from := newGuarded(t, most), newGuarded(t, 4*most)
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
