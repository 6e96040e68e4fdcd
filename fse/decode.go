package fse

import (
	"encoding/binary"
	"math/bits"
)

// Decode decodes exactly len(dst) symbols from src with one state or two interleaved ones. All
// errors are a CorruptError.
func (t *DecTable) Decode(dst, src []byte, states int) error {
	var r reader
	if err := r.reset(src); err != nil {
		return err
	}
	log := t.Log()
	i := 0
	a := r.takeBits(log)
	if states == 1 {
		for ; r.left >= 64 && len(dst)-i >= 5; i += 4 {
			window := r.window() // at least 57 bits: 4 symbols of 12 bits
			for j := range dst[i : i+4] {
				e := t.cells[a&(1<<MaxLog-1)]
				dst[i+j] = e.symbol
				a = uint32(e.base) + uint32(window>>1>>(63-e.n&63))
				window <<= e.n & 63
				r.left -= int(e.n)
			}
		}
		for ; i < len(dst) && r.left >= 0; i++ {
			symbol, base, n := t.Symbol(a)
			dst[i] = symbol
			if i+1 < len(dst) {
				a = base + r.takeBits(n)
			}
		}
		return r.checkEnd()
	}
	b := r.takeBits(log)
	for ; r.left >= 64 && len(dst)-i >= 6; i += 4 {
		window := r.window()
		to := dst[i : i+4 : i+4]
		e := t.cells[a&(1<<MaxLog-1)]
		to[0] = e.symbol
		a = uint32(e.base) + uint32(window>>1>>(63-e.n&63))
		window <<= e.n & 63
		left := int(e.n)
		e = t.cells[b&(1<<MaxLog-1)]
		to[1] = e.symbol
		b = uint32(e.base) + uint32(window>>1>>(63-e.n&63))
		window <<= e.n & 63
		left += int(e.n)
		e = t.cells[a&(1<<MaxLog-1)]
		to[2] = e.symbol
		a = uint32(e.base) + uint32(window>>1>>(63-e.n&63))
		window <<= e.n & 63
		left += int(e.n)
		e = t.cells[b&(1<<MaxLog-1)]
		to[3] = e.symbol
		b = uint32(e.base) + uint32(window>>1>>(63-e.n&63))
		left += int(e.n)
		r.left -= left
	}
	for ; i < len(dst) && r.left >= 0; i++ {
		symbol, base, n := t.Symbol(a)
		dst[i] = symbol
		if i+2 < len(dst) {
			a = base + r.takeBits(n)
		}
		a, b = b, a
	}
	return r.checkEnd()
}

// DecodeAll decodes symbols coded with two states until src is used up, as zstd does for the
// weights of a Huffman code. It returns their number, at least two and at most len(dst). All errors
// are a CorruptError.
func (t *DecTable) DecodeAll(dst, src []byte) (int, error) {
	var r reader
	if err := r.reset(src); err != nil {
		return 0, err
	}
	a := r.takeBits(t.Log())
	b := r.takeBits(t.Log())
	if r.left < 0 {
		return 0, errShort
	}
	i := 0
	for ; r.left >= 64 && len(dst)-i >= 4; i += 4 {
		window := r.window() // at least 57 bits: 4 symbols of 12 bits
		for j := range dst[i : i+4] {
			e := t.cells[a&(1<<MaxLog-1)]
			dst[i+j] = e.symbol
			a, b = b, uint32(e.base)+uint32(window>>1>>(63-e.n&63))
			window <<= e.n & 63
			r.left -= int(e.n)
		}
	}
	window := r.lastWindow()
	for ; i < len(dst); i++ {
		e := t.cells[a&(1<<MaxLog-1)]
		dst[i] = e.symbol
		if r.left < int(e.n) {
			// The other state has the last symbol. The RFC reads zeros for the missing bits.
			if i+1 == len(dst) {
				break
			}
			dst[i+1], _, _ = t.Symbol(b)
			return i + 2, nil
		}
		if r.left > 64 { // dst is nearly full
			window = r.window()
		}
		a, b = b, uint32(e.base)+uint32(window>>1>>(63-e.n&63))
		window <<= e.n & 63
		r.left -= int(e.n)
	}
	return 0, CorruptError("too many symbols")
}

const errShort = CorruptError("bits run out")

// reader reads a bit string backward.
type reader struct {
	src  []byte
	left int // in bits; negative behind the end
}

// reset finds the end of the bits: the highest bit set in the last byte is a mark.
func (r *reader) reset(src []byte) error {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return CorruptError("end mark missing")
	}
	*r = reader{src, 8*len(src) - bits.LeadingZeros8(src[len(src)-1]) - 1}
	return nil
}

// window returns at least the next 57 bits, highest first. left must be at least 64.
func (r *reader) window() uint64 {
	at := (r.left + 7) >> 3
	return binary.LittleEndian.Uint64(r.src[at-8:at]) << (-r.left & 7)
}

// lastWindow returns all bits left, highest first, and zeros behind them. If there are more than 64
// it returns 0.
func (r *reader) lastWindow() (v uint64) {
	n := (r.left + 7) >> 3
	switch {
	case r.left <= 0 || r.left > 64:
		return 0
	case len(r.src) >= 8:
		v = binary.LittleEndian.Uint64(r.src)
	default:
		for i, c := range r.src[:n] {
			v |= uint64(c) << (8 * i)
		}
	}
	return v << ((64 - r.left) & 63)
}

// takeBits returns the next n bits, at most 16. Zeros follow the end.
func (r *reader) takeBits(n uint) uint32 {
	r.left -= int(n)
	at, shift := r.left>>3, uint(r.left&7)
	v := uint32(0)
	for i := range 3 {
		if uint(at+i) < uint(len(r.src)) {
			v |= uint32(r.src[at+i]) << (8 * i)
		}
	}
	return v >> shift & (1<<n - 1)
}

// checkEnd returns an error unless exactly all bits were read.
func (r *reader) checkEnd() error {
	switch {
	case r.left < 0:
		return errShort
	case r.left > 0:
		return CorruptError("bits left over")
	}
	return nil
}
