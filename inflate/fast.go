package inflate

import "encoding/binary"

const (
	// fastInput is the least input of the fast loop in bytes: two refills, at most seven bytes apart.
	fastInput = 16

	// fastRoom is the least room of the fast loop in bytes: six literals, the longest match, and what
	// its last chunk writes behind it, rounded up.
	fastRoom = 300
)

// shortOffsets has a factor and a step for each offset below eight. The factor repeats the first
// offset bytes of a word throughout the word. The step is the largest multiple of the offset up to
// eight, so the same word continues a match after it.
var shortOffsets = func() (r [8]struct {
	factor uint64
	step   int
}) {
	for offset := 1; offset < 8; offset++ {
		for shift := 0; shift < 64; shift += 8 * offset {
			r[offset].factor |= 1 << shift
		}
		r[offset].step = 8 - 8%offset
	}
	return r
}()

// fast decodes symbols into dst[o:] while there is much input and room. It stops before whatever is
// not a literal or a valid match. If it stops before an offset, pending is the length of its match,
// else 0.
func fast(t *tables, in *input, dst []byte, o int) (end, pending int) {
	src, at := in.src, in.at
	buf, count := in.bits, uint32(in.count)
	for at <= len(src)-fastInput && o <= len(dst)-fastRoom {
		buf |= binary.LittleEndian.Uint64(src[at:]) << (count & 63)
		at += 7 - int(count>>3&7)
		count |= 56
		e := t.literals[buf&literalMask]
		if e&flagLiteral != 0 {
			buf >>= e & 63
			count -= e
			binary.LittleEndian.PutUint16(dst[o:], uint16(e>>16))
			o += 1 + int(e>>6&1)
			e = t.literals[buf&literalMask]
			if e&flagLiteral != 0 {
				buf >>= e & 63
				count -= e
				binary.LittleEndian.PutUint16(dst[o:], uint16(e>>16))
				o += 1 + int(e>>6&1)
				e = t.literals[buf&literalMask]
				if e&flagLiteral != 0 {
					buf >>= e & 63
					count -= e
					binary.LittleEndian.PutUint16(dst[o:], uint16(e>>16))
					o += 1 + int(e>>6&1)
					continue
				}
			}
		}
		saved, savedCount := buf, count
		if e&flagSpecial != 0 {
			if e&flagSubtable == 0 {
				break
			}
			buf >>= literalBits
			count -= literalBits
			e = t.literals[(uint64(e>>16)+buf&(1<<(e>>8&15)-1))&(literalSize-1)]
			if e&flagLiteral != 0 {
				buf >>= e & 63
				count -= e
				dst[o] = byte(e >> 16)
				o++
				continue
			}
			if e&flagSpecial != 0 {
				buf, count = saved, savedCount
				break
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		count -= e
		if count&63 < 28 {
			buf |= binary.LittleEndian.Uint64(src[at:]) << (count & 63)
			at += 7 - int(count>>3&7)
			count |= 56
		}
		saved, savedCount = buf, count
		e = t.offsets[buf&offsetMask]
		if e&flagSubtable != 0 {
			buf >>= e & 63
			count -= e
			e = t.offsets[(uint64(e>>16)+buf&(1<<(e>>8&15)-1))&(offsetSize-1)]
		}
		offset := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		from := o - offset
		if from < 0 || e&flagSpecial != 0 {
			buf, count = saved, savedCount
			pending = length
			break
		}
		buf >>= e & 63
		count -= e
		stop := o + length
		switch {
		case offset >= 16:
			for {
				*(*[16]byte)(dst[o:]) = *(*[16]byte)(dst[from:])
				o += 16
				from += 16
				if o >= stop {
					break
				}
			}
		case offset >= 8:
			for {
				*(*[8]byte)(dst[o:]) = *(*[8]byte)(dst[from:])
				o += 8
				from += 8
				if o >= stop {
					break
				}
			}
		default:
			r := &shortOffsets[offset&7]
			v := binary.LittleEndian.Uint64(dst[from:])
			v = v & (1<<(8*offset&63) - 1) * r.factor
			for {
				binary.LittleEndian.PutUint64(dst[o:], v)
				o += r.step
				if o >= stop {
					break
				}
			}
		}
		o = stop
	}
	in.at, in.bits, in.count = at, buf, uint(count&63)
	return o, pending
}
