package pipeline

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/simd"
)

// Blocks that cannot be compressed are told early, because finding that out by trying takes longest on just these. A block is taken for
// such if a sample of its bytes is as evenly spread as random ones are and no longer piece of it occurs twice.

const (
	sampleSize  = 1 << 13 // bytes of the sample; random ones then have 7.977 ± 0.003 bits of entropy each
	samplePiece = 256     // bytes taken from one place

	// pairSum is how evenly spread the sample may be at the most: the sum of count·(count−1) over all byte values. For random bytes it
	// is n(n−1)/256 = 262,112 ± 1.4%; 2% more is about 7.96 bits of entropy, which coding would turn into a gain of half a percent.
	pairSum = sampleSize / 256 * (sampleSize - 1) * 102 / 100

	seenLog  = 12 // log2 of the places in the table of fingerprints
	seenBits = 6  // one position in 64 leaves a fingerprint, chosen by the bytes there
)

// fingerprints holds the position of 8-byte strings chosen by their contents, plus one.
type fingerprints [1 << seenLog]uint32

// incompressible reports whether src is not worth trying.
func (ws *workspace) incompressible(src []byte) bool {
	if len(src) < 2*sampleSize {
		return false
	}
	var counts [256]uint32
	step := (len(src) - samplePiece) / (sampleSize/samplePiece - 1)
	for i := range sampleSize / samplePiece {
		simd.Histogram(&counts, src[i*step:i*step+samplePiece])
	}
	sum := 0
	for _, c := range counts {
		sum += int(c) * (int(c) - 1)
	}
	return sum < pairSum && !ws.repeats(src)
}

// repeats reports whether src has two equal pieces that are worth a match. The positions compared are chosen by what stands there,
// so that both copies of a piece choose the same ones; a piece of a few hundred bytes is very likely to be found.
func (ws *workspace) repeats(src []byte) bool {
	clear(ws.seen[:])
	found := 0
	for i := 0; i+16 <= len(src); i++ {
		v := binary.LittleEndian.Uint64(src[i:])
		h := v * 0x9E3779B185EBCA87
		if h>>(64-seenBits) != 0 {
			continue
		}
		place := &ws.seen[bits.Reverse64(v*0xD6E8FEB86659FD93)>>(64-seenLog)]
		if c := int(*place) - 1; c >= 0 && binary.LittleEndian.Uint64(src[c:]) == v {
			if found++; found > 2 {
				return true
			}
		}
		*place = uint32(i) + 1
	}
	return false
}
