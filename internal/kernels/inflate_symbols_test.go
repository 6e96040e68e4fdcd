package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// randomSymbols returns n symbols and the bytes they stand for. One in rare is not a byte. invalid
// is the first one that is not in the table, or n.
func randomSymbols(r *rand.Rand, n int, table *SymbolTable) (s []uint16, want []byte, invalid int) {
	s, want, invalid = make([]uint16, n), make([]byte, n), n
	rare := 1 + r.IntN(1+r.IntN(1000))
	for i := range s {
		s[i] = uint16(r.IntN(256))
		if r.IntN(rare) == 0 {
			s[i] = uint16(r.IntN(len(table)))
		}
		want[i] = table[s[i]]
	}
	if n > 0 && r.IntN(3) == 0 {
		invalid = r.IntN(n)
		s[invalid] = uint16(len(table) + r.IntN(1<<16-len(table)))
	}
	return s, want, invalid
}

// trySymbols resolves symbols at the given places of memory.
func trySymbols(t *testing.T, dst []byte, s []uint16, table *SymbolTable, want []byte, end int) {
	t.Helper()
	end &^= symbolGroup - 1
	if n := ResolveSymbols(dst, s, table); n != end || !bytes.Equal(dst[:n], want[:n]) {
		t.Fatalf("%d of %d symbols, want %d, or other bytes", n, len(s), end)
	}
}

func randomSymbolTable(r *rand.Rand) *SymbolTable {
	table := new(SymbolTable)
	for i := range table {
		table[i] = byte(i)
		if i > 255 {
			table[i] = byte(r.Uint32())
		}
	}
	return table
}

func TestResolveSymbols(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(135, 136))
		table := randomSymbolTable(r)
		for i := range scaled(2000) {
			n := r.IntN(500)
			if i%200 == 0 { // more than one call of the assembly
				n = 300_000 + r.IntN(1000)
			}
			s, want, invalid := randomSymbols(r, n, table)
			trySymbols(t, make([]byte, n), s, table, want, invalid)
		}
	})
}
