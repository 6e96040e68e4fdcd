package pipeline

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// Blocks that cannot be compressed are detected early, because trying to compress takes longest on
// them. A block is taken for incompressible if a sample of its bytes is as evenly distributed as
// random bytes and it has no string of some length that occurs before, in the block or its window.
//
// Repeats are found with fingerprints: positions are chosen by a hash of the 8 bytes there, one in
// 64, and kept in a table by another hash of the same bytes. Both copies of a repeat choose the
// same positions, so a repeat of a few hundred bytes is very likely to be found.

const (
	sampleSize  = 1 << 13 // bytes of the sample; random ones have 7.977 ± 0.003 bits of entropy
	samplePiece = 256     // neighbouring bytes of the sample

	// maxEvenness is the largest sum of count·(count−1) over all byte values for which a sample
	// counts as random. Random bytes have n(n−1)/256 = 262,112 ± 1.4%. 2% more is about 7.96 bits
	// of entropy, which entropy coding would turn into a gain of half a percent.
	maxEvenness = sampleSize / 256 * (sampleSize - 1) * 102 / 100

	seenLog  = 12 // log2 of the entries of the table of fingerprints
	seenBits = 6  // −log2 of the part of the positions that are chosen

	chooseMul = 0x9E3779B185EBCA87 // hash that chooses positions
	indexMul  = 0xD6E8FEB86659FD93 // hash that selects the table entry
)

// checkpointPositions is the number of positions between checkpoints of a search for repeats.
const checkpointPositions = 1 << 20

// fingerprints holds positions plus one, 0 for none.
type fingerprints [1 << seenLog]uint32

// incompressible reports whether src[window:] is not worth trying. Matches may reach into the
// window in front of it.
func (ws *workspace) incompressible(src []byte, window int) bool {
	content := src[window:]
	if len(content) < 2*sampleSize {
		return false
	}
	var counts [256]uint32
	step := (len(content) - samplePiece) / (sampleSize/samplePiece - 1)
	for i := range sampleSize / samplePiece {
		simd.Histogram(&counts, content[i*step:i*step+samplePiece])
	}
	sum := 0
	for _, c := range counts {
		sum += int(c) * (int(c) - 1)
	}
	return sum < maxEvenness && !ws.repeats(src, window)
}

// repeats reports whether a string of src[window:] that is worth a match occurs before in src.
func (ws *workspace) repeats(src []byte, window int) bool {
	clear(ws.seen[:])
	found := 0
	next := checkpointPositions
	for i := 0; i+16 <= len(src); i++ {
		if i == next {
			next += checkpointPositions
			ws.checkpoint()
		}
		v := binary.LittleEndian.Uint64(src[i:])
		h := v * chooseMul
		if h>>(64-seenBits) != 0 {
			continue
		}
		entry := &ws.seen[bits.Reverse64(v*indexMul)>>(64-seenLog)]
		c := int(*entry) - 1
		if c >= 0 && i >= window && binary.LittleEndian.Uint64(src[c:]) == v {
			found++
			if found > 2 {
				return true
			}
		}
		*entry = uint32(i) + 1
	}
	return false
}

// repeatsDictionary reports whether the block, the first of a frame, repeats content of a
// dictionary.
func (ws *workspace) repeatsDictionary(b *Block) bool {
	if b.run.cfg.Dictionary == nil || b.Window > 0 {
		return false
	}
	content := b.content()
	src, start := ws.behindDictionary(b, len(content))
	pieces.Copy(src[start:], content, ws.check)
	return ws.repeats(src, start)
}

// farDistance is the least distance in bytes of repeats that a sample does not show.
const farDistance = sampleWindow / 2

// Parts of a block in 1/partUnit.
const (
	partUnit    = 1 << 10
	fewRepeats  = partUnit / 64 // of a block that counts as one without repeats
	manyRepeats = partUnit / 4  // of a block that is unlike its sample
)

// farRepeats returns the part of src, in 1/partUnit, that strings of n bytes, 8 … 64, are that
// occurred at least distance bytes before. It looks at as many positions as the table of
// fingerprints has room for.
func (ws *workspace) farRepeats(src []byte, n, distance int) (part int) {
	clear(ws.seen[:])
	chosen := uint(max(seenBits, bits.Len(uint(len(src)))-seenLog))
	found, looked := 0, 0
	next := checkpointPositions
	for i := 0; i+n <= len(src); i++ {
		if i == next {
			next += checkpointPositions
			ws.checkpoint()
		}
		v := binary.LittleEndian.Uint64(src[i:])
		if v*chooseMul>>(64-chosen) != 0 {
			continue
		}
		looked++
		for k := 8; k < n; k += 8 {
			v = v*0xC2B2AE3D27D4EB4F + binary.LittleEndian.Uint64(src[i+min(k, n-8):])
		}
		entry := &ws.seen[v*indexMul>>(64-seenLog)]
		if c := int(*entry) - 1; c >= 0 && i-c >= distance && simd.MatchLen(src[c:], src[i:i+n]) == n {
			found++
		}
		*entry = uint32(i) + 1
	}
	return int(uint64(found) * partUnit / uint64(max(looked, 1)))
}
