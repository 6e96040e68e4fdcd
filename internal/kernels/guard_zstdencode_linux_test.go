package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesZstdEncode runs the kernels that encode blocks of zstd between guard pages.
func TestGuardPagesZstdEncode(t *testing.T) {
	const most = 300
	const codeBytes = int(unsafe.Sizeof(SequenceCode{}))
	seqs, codes := newGuarded(t, most*sequenceBytes), newGuarded(t, most*codeBytes)
	content, input := newGuarded(t, sequenceRoom(most)), [2]guarded{newGuarded(t, most), newGuarded(t, most)}
	literals := newGuarded(t, sequenceRoom(most))
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(147, 148))
		for range scaled(3000) {
			n := r.IntN(most)
			placed := codes.put(r, make([]byte, n*codeBytes))
			dst := unsafe.Slice((*SequenceCode)(unsafe.Pointer(unsafe.SliceData(placed))), n)
			in := seqs.sequences(r, n)
			copy(in, repeatingSequences(r, n))
			trySequenceCodes(t, r, dst, in)
			tryEncodeSequences(t, r, dst, content.put(r, make([]byte, sequenceRoom(n))))

			rounds, maxBits := r.IntN(most/HuffmanWriteRound), 1+r.IntN(HuffmanBits)
			var src [2][]byte
			for i := range src {
				src[i] = input[i].put(r, make([]byte, rounds*HuffmanWriteRound))
				for k := range src[i] {
					src[i][k] = byte(r.Uint32())
				}
			}
			p := content.put(r, make([]byte, r.IntN(len(content))))
			runs := literalRuns(r, len(p), n%2 == 0)
			runs = runs[:min(len(runs), most)]
			in = seqs.sequences(r, len(runs))
			copy(in, runs)
			tryCopyLiterals(t, literals.put(r, make([]byte, r.IntN(len(literals)))), p, in)

			room := content.put(r, make([]byte, huffman2Room(rounds, maxBits)))
			tryHuffman2(t, r, room, src[0], src[1], maxBits, rounds)
		}
		// Arbitrary sequences count arbitrary codes.
		for range scaled(300) {
			in := seqs.sequences(r, r.IntN(most))
			for i := range in {
				in[i] = sequence{r.Uint32(), r.Uint32(), r.Uint32()}
			}
			placed := codes.put(r, make([]byte, len(in)*codeBytes))
			dst := unsafe.Slice((*SequenceCode)(unsafe.Pointer(unsafe.SliceData(placed))), len(in))
			var counts [2]CodeCounts
			SequenceCodes(dst, &counts[0], &[3]uint32{1, 4, 8}, new(LengthCodes), in)
			if counts[1] != (CodeCounts{}) {
				t.Fatal("the kernel has written behind the counters")
			}
		}
	})
}
