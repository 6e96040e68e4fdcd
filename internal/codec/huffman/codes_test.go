package huffman

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// bitString returns the bits of a code in the order of the stream, for zstd highest bit first.
func bitString(c Code, reversed bool) string {
	v := c.Bits()
	if reversed {
		v = bits.Reverse64(v) >> (64 - c.Len())
	}
	return fmt.Sprintf("%0*b", int(c.Len()), v)
}

// The examples of RFC 1951, section 3.2.2, and RFC 8878, section 4.2.1.3.
func TestAssignExamples(t *testing.T) {
	var codes [8]Code
	AssignDeflate(codes[:], []uint8{3, 3, 3, 3, 3, 2, 4, 4})
	for i, want := range []string{"010", "011", "100", "101", "110", "00", "1110", "1111"} {
		if got := bitString(codes[i], true); got != want {
			t.Errorf("Deflate, symbol %d: %s, want %s", i, got, want)
		}
	}
	lens := []uint8{1, 2, 3, 0, 4, 4}
	AssignZstd(codes[:], lens)
	for i, want := range []string{"1", "01", "001", "", "0000", "0001"} {
		if lens[i] == 0 {
			if codes[i] != 0 {
				t.Errorf("zstd, symbol %d has a code", i)
			}
			continue
		}
		if got := bitString(codes[i], false); got != want {
			t.Errorf("zstd, symbol %d: %s, want %s", i, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range uint(57) {
		v := r.Uint64() & (1<<n - 1)
		if c := MakeCode(v, n); c.Len() != n || c.Bits() != v {
			t.Errorf("%d bits %#x: %d bits %#x", n, v, c.Len(), c.Bits())
		}
	}
}

// TestPrefixFree checks that no code is a prefix of another.
func TestPrefixFree(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		counts := randomCounts(r, 2+r.IntN(200))
		lens := make([]uint8, len(counts))
		if b.Lengths(lens, counts, 8+r.IntN(8)) < 1 || len(occurring(counts)) < 2 {
			continue
		}
		codes := make([]Code, len(lens))
		AssignDeflate(codes, lens)
		for i, c := range codes {
			if c.Len() != uint(lens[i]) {
				t.Fatalf("Deflate: symbol %d: %d bits, want %d", i, c.Len(), lens[i])
			}
			for j, e := range codes {
				if i != j && c != 0 && e.Len() >= c.Len() &&
					e.Bits()&(1<<c.Len()-1) == c.Bits() {
					t.Fatalf("Deflate: symbol %d's code begins that of %d", i, j)
				}
			}
		}
		AssignZstd(codes, lens)
		for i, c := range codes {
			if c.Len() != uint(lens[i]) {
				t.Fatalf("zstd: symbol %d: %d bits, want %d", i, c.Len(), lens[i])
			}
			for j, e := range codes {
				if i != j && c != 0 && e.Len() >= c.Len() &&
					e.Bits()>>(e.Len()-c.Len()) == c.Bits() {
					t.Fatalf("zstd: symbol %d's code begins that of %d", i, j)
				}
			}
		}
	}
}
