// Package x86 filters programs for x86 processors before compression. Instructions address
// functions and variables by a displacement, so that each use of one target has another number. The
// filter replaces the displacement by the target, which makes all calls of a function equal. The
// size does not change.
//
// The idea is that of the BCJ filter (branch, call, jump) of 7-Zip and the LZMA SDK by Igor Pavlov.
// Filtering loads, and the exact rule, are our own; docs/FORMAT.md specifies them under "Filter for
// x86".
//
// The filter works on ranges of content. It visits each position i of a range. It changes the four
// bytes behind i if two conditions hold:
//
//   - The last of the four is 00 or FF, the sign extension of a displacement of 25 bits.
//   - Byte i is the last one of an instruction before the displacement: E8 (call), E9 (jump), or
//     05, 0D, … 3D behind 48 or 4C and 8B (load) or 8D (address).
//
// The change adds i + 5, the position of the next instruction, modulo 2²⁵. It preserves everything
// that the conditions depend on. So the decoder can undo all steps in reverse order, whatever the
// content is and however instructions, or bytes that look like them, overlap.
//
// All functions may be used concurrently on different memory.
package x86

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
)

const (
	// stepSize is the size in bytes of what a step examines behind its position: the opcode's last
	// byte and the displacement.
	stepSize = 5
	// lookBehind is the number of bytes before its position on which a step may depend.
	lookBehind = 2
	// word is the number of positions examined together, and view that of the bytes they depend on.
	word = 8
	view = lookBehind + word + stepSize - 1

	call    = 0xe8 // or that plus 1
	modRM   = 0x05 // a register in bits 3 to 5, and a displacement
	modMask = 0xc7
	load    = 0x8b // into a register
	address = 0x8d // the address itself
	wide    = 0x48 // REX prefix of a 64-bit instruction
	regMask = 0xfb // without the bit for the upper eight registers

	// displacementBits is the size of a displacement including its sign.
	displacementBits = 25

	// chunk is the number of groups of 64 positions that decode marks with one call.
	chunk = 64

	lowBits = 0x0101010101010101 // the lowest bit of each byte
	topBits = 0x80 * lowBits
)

// checkpointBytes is the content in bytes between checkpoints. Programs take up to 10 ns a byte.
const checkpointBytes = 1 << 18

// encode filters a range in place, from the first position to the last.
func encode(p []byte, checkpoint func()) {
	for from := 0; from < len(p); from += checkpointBytes {
		view := p[:min(from+checkpointBytes+stepSize-1, len(p))]
		for i := nextCandidate(view, from); i >= 0; i = nextCandidate(view, i+1) {
			q := p[i+1 : i+stepSize]
			v := binary.LittleEndian.Uint32(q) + uint32(i+stepSize)
			binary.LittleEndian.PutUint32(q, extend(v))
		}
		if checkpoint != nil {
			checkpoint()
		}
	}
}

// decode undoes encode in place, from the last position to the first. p may be anything.
func decode(p []byte, checkpoint func()) {
	end := len(p) - stepSize + 1 // end of the positions still to decode
	var masks [chunk]uint64
	next := end - checkpointBytes
	for end >= lookBehind+64 {
		if end < next && checkpoint != nil {
			next = end - checkpointBytes
			checkpoint()
		}
		m := masks[:min(chunk, (end-lookBehind)/64)]
		begin := end - 64*len(m)
		// Steps at later positions do not change these marks.
		kernels.MarkX86Displacements(m, p[begin-lookBehind:])
		for k := len(m) - 1; k >= 0; k-- {
			group := p[begin+64*k:][:64+stepSize-1]
			for left := m[k]; left != 0; {
				i := bits.Len64(left) - 1
				left &^= 1 << i
				if q := group[i+1 : i+stepSize]; (q[3]+1)&0xfe == 0 {
					end := uint32(begin + 64*k + i + stepSize)
					binary.LittleEndian.PutUint32(q, extend(binary.LittleEndian.Uint32(q)-end))
				}
			}
		}
		end = begin
	}
	for i := end - 1; i >= 0; i-- {
		if candidate(p, i) {
			q := p[i+1 : i+stepSize]
			v := binary.LittleEndian.Uint32(q) - uint32(i+stepSize)
			binary.LittleEndian.PutUint32(q, extend(v))
		}
	}
}

// extend sign-extends a number of 25 bits.
func extend(v uint32) uint32 {
	const unused = 32 - displacementBits
	return uint32(int32(v<<unused) >> unused)
}

// candidate reports whether there is a step at i. Four bytes must follow.
func candidate(p []byte, i int) bool {
	switch c := p[i]; {
	case (p[i+stepSize-1]+1)&0xfe != 0:
		return false
	case c&0xfe == call:
		return true
	default:
		return c&modMask == modRM && i >= lookBehind &&
			(p[i-1] == load || p[i-1] == address) && p[i-2]&regMask == wide
	}
}

// candidates is candidate for eight positions at once. It returns the top bits of the bytes with a
// step. v holds two bytes before these positions and four behind them.
func candidates(v []byte) uint64 {
	_ = v[view-1]
	prefix, op := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[1:])
	last := binary.LittleEndian.Uint64(v[lookBehind:])
	high := binary.LittleEndian.Uint64(v[lookBehind+stepSize-1:])
	// In each of the following words a byte is 0 if its position meets the condition. 00 and FF are
	// the bytes whose bits equal their lower neighbours; that of the lowest bit is in another byte
	high = (high ^ high<<1) & (0xfe * lowBits)
	branch := high | (last^call*lowBits)&(0xfe*lowBits)
	op ^= load * lowBits // 0, or 6 for an address
	access := high | (last^modRM*lowBits)&(modMask*lowBits) |
		(prefix^wide*lowBits)&(regMask*lowBits) |
		op&(0xf9*lowBits) | (op^op>>1)&(2*lowBits)
	// The lowest bits of branch are 0.
	return (topBits-branch>>1)&topBits | ^((access&^topBits+0x7f*lowBits)|access)&topBits
}

// nextCandidate returns the first position from i on with a step, or -1.
func nextCandidate(p []byte, i int) int {
	for ; i < lookBehind && i+stepSize <= len(p); i++ {
		if candidate(p, i) {
			return i
		}
	}
	for ; i+word+stepSize-1 <= len(p); i += word {
		if m := candidates(p[i-lookBehind:][:view]); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i+stepSize <= len(p); i++ {
		if candidate(p, i) {
			return i
		}
	}
	return -1
}
