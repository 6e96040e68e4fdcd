package inflate

// symbols decodes symbols of a block into dst[o:], until the block ends or something is used up. It
// returns the end of the content.
func symbols[T unit](d *Decoder, in *input, dst []T, o int) (end int, wait bool) {
	t := &d.own
	if d.static {
		t = staticTables()
	}
	for {
		switch d.phase {
		case phaseSymbol:
			if len(in.src)-in.at >= fastInput && len(dst)-o >= fastRoom {
				o, d.length = fast(t, in, dst, o)
				if d.length > 0 {
					d.phase = phaseOffset
					continue
				}
			}
			o, wait = symbol(d, t, in, dst, o)
			if wait {
				return o, true
			}
		case phaseOffset:
			if d.matchOffset(t, in, o) {
				return o, true
			}
		case phaseMatch:
			if d.offset > o {
				return o, d.fail(in, "the history is shorter than before")
			}
			o = match(d, dst, o)
			if d.length > 0 {
				return o, true
			}
			d.phase = phaseSymbol
		default:
			return o, false
		}
	}
}

// lookUp returns the next entry of a code, and how many bits to consume. ok is false if they have
// not all come.
func lookUp(in *input, table []uint32, primary uint) (e uint32, n uint, ok bool) {
	for range 2 {
		e = table[in.bits&(1<<primary-1)]
		if e&flagSubtable != 0 {
			e = table[uint(e>>16)+uint(in.bits>>primary)&(1<<(e>>8&15)-1)]
		}
		n = uint(e & 63)
		if in.count >= n {
			return e, n, true
		}
		// Bits that have not come may make the codeword another one.
		in.refill()
	}
	in.short = true
	return 0, 0, false
}

// symbol decodes a literal, a length or the end of a block.
func symbol[T unit](
	d *Decoder, t *tables, in *input, dst []T, o int,
) (end int, wait bool) {
	e, n, ok := lookUp(in, t.Literals[:], literalBits)
	switch {
	case !ok:
		return o, true
	case e&flagLiteral != 0:
		if o >= len(dst) {
			return o, true
		}
		dst[o] = T(e >> 16)
		o++
	case e&flagEnd != 0:
		d.endBlock()
	case e&flagSpecial != 0:
		return o, d.fail(in, "an invalid codeword for a literal or a length")
	default:
		d.length = base(in, e)
		d.phase = phaseOffset
	}
	in.takeBits(n)
	return o, false
}

// base returns the base of an entry plus the extra bits behind the codeword that comes next.
func base(in *input, e uint32) int {
	return int(e>>16) + int(in.bits&(1<<(e&63)-1)>>(e>>8&15))
}

// matchOffset decodes the offset of a match.
func (d *Decoder) matchOffset(t *tables, in *input, o int) (wait bool) {
	e, n, ok := lookUp(in, t.Offsets[:], offsetBits)
	switch {
	case !ok:
		return true
	case e&flagSpecial != 0:
		return d.fail(in, "an invalid codeword for an offset")
	}
	d.offset = base(in, e)
	if d.offset > o {
		return d.fail(in, "an offset from before the first byte")
	}
	in.takeBits(n)
	d.phase = phaseMatch
	return false
}

// match copies as much of a match as there is room for. Source and destination may overlap.
func match[T unit](d *Decoder, dst []T, o int) (end int) {
	end = min(o+d.length, len(dst))
	d.length -= end - o
	for o < end {
		// What has been copied may be copied once more.
		o += copy(dst[o:end], dst[o-d.offset:o])
	}
	return end
}
