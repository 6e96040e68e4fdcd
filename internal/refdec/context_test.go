package refdec

// codeDense returns a payload of layout Dense.
func (g *generator) codeDense() []byte {
	flags := byte(g.IntN(4)) | byte(g.IntN(2))*matchInContext
	if g.dense != nil {
		flags, g.filtered = g.dense.flags, g.dense.flags&filteredX86 != 0
	}
	if g.filtered = g.filtered && len(g.out) > 0; g.filtered {
		flags |= filteredX86
	}
	if len(g.streams[streamTokens]) == 0 {
		flags &^= tokensInContext
	}
	if len(g.streams[streamLits]) == 0 {
		flags &^= litsInContext
	}
	if len(g.streams[streamMatchLens]) == 0 {
		flags &^= matchInContext
	}
	lits, streams := g.streams[streamLits], g.streams
	p := []byte{layoutDense, flags}
	if g.use(oddFlags) {
		p[1] |= 16 << g.IntN(4)
	}
	if g.filtered {
		p = g.ranges(p)
	}
	if flags&tokensInContext != 0 {
		tokens := g.streams[streamTokens]
		p = g.contextCode(p, tokens, make([]bool, len(tokens)))
		g.streams[streamTokens] = nil
	}
	if flags&matchInContext != 0 {
		matches := g.streams[streamMatchLens]
		p = g.contextCode(p, matches, make([]bool, len(matches)))
		g.streams[streamMatchLens] = nil
	}
	if flags&litsInContext != 0 {
		g.streams[streamLits] = nil
	}
	p = g.code(p)
	if flags&litsInContext != 0 {
		marks, err := markLiterals(streams, len(lits))
		if err != nil {
			marks = make([]bool, len(lits)) // With this quirk a decoder stops before it.
		}
		p = g.contextCode(p, lits, marks)
	}
	return p
}

// ranges appends the ranges of filtered content and undoes the filter.
func (g *generator) ranges(p []byte) []byte {
	var list []int
	left := len(g.out)
	for len(list) == 0 || left > 0 && g.IntN(3) != 0 {
		gap := g.pick(left)
		length := 1 + g.pick(left-gap)
		list = append(list, gap, length)
		left -= gap + length
	}
	if g.use(emptyRange) {
		list[len(list)-1] = 0
	}
	if g.use(farRange) {
		list[g.IntN(len(list))] += left + 1
	}
	if g.use(noRanges) {
		list = nil
	}
	p = g.varint(p, len(list)/2)
	for _, x := range list {
		p = g.varint(p, x)
	}
	g.out = append([]byte(nil), g.out...)
	for rest := g.out; len(list) > 0 && g.quirk != farRange; list = list[2:] {
		rest = rest[list[0]:]
		undoX86(rest[:list[1]])
		rest = rest[list[1]:]
	}
	return p
}

// contextMap appends a random map of contexts.
func (g *generator) contextMap(p []byte) (*contextMap, []byte) {
	low := g.IntN(9)
	if g.dense != nil {
		low = g.dense.low
	}
	m, p := new(contextMap), append(p, byte(low))
	if g.use(mapBits) {
		p[len(p)-1] = byte(9 + g.IntN(247))
	}
	var w bitWriter
	for s := range m.first {
		v := g.IntN(1 << (8 - low))
		if low == 0 {
			v = s
		}
		m.first[s] = v << low
		w.put(uint64(v), 8-low)
	}
	for s := range m.second {
		m.second[s] = g.IntN(1 << low)
		if low == 8 {
			m.second[s] = s
		}
		w.put(uint64(m.second[s]), low)
	}
	if low > 0 && low < 8 {
		p = append(p, w.data...)
	}
	return m, p
}

// pickTables returns the number of tables of a segment. It is often small, for a payload must be
// smaller than its content.
func (g *generator) pickTables() int {
	if g.dense != nil {
		return g.dense.tables
	}
	return 1 + g.IntN(maxTables>>g.IntN(5))
}

// contextCode appends a context-coded stream whose contexts have random tables.
func (g *generator) contextCode(p, stream []byte, marks []bool) []byte {
	p = g.varint(p, len(stream))
	m, p := g.contextMap(p)
	groups := make([][][]laneSymbol, 1, 2)
	if len(stream) >= twoGroups {
		groups = groups[:2]
	}
	at := 0
	for at < len(stream) {
		n := len(stream) - at
		if n > minContextSegment && g.IntN(2) == 0 {
			n = minContextSegment + g.pick(n-minContextSegment)
		} else if n > 1 && g.use(shortContextSegment) {
			n = 1 + g.pick(min(n-1, minContextSegment-1))
		}
		p = g.varint(p, n)
		tables := g.pickTables()
		var class [numContexts]int
		for c := range class {
			class[c] = g.IntN(tables)
		}
		// the symbols of each lane
		var parts [2][]laneSymbol
		used := make([][]byte, tables)
		begin := pieces(at, n, 32*len(groups))
		for turn := range n {
			for lane := range 32 * len(groups) {
				i := begin[lane] + turn
				if i >= begin[lane+1] {
					continue
				}
				context := m.context(stream, marks, begin[lane], i)
				symbol := laneSymbol{lane % 32, class[context], stream[i], nil}
				parts[lane/32] = append(parts[lane/32], symbol)
				used[class[context]] = append(used[class[context]], stream[i])
			}
			if begin[0]+turn >= begin[1] {
				break
			}
		}
		width := 0
		for 1<<width < tables {
			width++
		}
		count := byte(tables)
		if g.use(tableCount) {
			count = byte(g.IntN(2) * (33 + g.IntN(223)))
		}
		p = append(p, count)
		var w bitWriter
		for _, c := range class {
			if tables < 1<<width && g.use(oddContext) {
				c = tables
			}
			w.put(uint64(c), width)
		}
		if w.at%8 != 0 && g.use(contextPadding) {
			w.put(1, 1)
		}
		p = append(p, w.data...)
		coders := make([]*table, tables)
		for k := range coders {
			coders[k] = g.table(used[k])
			p = g.appendTable(p, coders[k])
		}
		for k := range groups {
			for i := range parts[k] {
				parts[k][i].coder = coders[parts[k][i].table]
			}
			groups[k] = append(groups[k], parts[k])
		}
		at += n
	}
	for _, parts := range groups {
		p = g.contextGroup(p, parts)
	}
	return p
}

// A laneSymbol is a symbol and its lane.
type laneSymbol struct {
	lane, table int
	symbol      byte
	coder       *table
}

func (g *generator) contextGroup(p []byte, parts [][]laneSymbol) []byte {
	states := make([]uint32, 32)
	for i := range states {
		states[i] = minState
	}
	var words []uint16 // in reverse order
	for k := len(parts) - 1; k >= 0; k-- {
		for i := len(parts[k]) - 1; i >= 0; i-- {
			c := parts[k][i]
			x, f := states[c.lane], c.coder.freq[c.symbol]
			if x >= f<<20 {
				words = append(words, uint16(x))
				x >>= 16
			}
			states[c.lane] = x/f<<tableBits + x%f + c.coder.sum[c.symbol]
		}
	}
	return g.appendGroup(p, states, words)
}
