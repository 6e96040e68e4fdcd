package huffman

import (
	"encoding/binary"
	"math/bits"
)

// Decoder decodes with one table of 1<<MaxBits entries. It serves tests and tools, so it is simple
// rather than fast. The zero value is ready for ReadTree and the Init methods. A Decoder must not
// be used concurrently.
type Decoder struct {
	treeReader
	table [1 << MaxBits]uint16 // symbol<<4 | code length; 0 for no code
	log   uint                 // number of bits that index the table
}

// check checks that a prefix code with the given lengths exists and returns the maximum length.
// left is the unused code space, 0 for a complete code.
func check(lens []uint8) (longest uint8, left int, err error) {
	if len(lens) > MaxSymbols {
		return 0, 0, CorruptError("too many symbols")
	}
	left = 1 << MaxBits
	for _, l := range lens {
		if l > MaxBits {
			return 0, 0, CorruptError("code too long")
		}
		if l != 0 {
			left -= 1 << (MaxBits - l)
		}
		longest = max(longest, l)
	}
	if left < 0 {
		return 0, 0, CorruptError("too many codes")
	}
	return longest, left, nil
}

// InitDeflate prepares for a code of Deflate with the given lengths. It must be complete, or
// consist of a single code of one bit, or be empty. All errors are a CorruptError.
func (d *Decoder) InitDeflate(lens []uint8) error {
	longest, left, err := check(lens)
	if err != nil {
		return err
	}
	if left != 0 && (longest > 1 || left < 1<<(MaxBits-1)) {
		return CorruptError("incomplete code")
	}
	var codes [MaxSymbols]Code
	AssignDeflate(codes[:], lens)
	d.log = uint(longest)
	clear(d.table[:1<<d.log])
	for i, l := range lens {
		if l == 0 {
			continue
		}
		for j := int(codes[i].Bits()); j < 1<<d.log; j += 1 << l {
			d.table[j] = uint16(i)<<4 | uint16(l)
		}
	}
	return nil
}

// Symbol returns the symbol of the code in the low bits of window, and the length of the code. ok
// is false if there is none. It serves codes of Deflate.
func (d *Decoder) Symbol(window uint64) (symbol int, n uint, ok bool) {
	e := d.table[window&(1<<d.log-1)]
	return int(e >> 4), uint(e & 15), e != 0
}

// InitZstd prepares for a code of zstd with the given lengths. It must be complete and have at most
// 256 symbols. All errors are a CorruptError.
func (d *Decoder) InitZstd(lens []uint8) error {
	longest, left, err := check(lens)
	if err != nil {
		return err
	}
	if left != 0 {
		return CorruptError("incomplete code")
	}
	if len(lens) > 256 {
		return CorruptError("too many symbols")
	}
	// The entries of a code are adjacent, those of the longest codes first, then by symbol.
	d.log = uint(longest)
	at := 0
	for l := longest; l > 0; l-- {
		for i, li := range lens {
			if li != l {
				continue
			}
			for range 1 << (longest - l) {
				d.table[at] = uint16(i)<<4 | uint16(l)
				at++
			}
		}
	}
	return nil
}

// Decode4 decodes exactly len(dst) bytes from src, which consists of four streams with a jump
// table. All errors are a CorruptError.
func (d *Decoder) Decode4(dst, src []byte) error {
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
		if err := d.Decode1(dst[i*part:(i+1)*part], src[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return d.Decode1(dst[3*part:], src)
}

// Decode1 decodes exactly len(dst) bytes from src, which consists of one stream. All errors are a
// CorruptError.
func (d *Decoder) Decode1(dst, src []byte) error {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return CorruptError("end mark of the stream missing")
	}
	left := 8*len(src) - bits.LeadingZeros8(src[len(src)-1]) - 1
	for i := range dst {
		// The next bits, highest first. Zeros follow the end.
		var window uint64
		if at := (left + 7) >> 3; at >= 8 {
			window = binary.LittleEndian.Uint64(src[at-8:]) << (-left & 7)
		} else {
			for _, c := range src[:max(at, 0)] {
				window = window>>8 | uint64(c)<<56
			}
			window <<= -left & 7
		}
		e := d.table[window>>1>>(63-d.log)]
		dst[i] = byte(e >> 4)
		if left -= int(e & 15); left < 0 {
			return CorruptError("bits run out")
		}
	}
	if left != 0 {
		return CorruptError("bits left over")
	}
	return nil
}
