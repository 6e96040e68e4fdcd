package inflate

const (
	maxLiterals = 286
	maxOffsets  = 30

	precodeSymbols = 19
	precodeBits    = 7
)

// precodeOrder is the order in which a header has the lengths of the precode.
var precodeOrder = [precodeSymbols]uint8{
	16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
}

// header is the header of a dynamic block, as far as it has been read.
type header struct {
	literals, offsets, precodes int // lengths in the header
	have                        int // lengths read so far, of the precode or the other codes

	precodeLengths [precodeSymbols]uint8
	lengths        [maxLiterals + maxOffsets]uint8
	precode        [1 << precodeBits]uint32
}

// blockHeader reads a part of the header of a block.
func (d *Decoder) blockHeader(in *input) (wait bool) {
	switch d.phase {
	case phaseBlock:
		return d.blockType(in)
	case phaseSizes:
		return d.storedSizes(in)
	case phaseCounts:
		return d.counts(in)
	case phasePrecode:
		return d.precode(in)
	}
	return d.codeLengths(in)
}

func (d *Decoder) blockType(in *input) (wait bool) {
	if !in.need(3) {
		return true
	}
	switch in.bits >> 1 & 3 {
	case 0:
		d.phase = phaseSizes
		d.final = in.takeBits(3)&1 != 0
		in.takeBits(in.count & 7) // up to the next byte
		return false
	case 1:
		d.phase, d.static = phaseSymbol, true
	case 2:
		d.phase, d.static = phaseCounts, false
	default:
		return d.fail(in, "block type 3")
	}
	d.final = in.takeBits(3)&1 != 0
	return false
}

func (d *Decoder) storedSizes(in *input) (wait bool) {
	if !in.need(32) {
		return true
	}
	if n := uint32(in.bits); uint16(n) != ^uint16(n>>16) {
		return d.fail(in, "the complement of a stored block's length does not match it")
	}
	d.phase, d.length = phaseStored, int(in.takeBits(32)&0xffff)
	return false
}

// stored copies the content of a stored block.
func stored[T unit](d *Decoder, in *input, dst []T, o int) (end int, wait bool) {
	in.unread()
	n := copyBytes(dst[o:min(len(dst), o+d.length)], in.src[in.at:])
	o += n
	in.at += n
	if d.length -= n; d.length > 0 {
		return o, true
	}
	d.endBlock()
	return o, false
}

// copyBytes copies src to dst up to the end of the shorter, and returns the number of bytes.
func copyBytes[T unit](dst []T, src []byte) int {
	if dst, ok := any(dst).([]byte); ok {
		return copy(dst, src)
	}
	n := min(len(dst), len(src))
	dst = dst[:n]
	for i, c := range src[:n] {
		dst[i] = T(c)
	}
	return n
}

func (d *Decoder) counts(in *input) (wait bool) {
	if !in.need(14) {
		return true
	}
	h := &d.header
	h.literals = int(in.bits&31) + 257
	h.offsets = int(in.bits>>5&31) + 1
	h.precodes = int(in.bits>>10&15) + 4
	switch {
	case h.literals > maxLiterals:
		return d.fail(in, "too many codewords for literals and lengths")
	case h.offsets > maxOffsets:
		return d.fail(in, "too many codewords for offsets")
	}
	in.takeBits(14)
	h.have, h.precodeLengths = 0, [precodeSymbols]uint8{}
	d.phase = phasePrecode
	return false
}

func (d *Decoder) precode(in *input) (wait bool) {
	h := &d.header
	for ; h.have < h.precodes; h.have++ {
		if !in.need(3) {
			return true
		}
		h.precodeLengths[precodeOrder[h.have]] = uint8(in.takeBits(3))
	}
	if !build(h.precode[:], precodeBits, h.precodeLengths[:], entries().precode[:]) {
		return d.fail(in, "the lengths of the precode are no code")
	}
	h.have = 0
	d.phase = phaseLengths
	return false
}

// codeLengths reads the lengths of both codes and builds their tables.
func (d *Decoder) codeLengths(in *input) (wait bool) {
	h := &d.header
	lengths := h.lengths[:h.literals+h.offsets]
	for h.have < len(lengths) {
		e := h.precode[in.bits&(1<<precodeBits-1)]
		n := uint(e & 63)
		if in.count < n+7 {
			in.refill()
			e = h.precode[in.bits&(1<<precodeBits-1)]
			n = uint(e & 63)
			if !in.need(n) {
				return true
			}
		}
		symbol := e >> 16
		switch {
		case e&flagSpecial != 0:
			return d.fail(in, "a codeword that the precode does not have")
		case symbol < 16:
			lengths[h.have] = uint8(symbol)
			h.have++
			in.takeBits(n)
			continue
		case symbol == 16 && h.have == 0:
			return d.fail(in, "nothing to repeat before the first codeword length")
		}
		extra, least, value := uint(2), uint(3), uint8(0)
		switch symbol {
		case 16:
			value = lengths[h.have-1]
		case 17:
			extra = 3
		default:
			extra, least = 7, 11
		}
		if !in.need(n + extra) {
			return true
		}
		repeat := int(in.bits>>n&(1<<extra-1)) + int(least)
		if repeat > len(lengths)-h.have {
			return d.fail(in, "codeword lengths repeat beyond the last")
		}
		in.takeBits(n + extra)
		for i := range lengths[h.have : h.have+repeat] {
			lengths[h.have+i] = value
		}
		h.have += repeat
	}
	switch {
	case !d.own.buildLiterals(lengths[:h.literals]):
		return d.fail(in, "the lengths for literals and lengths are no code")
	case !d.own.buildOffsets(lengths[h.literals:]):
		return d.fail(in, "the lengths for offsets are no code")
	}
	d.phase = phaseSymbol
	return false
}
