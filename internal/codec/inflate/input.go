package inflate

import "encoding/binary"

// An input is the source of one call and the bit buffer. Bits above the valid ones are zero or the
// bits that follow in src.
type input struct {
	src   []byte
	at    int // next byte of src
	bits  uint64
	count uint // valid bits, at most 63
	short bool // src has been used up, and the next item is incomplete
}

// refill makes at least 56 bits valid, or all that are left.
func (in *input) refill() {
	if len(in.src)-in.at >= 8 {
		in.bits |= binary.LittleEndian.Uint64(in.src[in.at:]) << (in.count & 63)
		in.at += 7 - int(in.count>>3&7)
		in.count |= 56
		return
	}
	for in.count < 56 && in.at < len(in.src) {
		in.bits |= uint64(in.src[in.at]) << (in.count & 63)
		in.at++
		in.count += 8
	}
}

// need reports whether n bits are valid, after a refill where necessary. n is at most 56.
func (in *input) need(n uint) bool {
	if in.count >= n {
		return true
	}
	in.refill()
	in.short = in.count < n
	return !in.short
}

// takeBits consumes n valid bits.
func (in *input) takeBits(n uint) uint {
	value := in.bits & (1<<(n&63) - 1)
	in.bits >>= n & 63
	in.count -= n
	return uint(value)
}

// unread returns whole bytes to src, unless they belong to an incomplete item.
func (in *input) unread() {
	if !in.short {
		n := min(int(in.count>>3), in.at)
		in.at -= n
		in.count -= uint(n) << 3
	}
	in.bits &= 1<<(in.count&63) - 1
}
