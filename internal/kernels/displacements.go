package kernels

import "encoding/binary"

// MarkX86Displacements finds the instructions of x86-64 programs that hold a 32-bit displacement
// relative to the next instruction. The filter for programs (internal/x86) replaces these
// displacements by addresses.
//
// A place qualifies by the byte before the displacement and up to two more:
//
//	E8, E9                   call, jump
//	48|4C, 8B|8D, 05 … 3D    load, or address of, a variable: REX prefix, opcode, ModRM with RIP
//
// The kernel compares 32 places a step with vectors and gathers the results with VPMOVMSKB. The
// portable twin handles eight places in a 64-bit word: it makes a number whose byte k is zero if
// place k qualifies, and then finds the zero bytes.

// bytesBefore is the number of bytes of an instruction before the byte that a mask bit stands for.
const bytesBefore = 2

// MarkX86Displacements overwrites all masks. Bit k mod 64 of masks[k/64] says whether a
// displacement may follow byte k+2 of p: whether that byte is E8 or E9, or has the form 00xxx101
// binary and follows 48 or 4C, and 8B or 8D. p must have at least 64·len(masks) + 2 bytes.
func MarkX86Displacements(masks []uint64, p []byte) {
	p = p[:bytesBefore+64*len(masks)]
	if len(masks) > 0 && !markDisplacementsKernel(masks, p) {
		markDisplacements(masks, p)
	}
}

// markDisplacements is the portable twin of the kernel.
func markDisplacements(masks []uint64, p []byte) {
	const (
		each = 0x0101010101010101 // bit 0 of each byte
		tops = 0x80 * each        // bit 7 of each byte
	)
	for i := range masks {
		q := p[64*i:][:64+bytesBefore]
		m := uint64(0)
		for k := 56; k >= 0; k -= 8 {
			// In branch and access, a byte is 0 if its place qualifies.
			last := binary.LittleEndian.Uint64(q[k+2:])
			op := binary.LittleEndian.Uint64(q[k+1:]) ^ 0x8b*each // 0 for 8B, 6 for 8D
			prefix := binary.LittleEndian.Uint64(q[k:])
			branch := (last ^ 0xe8*each) & (0xfe * each) // bit 0 of each byte is clear
			access := (last^0x05*each)&(0xc7*each) | (prefix^0x48*each)&(0xfb*each) |
				op&(0xf9*each) | (op^op>>1)&(2*each)
			found := ((tops - branch>>1) | ^((access&^tops + 0x7f*each) | access)) & tops
			m = m<<8 | (found>>7)*0x0102040810204080>>56
		}
		masks[i] = m
	}
}
