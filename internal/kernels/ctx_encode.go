package kernels

// EncodeCtx codes rounds of one lane group of a context-coded run, the last one first. Lane l codes
// symbols[begin[l]+to-1] first and symbols[begin[l]+from] last. The table of symbols[i] has the
// number tableOf[i], modulo MaxCtxTables. Words go where EncodeLanes puts them.
//
// It panics if a lane's first or last symbol is not in symbols and tableOf, or without room for two
// bytes a symbol before p. It may overwrite all of this room.
func EncodeCtx(
	states *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable, symbols, tableOf []byte,
	begin *[Lanes]int, from, to int, words []byte, p int,
) int {
	if from >= to {
		return p
	}
	ok := from >= 0 && p <= len(words) && p/RoundBytes >= to-from
	for _, b := range begin {
		ok = ok && b >= 0 && b <= min(len(symbols), len(tableOf))-to
	}
	if !ok {
		panic("kernels: EncodeCtx out of range")
	}
	if at, ok := encodeCtxKernel(states, tabs, symbols, tableOf, begin, from, to, words, p); ok {
		return at
	}
	return encodeCtx(states, tabs, symbols, tableOf, begin, from, to, words, p)
}

// encodeCtx is the portable twin of EncodeCtx.
func encodeCtx(
	states *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable, symbols, tableOf []byte,
	begin *[Lanes]int, from, to int, words []byte, p int,
) int {
	for r := to - 1; r >= from; r-- {
		w := (*[RoundBytes]byte)(words[p-RoundBytes:])
		q := uint(RoundBytes - 2)
		for l := Lanes - 1; l >= 0; l-- {
			i := begin[l] + r
			x, s := states[l], &tabs[tableOf[i]%MaxCtxTables].scalar[symbols[i]]
			w[q&62] = byte(x)
			w[q&62+1] = byte(x >> 8)
			m := (s.max - 1 - x) >> 31
			x >>= m * 16 & 31
			states[l] = x + uint32(s.bias) + uint32(uint64(x)*s.rcp>>rcpBits)*uint32(s.comp)
			q -= uint(m * 2)
		}
		p -= int(RoundBytes - 2 - q)
	}
	return p
}
