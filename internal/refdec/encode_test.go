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

// A part is a segment that is to be coded: its head, its symbols and, with mode 2, its table.
type part struct {
	head    byte
	symbols []byte
	table   *table
}

// code appends the coded streams to a payload, in segments of any sizes and modes.
func (g *generator) code(p []byte) []byte {
	var parts [numStreams][]part
	for number, stream := range g.streams {
		for len(stream) > 0 {
			next := g.cut(number, stream)
			parts[number] = append(parts[number], next)
			stream = stream[len(next.symbols):]
		}
	}
	return g.codeParts(p, parts)
}

// cut returns the next segment of a byte stream, which has a number.
func (g *generator) cut(number int, stream []byte) part {
	n, ends := len(stream), byte(segmentEnds)
	if g.use(fullSegment) {
		ends = 0
	} else if n > minSegment && g.IntN(4) != 0 {
		n, ends = minSegment+g.pick(n-minSegment), 0
	} else if n > 1 && g.use(shortSegment) {
		n, ends = 1+g.pick(min(n-1, minSegment-1)), 0
	}
	c := part{head: modeStored | ends, symbols: stream[:n]}
	same := true
	for _, s := range c.symbols {
		same = same && s == c.symbols[0]
	}
	switch {
	case same && g.IntN(2) == 0:
		c.head |= modeByte
	case g.IntN(4) != 0:
		c.head |= modeRANS
		if c.table = fittingDefault(number, c.symbols); c.table != nil && g.IntN(3) == 0 {
			c.head |= tableDefault
		} else {
			c.table = g.table(c.symbols)
		}
	}
	return c
}

// codeParts appends the coded streams that segments make together.
func (g *generator) codeParts(p []byte, streams [numStreams][]part) []byte {
	var stored []byte
	var segments [][]coded
	for _, parts := range streams {
		length := 0
		for _, c := range parts {
			length += len(c.symbols)
		}
		p = g.varint(p, length)
		for _, c := range parts {
			p = append(p, g.oddHead(c.head))
			if c.head&segmentEnds == 0 {
				p = g.varint(p, len(c.symbols))
			}
			switch c.head & 3 {
			case modeStored:
				stored = append(stored, c.symbols...)
			case modeByte:
				p = append(p, c.symbols[0])
			case modeRANS:
				if c.head&tableDefault == 0 {
					p = g.appendTable(p, c.table)
				}
				s := make([]coded, len(c.symbols))
				for i := range s {
					s[i] = coded{c.table, c.symbols[i]}
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

// oddHead returns a segment head as it is, or with a quirk an invalid one.
func (g *generator) oddHead(head byte) byte {
	mode := head & 3
	if g.use(headBits) {
		head |= 16 << g.IntN(4)
		if mode != modeRANS && g.IntN(2) == 0 {
			head |= tableDefault
		}
	}
	if g.use(modeThree) {
		head |= 3
	}
	return head
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
	count := 2 * ((total + pairSymbols - 1) / pairSymbols)
	at := 0
	for k := range count {
		end := total
		if k < count-1 {
			end = (total*(k+1)/count + 31) &^ 31
		}
		var own [][]coded
		for at < end {
			n := min(end-at, len(segments[0]))
			own = append(own, segments[0][:n])
			if segments[0] = segments[0][n:]; len(segments[0]) == 0 {
				segments = segments[1:]
			}
			at += n
		}
		p = g.group(p, 32, own)
	}
	return p
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
