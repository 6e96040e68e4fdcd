package simd

import (
	"math/rand/v2"
	"testing"
)

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
