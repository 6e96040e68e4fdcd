package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesInflate runs the kernels for Deflate between guard pages.
func TestGuardPagesInflate(t *testing.T) {
	content, input := newGuarded(t, 60_000), newGuarded(t, 3000)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(133, 134))
		for i := range scaled(1500) {
			src := make([]byte, r.IntN(3000))
			for k := range src {
				src[k] = byte(r.Uint32())
			}
			src = input.put(r, src)
			if i%2 == 0 {
				tryInflate(t, r, src, content.put(r, make([]byte, r.IntN(30_000))), Inflate)
				continue
			}
			room := content.put(r, make([]byte, 2*r.IntN(30_000)))
			first := (*uint16)(unsafe.Pointer(unsafe.SliceData(room)))
			tryInflate(t, r, src, unsafe.Slice(first, len(room)/2), InflateSymbols)
		}
	})
}

// TestGuardPagesSymbols runs ResolveSymbols between guard pages, which the table has too.
func TestGuardPagesSymbols(t *testing.T) {
	const most = 500
	content, input := newGuarded(t, most), newGuarded(t, 2*most)
	tables := newGuarded(t, len(SymbolTable{}))
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(137, 138))
		table := (*SymbolTable)(tables.last(randomSymbolTable(r)[:]))
		for range scaled(2000) {
			symbols, want, invalid := randomSymbols(r, r.IntN(most), table)
			room := input.put(r, make([]byte, 2*len(symbols)))
			s := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(room))), len(symbols))
			copy(s, symbols)
			trySymbols(t, content.put(r, make([]byte, len(s))), s, table, want, invalid)
		}
	})
}

// TestGuardPagesZstd runs the kernels for zstd between guard pages.
func TestGuardPagesZstd(t *testing.T) {
	const most = 300
	content, lits := newGuarded(t, 100_000), newGuarded(t, 50_000)
	seqs := newGuarded(t, 2*most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(129, 130))
		random := func(n int) []byte {
			p := make([]byte, n)
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			return p
		}
		for range scaled(5000) {
			dst, from, in := tryCopies(t, r, content, lits, seqs, nearCopies, runExecuteNear)
			ExecuteNear(dst, r.IntN(len(dst)+50), from, in)
		}
		for range scaled(2000) {
			rounds := 1 + r.IntN(40)
			src := lits.put(r, random(8+HuffmanRoundInput*rounds+r.IntN(20)))
			dst := content.put(r, make([]byte, huffmanSize(rounds)))
			tryHuffman4(t, r, src, dst, rounds)
			tryDecodeSequences(t, r, lits.put(r, random(r.IntN(400))), seqs.sequences(r, r.IntN(most)))
		}
	})
}
