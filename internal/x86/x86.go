// Package x86 is a filter for programs of x86 processors: instructions name a place by its distance, and so the same function, or variable, by another number each time. The filter
// puts the place there instead, which makes of all calls of a function the same five bytes. What comes out has the same size and compresses better.
//
// The idea is that of the filter BCJ (branch, call, jump) of 7-Zip and the LZMA SDK by Igor Pavlov; that loads are filtered too, and the rule, are our own: docs/FORMAT.md, "Filter for
// x86". Content is filtered in ranges. There is a step for each place i of a range, which changes the four bytes behind it if the last of them is 00 or FF, which is the sign of a distance of 25
// bits, and if byte i ends an instruction but for the distance: E8 (call), E9 (jump), or 05, 0D, … 3D behind 48 or 4C and 8B (load) or 8D (address). A step adds i + 5, where the next
// instruction begins, modulo 2²⁵. It leaves as they are what it depends on: the bytes up to i, and that the last of the four is one of two. So each step can be undone without knowing more, and
// all can in the opposite order, whatever the content is and however instructions, or what looks like them, overlap.
//
// Functions are safe for concurrent use on different memory.
package x86

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/simd"
)

const (
	// size of what a step is about in bytes: the last byte in front of the distance, and the distance.
	size = 5
	// before is how many bytes in front of its place a step may depend on.
	before = 2
	// word is how many places are looked at together, with what is before and behind them.
	word = 8
	view = before + word + size - 1

	call    = 0xe8 // or that and 1
	modRM   = 0x05 // a register in bits 3 to 5, and an address by its distance
	modMask = 0xc7
	load    = 0x8b // into a register
	address = 0x8d // the same of the address itself
	wide    = 0x48 // prefix of an instruction on 64 bits
	regMask = 0xfb // without the bit for another eight registers

	// Distances have bits less one bits and a sign.
	numberBits = 25

	// chunk is how many times 64 places are looked over at once in decoding.
	chunk = 64

	each = 0x0101010101010101 // a bit of each byte
	tops = 0x80 * each
)

// encode filters a range in place: the steps of all places from the first to the last.
func encode(p []byte) {
	for i := next(p, 0); i >= 0; i = next(p, i+1) {
		q := p[i+1 : i+size]
		binary.LittleEndian.PutUint32(q, extend(binary.LittleEndian.Uint32(q)+uint32(i+size)))
	}
}

// decode undoes encode, in place: the steps of all places from the last to the first. Any p is something that encode may have given.
func decode(p []byte) {
	end := len(p) - size + 1 // of the places that are left
	var masks [chunk]uint64
	for end >= before+64 {
		m := masks[:min(chunk, (end-before)/64)]
		begin := end - 64*len(m)
		// Steps of places further on do not change this.
		simd.MarkX86Displacements(m, p[begin-before:])
		for k := len(m) - 1; k >= 0; k-- {
			group := p[begin+64*k:][:64+size-1]
			for left := m[k]; left != 0; {
				i := bits.Len64(left) - 1
				left &^= 1 << i
				if q := group[i+1 : i+size]; (q[3]+1)&0xfe == 0 {
					binary.LittleEndian.PutUint32(q, extend(binary.LittleEndian.Uint32(q)-uint32(begin+64*k+i+size)))
				}
			}
		}
		end = begin
	}
	for i := end - 1; i >= 0; i-- {
		if candidate(p, i) {
			q := p[i+1 : i+size]
			binary.LittleEndian.PutUint32(q, extend(binary.LittleEndian.Uint32(q)-uint32(i+size)))
		}
	}
}

// extend makes a number of 25 bits with a sign one of 32 bits.
func extend(v uint32) uint32 {
	const unused = 32 - numberBits
	return uint32(int32(v<<unused) >> unused)
}

// candidate reports whether there is a step to do at i, where there are four bytes behind.
func candidate(p []byte, i int) bool {
	switch c := p[i]; {
	case (p[i+size-1]+1)&0xfe != 0:
		return false
	case c&0xfe == call:
		return true
	default:
		return c&modMask == modRM && i >= before && (p[i-1] == load || p[i-1] == address) && p[i-2]&regMask == wide
	}
}

// candidates is candidate for eight places at once: the top bits of the bytes where there is a step to do. The view has two bytes before these places, and four behind.
func candidates(v []byte) uint64 {
	_ = v[view-1]
	prefix, op := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[1:])
	last, high := binary.LittleEndian.Uint64(v[before:]), binary.LittleEndian.Uint64(v[before+size-1:])
	// Of all numbers that follow a byte is 0 if the place has what is asked for.
	high = (high ^ high<<1) & (0xfe * each) // 00 and FF are the bytes of which each bit is like the next lower one; of the lowest bit that is in another byte
	branch := high | (last^call*each)&(0xfe*each)
	op ^= load * each // 0, or 6 for an address
	access := high | (last^modRM*each)&(modMask*each) | (prefix^wide*each)&(regMask*each) | op&(0xf9*each) | (op^op>>1)&(2*each)
	// Of branch the lowest bits are 0.
	return (tops-branch>>1)&tops | ^((access&^tops+0x7f*each)|access)&tops
}

// next returns the first place from i on where there is a step to do, or -1.
func next(p []byte, i int) int {
	for ; i < before && i+size <= len(p); i++ {
		if candidate(p, i) {
			return i
		}
	}
	for ; i+word+size-1 <= len(p); i += word {
		if m := candidates(p[i-before:][:view]); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i+size <= len(p); i++ {
		if candidate(p, i) {
			return i
		}
	}
	return -1
}
