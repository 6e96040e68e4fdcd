package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// markDisplacementsNaively is the definition of MarkX86Displacements.
func markDisplacementsNaively(masks []uint64, p []byte) {
	for i := range masks {
		masks[i] = 0
		for k := range 64 {
			prefix, op, last := p[64*i+k], p[64*i+k+1], p[64*i+k+2]
			access := (prefix == 0x48 || prefix == 0x4c) && (op == 0x8b || op == 0x8d) &&
				last < 0x40 &&
				last%8 == 5
			if last == 0xe8 || last == 0xe9 || access {
				masks[i] |= 1 << k
			}
		}
	}
}

// displacementBytes returns n bytes. Most of them occur before displacements, or differ from such
// in one bit.
func displacementBytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		switch c := r.IntN(32); {
		case c < 30:
			p[i] = ("\x48\x4c\x8b\x8d\x05\x3d\x48\x8b\x0d\xe8\xe9" +
				"\x48\x8d\x35\xc5\x45\x89\x8f\x40\x68\x04\x07\xea\xc8\x00\xff\x01\x80\x7f\xcd")[c]
		default:
			p[i] = byte(r.Uint32())
		}
	}
	return p
}

func TestMarkX86Displacements(t *testing.T) {
	// All triples of bytes that qualify, or differ from such in one bit, at all positions in a
	// word.
	var p []byte
	for _, form := range []string{"\x48\x8b\x05", "\x4c\x8d\x3d", "\x00\x00\xe8", "\xff\xff\xe9"} {
		for bit := range 25 {
			q := []byte(form)
			if bit < 24 {
				q[bit/8] ^= 1 << (bit % 8)
			}
			for range 8 {
				p = append(append(p, q...), "\x48\x8b\x8d\x05\x00\xff"[len(p)%6])
			}
			p = append(p, 0)
		}
	}
	p = append(p, displacementBytes(rand.New(rand.NewPCG(41, 42)), 1<<18)...)
	want := make([]uint64, (len(p)-2)/64)
	markDisplacementsNaively(want, p)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(43, 44))
		got := make([]uint64, len(want))
		MarkX86Displacements(got, p)
		if !slices.Equal(got, want) {
			t.Fatal("masks differ from the definition")
		}
		for range scaled(500) {
			n, from := r.IntN(20), r.IntN(len(p)-20*64-2)
			got, want := make([]uint64, n+1), make([]uint64, n+1)
			got[n], want[n] = 7, 7
			markDisplacementsNaively(want[:n], p[from:])
			MarkX86Displacements(got[:n], p[from:])
			if !slices.Equal(got, want) {
				t.Fatalf("%d masks from byte %d: %x, want %x", n, from, got, want)
			}
		}
	})
}

func BenchmarkMarkX86Displacements(b *testing.B) {
	p := benchBytes(b, 64*64+2)
	masks := make([]uint64, 64)
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for range b.N {
			MarkX86Displacements(masks, p)
		}
	})
}
