package huffman

import (
	"encoding/binary"
	"math/bits"
)

// reference decodes literals of zstd one bit at a time. Tests compare LiteralDecoder with it.
type reference map[Code]byte // byte of each code

// newReference returns the decoder of the code with the given lengths.
func newReference(lens *[256]uint8) reference {
	var codes [256]Code
	AssignZstd(codes[:], lens[:])
	r := reference{}
	for i, c := range codes {
		if c != 0 {
			r[c] = byte(i)
		}
	}
	return r
}

// decode1 decodes exactly len(dst) bytes from src, which consists of one stream.
func (r reference) decode1(dst, src []byte) error {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return errNoMark
	}
	left := 8*len(src) - bits.LeadingZeros8(src[len(src)-1]) - 1
	for i := range dst {
		found := false
		for v, n := uint64(0), uint(1); !found; n++ {
			left--
			if left < 0 {
				return CorruptError("bits run out")
			}
			v = v<<1 | uint64(src[left>>3]>>(left&7)&1)
			dst[i], found = r[MakeCode(v, n)]
		}
	}
	if left != 0 {
		return CorruptError("bits left over")
	}
	return nil
}

// decode4 decodes exactly len(dst) bytes from src, which consists of four streams with a jump
// table.
func (r reference) decode4(dst, src []byte) error {
	if len(src) < jumpTable || len(dst) < MinStreams4 {
		return CorruptError("too short for four streams")
	}
	part := (len(dst) + 3) / 4
	table, src := src[:jumpTable], src[jumpTable:]
	for i := range 3 {
		n := int(binary.LittleEndian.Uint16(table[2*i:]))
		if n > len(src) {
			return CorruptError("stream cut short")
		}
		if err := r.decode1(dst[i*part:(i+1)*part], src[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return r.decode1(dst[3*part:], src)
}
