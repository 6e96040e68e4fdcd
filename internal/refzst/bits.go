package refzst

import (
	"encoding/binary"
	"math/bits"
)

// An input is a part of a block, which is read from its beginning.
type input struct{ data []byte }

func (in *input) take(n int) []byte {
	check(n <= len(in.data), "a part of it ends early")
	b := in.data[:n]
	in.data = in.data[n:]
	return b
}

func (in *input) byte() byte { return in.take(1)[0] }

// number reads a little-endian number of n bytes, at most 8.
func (in *input) number(n int) uint64 {
	var b [8]byte
	copy(b[:], in.take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// bits reads n bits from bit *at on, least significant bit of the first byte first. It consumes no
// bytes. Bits behind the end are zero.
func (in *input) bits(at *int, n int) int {
	x := 0
	for i := range n {
		if *at/8 < len(in.data) {
			x |= int(in.data[*at/8]>>(*at%8)&1) << i
		}
		*at++
	}
	return x
}

// A backward reads bits from the end of a stream to its beginning. The highest set bit of the last
// byte is a mark in front of the first bit.
type backward struct {
	padded []byte // the stream between 8 zeros and 8 zeros
	left   int    // bits; negative if more were read than there are
}

func newBackward(stream []byte) *backward {
	n := len(stream)
	check(n > 0 && stream[n-1] != 0, "a stream of bits has no end mark")
	padded := make([]byte, n+16)
	copy(padded[8:], stream)
	return &backward{padded, 8*n - 9 + bits.Len8(stream[n-1])}
}

// peek returns the next n bits, at most 32. Bits in front of the stream are zero.
func (r *backward) peek(n int) uint64 {
	at := max(0, 64+r.left-n)
	return binary.LittleEndian.Uint64(r.padded[at/8:]) >> (at % 8) & (1<<n - 1)
}

// take reads n bits, at most 32.
func (r *backward) take(n int) uint64 {
	x := r.peek(n)
	r.left -= n
	return x
}

// checkEnd fails if not exactly all bits were read.
func (r *backward) checkEnd() { check(r.left == 0, "a stream of bits has another length") }
