package refzst

// The values that a code stands for begin with its base. Bits of the stream are added to it.
var (
	literalBase = [36]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24,
		28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	literalBits = [36]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

	matchBase = [53]uint32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
		24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259,
		515, 1027, 2051, 4099, 8195, 16387, 32771, 65539}
	matchBits = [53]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// compressedBlock appends the content of a block to the history.
func (d *decoder) compressedBlock(in *input) {
	literals := &input{d.literalsSection(in)}
	n := int(in.byte())
	switch {
	case n == 255:
		n = int(in.number(2)) + 0x7F00
	case n >= 128:
		n = (n-128)<<8 + int(in.byte())
	}
	end := len(d.history) + d.maxBlock()
	if n > 0 {
		d.sequences(n, in, literals, end)
	} else {
		check(len(in.data) == 0, "data behind the end of the block")
	}
	d.copyLiterals(literals, len(literals.data), end)
}

// sequences decodes and executes n sequences. The history may grow up to end.
func (d *decoder) sequences(n int, in, literals *input, end int) {
	d.sequenceTables(in)
	r := newBackward(in.data)
	var states [3]uint64
	for k, t := range d.tables {
		states[k] = r.take(t.log())
	}
	passed := d.produced - uint64(len(d.history)) // wraps
	for ; n > 0; n-- {
		var symbols [3]uint8
		for k, t := range d.tables {
			symbols[k] = t[states[k]].symbol
		}
		o, m, l := symbols[offsets], symbols[matchLengths], symbols[literalLengths]
		value := 1<<o + r.take(int(o))
		length := int(uint64(matchBase[m]) + r.take(int(matchBits[m])))
		before := int(uint64(literalBase[l]) + r.take(int(literalBits[l])))
		if n > 1 {
			for _, k := range [...]int{literalLengths, matchLengths, offsets} {
				states[k] = d.tables[k].next(states[k], r)
			}
		}
		check(r.left >= 0, "sequences end early")
		d.copyLiterals(literals, before, end)

		// Matches reach the dictionary until the content is larger than the window.
		reach := uint64(len(d.history))
		if reach+passed > d.window {
			reach = d.window
		}
		offset := d.offset(value, before == 0)
		check(offset-1 < reach, "a match begins in front of the window")
		check(len(d.history)+length <= end, "a match ends behind the largest block")
		for range length {
			d.history = append(d.history, d.history[len(d.history)-int(offset)])
		}
	}
	r.checkEnd()
}

func (d *decoder) copyLiterals(literals *input, n, end int) {
	check(len(d.history)+n <= end, "literals end behind the largest block")
	d.history = append(d.history, literals.take(n)...)
}

// offset returns the offset that a value stands for. It becomes the first of the repeat offsets.
func (d *decoder) offset(value uint64, noLiterals bool) uint64 {
	r := &d.repeats
	switch {
	case value > 3:
		*r = [3]uint64{value - 3, r[0], r[1]}
	case noLiterals && value == 3:
		*r = [3]uint64{r[0] - 1, r[0], r[1]}
	case noLiterals && value == 2 || value == 3:
		*r = [3]uint64{r[2], r[0], r[1]}
	case noLiterals || value == 2:
		*r = [3]uint64{r[1], r[0], r[2]}
	}
	return r[0]
}
