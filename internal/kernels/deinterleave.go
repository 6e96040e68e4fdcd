package kernels

import "encoding/binary"

// Deinterleave moves symbols from rounds, where the symbols of all lanes alternate, to the
// contiguous piece of each lane. This is a transposition of bytes. The portable twin transposes
// squares of 8×8 bytes in eight 64-bit words, by exchanging blocks of 4, 2 and 1 bytes. The kernel
// transposes eight rounds of 32 lanes in eight vectors with unpack instructions, and stores eight
// bytes for each lane.

// Deinterleave copies symbol l of round r, which is buf[r·CtxRound+l], to dst[at[l]+r], for all l
// below width. width must be Lanes or CtxRound. It panics if one of these places is outside dst. A
// rest of buf shorter than a round is ignored.
func Deinterleave(dst []byte, at *[CtxRound]int, width int, buf []byte) {
	// The kernel moves whole lane groups. The loop below checks the places of width lanes only.
	if width != Lanes && width != CtxRound {
		panic("kernels: width is not one lane group or two")
	}
	rounds := len(buf) / CtxRound
	if rounds == 0 {
		return
	}
	for _, i := range at[:width] {
		_ = dst[i : i+rounds]
	}
	for l := 0; l < width; l += Lanes {
		done := deinterleaveKernel(dst, (*[Lanes]int)(at[l:]), buf[l:], rounds)
		deinterleave(dst, (*[Lanes]int)(at[l:]), buf[l:], done, rounds)
	}
}

// deinterleave is the portable twin of the kernel. It begins with round r.
func deinterleave(dst []byte, at *[Lanes]int, buf []byte, r, rounds int) {
	for l := 0; l < Lanes; l += 8 {
		var rows [8][]byte
		for k := range rows {
			rows[k] = dst[at[l+k]:][:rounds]
		}
		i := r
		for ; i+8 <= rounds; i += 8 {
			in := buf[i*CtxRound+l:][:7*CtxRound+8]
			x0, x1, x2, x3, x4, x5, x6, x7 := transpose(
				load(in, 0), load(in, CtxRound), load(in, 2*CtxRound), load(in, 3*CtxRound),
				load(in, 4*CtxRound), load(in, 5*CtxRound), load(in, 6*CtxRound), load(in, 7*CtxRound))
			store(rows[0], i, x0)
			store(rows[1], i, x1)
			store(rows[2], i, x2)
			store(rows[3], i, x3)
			store(rows[4], i, x4)
			store(rows[5], i, x5)
			store(rows[6], i, x6)
			store(rows[7], i, x7)
		}
		for ; i < rounds; i++ {
			for k, row := range rows {
				row[i] = buf[i*CtxRound+l+k]
			}
		}
	}
}

func load(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i : i+8 : len(p)]) }

func store(p []byte, i int, x uint64) { binary.LittleEndian.PutUint64(p[i:i+8:len(p)], x) }

// transpose returns words in which byte k of word i is byte i of word k of the arguments. It
// exchanges squares of four bytes, then of two, then single bytes.
func transpose(
	x0, x1, x2, x3, x4, x5, x6, x7 uint64,
) (y0, y1, y2, y3, y4, y5, y6, y7 uint64) {
	const m4, m2, m1 = 0xffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff
	y0, y4 = x0&m4|x4<<32, x0>>32|x4&^m4
	y1, y5 = x1&m4|x5<<32, x1>>32|x5&^m4
	y2, y6 = x2&m4|x6<<32, x2>>32|x6&^m4
	y3, y7 = x3&m4|x7<<32, x3>>32|x7&^m4
	x0, x2 = y0&m2|y2&m2<<16, y0>>16&m2|y2&^m2
	x1, x3 = y1&m2|y3&m2<<16, y1>>16&m2|y3&^m2
	x4, x6 = y4&m2|y6&m2<<16, y4>>16&m2|y6&^m2
	x5, x7 = y5&m2|y7&m2<<16, y5>>16&m2|y7&^m2
	y0, y1 = x0&m1|x1&m1<<8, x0>>8&m1|x1&^m1
	y2, y3 = x2&m1|x3&m1<<8, x2>>8&m1|x3&^m1
	y4, y5 = x4&m1|x5&m1<<8, x4>>8&m1|x5&^m1
	y6, y7 = x6&m1|x7&m1<<8, x6>>8&m1|x7&^m1
	return y0, y1, y2, y3, y4, y5, y6, y7
}
