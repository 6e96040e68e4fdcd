package refdec

import "math/bits"

// A coded is a symbol and what an encoder needs to know about it.
type coded struct {
	table  *table
	symbol byte
}

func (g *generator) varint(b []byte, n int) []byte {
	size := 1
	if g.use(longVarint) {
		size = 5
	} else if g.use(sixVarint) {
		size = 6
	}
	for ; n >= 128 || size > 1; size-- {
		b = append(b, byte(n)|128)
		n >>= 7
	}
	return append(b, byte(n))
}

// code appends the coded streams to a payload. Every segment adds its symbols to the groups.
func (g *generator) code(p []byte) []byte {
	var stored []byte
	var segments [][]coded
	for number, stream := range g.streams {
		p = g.varint(p, len(stream))
		for len(stream) > 0 {
			n, ends := len(stream), byte(segmentEnds)
			if g.use(fullSegment) {
				ends = 0
			} else if n > minSegment && g.IntN(4) != 0 {
				n, ends = minSegment+g.pick(n-minSegment), 0
			} else if n > 1 && g.use(shortSegment) {
				n, ends = 1+g.pick(min(n-1, minSegment-1)), 0
			}
			symbols := stream[:n]
			stream = stream[n:]
			same := true
			for _, s := range symbols {
				same = same && s == symbols[0]
			}
			mode := byte(modeStored)
			switch {
			case same && g.IntN(2) == 0:
				mode = modeByte
			case g.IntN(4) != 0:
				mode = modeRANS
			}
			head := mode | ends
			var t *table
			if mode == modeRANS {
				if t = fittingDefault(number, symbols); t != nil && g.IntN(3) == 0 {
					head |= tableDefault
				} else {
					t = g.table(symbols)
				}
			}
			if g.use(headBits) {
				head |= 16 << g.IntN(4)
				if mode != modeRANS && g.IntN(2) == 0 {
					head |= tableDefault
				}
			}
			if g.use(modeThree) {
				head |= 3
			}
			p = append(p, head)
			if ends == 0 {
				p = g.varint(p, n)
			}
			switch mode {
			case modeStored:
				stored = append(stored, symbols...)
			case modeByte:
				p = append(p, symbols[0])
			case modeRANS:
				if head&tableDefault == 0 {
					p = g.appendTable(p, t)
				}
				s := make([]coded, n)
				for i := range s {
					s[i] = coded{t, symbols[i]}
				}
				segments = append(segments, s)
			}
		}
	}
	p = append(g.groups(p, segments), stored...)
	if g.use(moreStored) {
		p = append(p, 0)
	}
	return p
}

// fittingDefault returns the default table of a stream, nil if it lacks one of the symbols.
func fittingDefault(stream int, symbols []byte) *table {
	t, err := defaultTable(stream)
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if t.freq[s] == 0 {
			return nil
		}
	}
	return t
}

// table returns frequencies for the symbols. Symbols that do not occur may get one, too.
func (g *generator) table(symbols []byte) *table {
	var count [256]int
	for _, s := range symbols {
		count[s]++
	}
	for range g.pick(200) {
		count[g.IntN(256)]++
	}
	count[g.IntN(256)]++
	t := new(table)
	total, most := 0, 0
	for s, n := range count {
		if n > 0 {
			n = max(1, n*tableTotal/(len(symbols)+201))
			t.freq[s] = uint32(n)
			total += n
		}
		if t.freq[s] > t.freq[most] {
			most = s
		}
	}
	for ; total > tableTotal; total-- {
		for most = 0; t.freq[most] < 2; most = g.IntN(256) {
		}
		t.freq[most]--
	}
	t.freq[most] += uint32(tableTotal - total)
	if t.freq[most] == tableTotal {
		t.freq[most]--
		t.freq[(most+1+g.IntN(255))%256]++
	}
	sum := uint32(0)
	for s := range t.sum {
		t.sum[s] = sum
		sum += t.freq[s]
	}
	return t
}

// appendTable describes a table. It cuts runs of zeros in any way, not only the shortest.
func (g *generator) appendTable(p []byte, t *table) []byte {
	var w bitWriter
	total := uint32(0)
	for s := 0; total < tableTotal; {
		if f := t.freq[s]; f > 0 {
			class := bits.Len32(f)
			w.put(uint64(class), 4)
			w.put(uint64(f), class-1)
			total += f
			s++
			continue
		}
		zeros := 0
		for t.freq[s+zeros] == 0 {
			zeros++
		}
		switch {
		case zeros > 3 && g.IntN(3) != 0:
			if g.IntN(4) == 0 {
				zeros = 4 + g.IntN(zeros-3)
			}
			n := zeros - 3
			log := bits.Len(uint(n)) - 1
			w.put(15, 4)
			w.put(1<<log, log+1)
			w.put(uint64(n), log)
		default:
			zeros = 1 + g.IntN(min(zeros, 3))
			w.put(uint64(11+zeros), 4)
		}
		s += zeros
	}
	if w.at%8 != 0 && g.use(tablePadding) {
		w.put(1, 1)
	}
	return append(p, w.data...)
}

// groups appends the lane groups.
func (g *generator) groups(p []byte, segments [][]coded) []byte {
	total := 0
	for _, s := range segments {
		total += len(s)
	}
	switch {
	case total == 0:
		return p
	case total < twoGroups:
		return g.group(p, 4, segments)
	}
	half := (total/2 + 31) &^ 31
	for i, s := range segments {
		if half <= len(s) {
			first := append(segments[:i:i], s[:half])
			second := append([][]coded{s[half:]}, segments[i+1:]...)
			return g.group(g.group(p, 32, first), 32, second)
		}
		half -= len(s)
	}
	panic("unreachable")
}

func (g *generator) group(p []byte, lanes int, segments [][]coded) []byte {
	states := make([]uint32, lanes)
	for i := range states {
		states[i] = minState
	}
	var words []uint16 // in reverse order
	for s := len(segments) - 1; s >= 0; s-- {
		for i := len(segments[s]) - 1; i >= 0; i-- {
			c := segments[s][i]
			x, f := states[i%lanes], c.table.freq[c.symbol]
			if x >= f<<20 {
				words = append(words, uint16(x))
				x >>= 16
			}
			states[i%lanes] = x/f<<tableBits + x%f + c.table.sum[c.symbol]
		}
	}
	return g.appendGroup(p, states, words)
}

// appendGroup appends the decoder's initial states and the words, which are in reverse order.
func (g *generator) appendGroup(p []byte, states []uint32, words []uint16) []byte {
	size := 2 * len(words)
	more := 0
	if g.use(oddWords) {
		more = 1
	} else if g.use(moreWords) {
		more = 2
	}
	p = g.varint(p, size+more)
	if g.use(oddState) {
		states[g.IntN(len(states))] = []uint32{0, minState - 1, maxState + 1}[g.IntN(3)]
	}
	for _, x := range states {
		p = le.AppendUint32(p, x)
	}
	for i := len(words) - 1; i >= 0; i-- {
		p = le.AppendUint16(p, words[i])
	}
	return append(p, make([]byte, more)...)
}
