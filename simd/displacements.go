package simd

import "encoding/binary"

// MarkX86Displacements looks for instructions of x86 that name a place by its distance, 64 places for each mask: bit k mod 64 of masks[k/64] says whether byte k + 2 of p is what such an instruction has
// in front of the distance. That is E8 or E9; or 05, 0D, … 3D behind 48 or 4C and 8B or 8D. p has two bytes more than there are places; it may be longer. All masks are overwritten.
func MarkX86Displacements(masks []uint64, p []byte) {
	p = p[:bytesBefore+64*len(masks)]
	if len(masks) > 0 && !markDisplacementsKernel(masks, p) {
		markDisplacements(masks, p)
	}
}

// branchesBefore is how many bytes in front of its place an instruction has.
const bytesBefore = 2

// branches is the portable twin of the vector kernel: eight places at once.
func markDisplacements(masks []uint64, p []byte) {
	const (
		each = 0x0101010101010101 // a bit of each byte
		tops = 0x80 * each
	)
	for i := range masks {
		q := p[64*i:][:64+bytesBefore]
		m := uint64(0)
		for k := 56; k >= 0; k -= 8 {
			// Of the numbers that follow a byte is 0 if the place has what is asked for.
			last := binary.LittleEndian.Uint64(q[k+2:])
			op := binary.LittleEndian.Uint64(q[k+1:]) ^ 0x8b*each // 0, or 6
			branch := (last ^ 0xe8*each) & (0xfe * each)          // no byte has the lowest bit
			access := (last^0x05*each)&(0xc7*each) | (binary.LittleEndian.Uint64(q[k:])^0x48*each)&(0xfb*each) | op&(0xf9*each) | (op^op>>1)&(2*each)
			found := ((tops - branch>>1) | ^((access&^tops + 0x7f*each) | access)) & tops
			m = m<<8 | (found>>7)*0x0102040810204080>>56
		}
		masks[i] = m
	}
}
