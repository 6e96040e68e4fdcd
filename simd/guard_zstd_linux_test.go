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
			at, n := r.IntN(2)*r.IntN(60), r.IntN(40)
			if r.IntN(4) == 0 {
				n = 60 + r.IntN(100) // enough for the kernel to sample lengths
			}
			q, used, size := nearCopies(r, n, at, r.IntN(2)*3*n)
			dst := content.put(r, make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
			from := lits.put(r, make([]byte, max(0, used+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
			in := seqs.sequences(r, len(q))
			copy(in, q)
			runExecuteNear(t, dst, at, from, in)
			// Arbitrary numbers.
			for i := range in {
				in[i] = sequence{
					r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32),
				}
			}
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
