package inflate

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/kernels"
)

const (
	// fastInput is the least input of the fast loop, in bytes.
	fastInput = kernels.InflateInput

	// fastRoom is the least room of the fast loop, in bytes.
	fastRoom = kernels.InflateRoom
)

// shortOffsets has a factor and a step for each offset below eight. The factor repeats the first
// offset bytes of a word throughout the word. The step is the largest multiple of the offset up to
// eight, so the same word continues a match after it.
var shortOffsets = [8]struct {
	factor uint64
	step   int
}{
	1: {0x01_01_01_01_01_01_01_01, 8},
	2: {0x00_01_00_01_00_01_00_01, 8},
	3: {0x00_01_00_00_01_00_00_01, 6},
	4: {0x00_00_00_01_00_00_00_01, 8},
	5: {0x00_00_01_00_00_00_00_01, 5},
	6: {0x00_01_00_00_00_00_00_01, 6},
	7: {0x01_00_00_00_00_00_00_01, 7},
}

// # Fast loop
//
// The fast loop is a kernel of package kernels. Its portable twin is here. Both decode the same
// symbols from the same tables. They may stop at different symbols: the careful loop goes on there.
//
// The kernel loads the entry of the next literal or length and that of an offset, before it tests
// which of them comes next. So after a mispredicted branch the right entry is on its way already.
//
// A refill makes at least 56 bits valid. That is enough for two literals from the primary table and
// a length with its extra bits (11 + 11 + 20), or for three literals, or for a length and an offset
// (20 + 28). Only an offset behind literals may need a second refill. There are no entries of two
// literals, and the twin preloads no entries: both were slower (docs/notes/inflate.md).
//
// The twin keeps the bit buffer and both positions in local variables. It checks their bounds once
// for each iteration, through pointers to arrays. Bits of count above the lowest six are garbage:
// subtracting a whole entry is faster than masking it first. Content is bytes or symbols of 16
// bits; the compiler drops the branches for the other type.

// fast decodes symbols into dst[o:] while there is much input and room, with the kernel of package
// simd or its portable twin. It stops before whatever is not a literal or a valid match. If it
// stops before an offset, pending is the length of its match, else 0.
func fast[T unit](t *tables, in *input, dst []T, o int) (end, pending int) {
	s := kernels.InflateState{In: in.at, Out: o, Bits: in.bits, Count: in.count}
	var ok bool
	switch dst := any(dst).(type) {
	case []byte:
		ok = kernels.Inflate(&s, (*kernels.InflateTables)(t), dst, in.src)
	case []uint16:
		ok = kernels.InflateSymbols(&s, (*kernels.InflateTables)(t), dst, in.src)
	}
	if !ok {
		return fastPortable(t, in, dst, o)
	}
	in.at, in.bits, in.count = s.In, s.Bits, s.Count
	return s.Out, s.Length
}

// fastPortable is the portable twin of kernels.Inflate and kernels.InflateSymbols.
func fastPortable[T unit](t *tables, in *input, dst []T, o int) (end, pending int) {
	src, at := in.src, in.at
	buf, count := in.bits, uint32(in.count)
	for at <= len(src)-fastInput && o <= len(dst)-fastRoom {
		p := (*[fastInput]byte)(src[at:])
		w := (*[fastRoom]T)(dst[o:])
		buf |= binary.LittleEndian.Uint64(p[:]) << (count & 63)
		refill := 7 - int(count>>3&7)
		at += refill
		count |= 56
		e := t.Literals[buf&literalMask]
		if e&flagLiteral != 0 {
			buf >>= e & 63
			count -= e
			w[0] = T(e >> 16)
			o++
			e = t.Literals[buf&literalMask]
			if e&flagLiteral != 0 {
				buf >>= e & 63
				count -= e
				w[1] = T(e >> 16)
				o++
				e = t.Literals[buf&literalMask]
				if e&flagLiteral != 0 {
					buf >>= e & 63
					count -= e
					w[2] = T(e >> 16)
					o++
					continue
				}
			}
		}
		if e&flagSpecial != 0 {
			if e&flagSubtable == 0 {
				break
			}
			e = t.Literals[(uint64(e>>16)+buf>>literalBits&(1<<(e>>8&15)-1))&(literalSize-1)]
			if e&flagSpecial != 0 {
				break
			}
			if e&flagLiteral != 0 {
				buf >>= e & 63
				count -= e
				dst[o] = T(e >> 16)
				o++
				continue
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		count -= e
		if count&63 < 28 {
			buf |= binary.LittleEndian.Uint64(p[refill:]) << (count & 63)
			at += 7 - int(count>>3&7)
			count |= 56
		}
		e = t.Offsets[buf&offsetMask]
		if e&flagSubtable != 0 {
			e = t.Offsets[(uint64(e>>16)+buf>>offsetBits&(1<<(e>>8&15)-1))&(offsetSize-1)]
		}
		offset := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		from := o - offset
		if from < 0 || e&flagSpecial != 0 {
			pending = length
			break
		}
		buf >>= e & 63
		count -= e
		if offset >= 16 {
			stop := o + length
			for {
				x, y := (*[32]T)(dst[from:]), (*[32]T)(dst[o:])
				if ^T(0) == 255 { // chunks of 16 bytes either way
					*(*[16]T)(y[:16]) = *(*[16]T)(x[:16])
					*(*[16]T)(y[16:]) = *(*[16]T)(x[16:])
				} else {
					*(*[8]T)(y[:8]) = *(*[8]T)(x[:8])
					*(*[8]T)(y[8:16]) = *(*[8]T)(x[8:16])
					*(*[8]T)(y[16:24]) = *(*[8]T)(x[16:24])
					*(*[8]T)(y[24:]) = *(*[8]T)(x[24:])
				}
				if length <= 32 {
					break
				}
				o += 32
				from += 32
				length -= 32
			}
			o = stop
		} else {
			copyNear(dst[from:], offset, length)
			o += length
		}
	}
	in.at, in.bits, in.count = at, buf, uint(count&63)
	return o, pending
}

// copyNear copies a match with an offset below 16 from p to p[offset:]. It may write up to seven
// units behind it.
func copyNear[T unit](p []T, offset, length int) {
	q := p[offset:]
	if offset >= 8 {
		for i := 0; i < length; i += 8 {
			*(*[8]T)(q[i:]) = *(*[8]T)(p[i:])
		}
		return
	}
	r := &shortOffsets[offset&7]
	if p, ok := any(p).([]byte); ok {
		q := p[offset:]
		v := binary.LittleEndian.Uint64(p)
		v = v & (1<<(8*offset&63) - 1) * r.factor
		for i := 0; i < length; i += r.step {
			binary.LittleEndian.PutUint64(q[i:], v)
		}
		return
	}
	// The first eight units one by one; the content then repeats after each step.
	v := (*[8]T)(q)
	for i := range v {
		v[i] = p[i]
	}
	for i := r.step; i < length; i += r.step {
		*(*[8]T)(q[i:]) = *v
	}
}
