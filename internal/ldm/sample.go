package ldm

import (
	"encoding/binary"
	"math/bits"
)

// samples are the positions of a block that the finder looks up. The bytes at a position decide
// whether it is one, so that both copies of a repeat have the same positions.
type samples struct {
	at   []uint32 // ascending
	hash []uint64 // of the bytes from there
}

const (
	// sampleBits is −log2 of the part of the positions that are samples. With 6 in place of 7 two
	// versions of a tree of sources take 0.3% less, and the table and its use take twice as much.
	sampleBits = 7
	// sampled is the number of bytes that the hash of a sample covers. With 32 in place of 64 twice
	// as many candidates of mixed data turn out to be too short.
	sampled = 64
	// sampleGap is the least distance of two samples in bytes. It bounds their number where the
	// content has a short period.
	sampleGap = 32

	// checkpointBytes is the number of bytes between checkpoints.
	checkpointBytes = 1 << 20
)

// samplesMemory returns the most bytes that the samples of a block take. A slice that has grown by
// appending leaves its old memory.
func samplesMemory(blockSize int) int64 { return 2 * 12 * int64(blockSize/sampleGap+1) }

func (s *samples) reset() { s.at, s.hash = s.at[:0], s.hash[:0] }

// choose appends the samples of p.
func (s *samples) choose(p []byte, checkpoint func()) {
	end := len(p) - sampled + 1
	for from := 0; from < end; {
		from = s.chooseIn(p, from, min(from+checkpointBytes, end))
		if checkpoint != nil {
			checkpoint()
		}
	}
}

// Eight bytes are compared at once, one in each lane of a word.
const (
	lanes = 0x0101010101010101
	low   = 0x7f * lanes
	high  = 0x80 * lanes
	// chosen is the value of seven bits that makes a position a sample. It is not 0, so that runs
	// of one byte, which LZ77 codes best, have no samples if that byte is 0.
	chosen = 0x55 * lanes
)

// chooseIn appends the samples in [i, to). It returns where to go on, which may be a little
// further. p has at least sampled−1 bytes behind to.
func (s *samples) chooseIn(p []byte, i, to int) int {
	for i < to {
		hits := sampleHits((*[16]byte)(p[i:]))
		if hits == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(hits) / 8; i >= to {
			break
		}
		s.at = append(s.at, uint32(i))
		s.hash = append(s.hash, hash((*[sampled]byte)(p[i:])))
		i += sampleGap
	}
	return i
}

// sampleHits returns a word with the highest bit of lane k set if position k of q is a sample: if
// seven bits of a linear function of six bytes from there have the chosen value. Every shift stays
// in its lane, so the result does not depend on where q begins.
func sampleHits(q *[16]byte) uint64 {
	le := binary.LittleEndian
	x := le.Uint64(q[0:]) ^ le.Uint64(q[3:])
	y := le.Uint64(q[1:]) ^ le.Uint64(q[5:])
	z := le.Uint64(q[2:]) ^ le.Uint64(q[7:])
	x ^= y<<2&(0xfc*lanes) ^ z>>2&(0x3f*lanes)
	return ^((x&low ^ chosen) + low) & high
}

const hashMul = 0xD6E8FEB86659FD93

// hash returns the hash of the bytes at a sample.
func hash(p *[sampled]byte) uint64 {
	h := uint64(0)
	for i := 0; i < sampled; i += 8 {
		h = (bits.RotateLeft64(h, 29) ^ binary.LittleEndian.Uint64(p[i:])) * hashMul
	}
	return h ^ h>>32
}
