package refdec

const (
	modeStored = 0
	modeByte   = 1
	modeRANS   = 2

	segmentEnds  = 1 << 2 // the flag of a segment that ends its stream
	tableDefault = 1 << 3 // the flag of a segment with the default table

	minSegment = 4096 // symbols of a segment that does not end its stream

	tableBits  = 11
	tableTotal = 1 << tableBits

	// number of coded symbols from which there are groups of 32 lanes instead of one of 4
	twoGroups = 8192
	// most coded symbols of two groups
	pairSymbols = 1 << 19

	minState = 1 << 15
	maxState = 1<<31 - 1
)

// A table holds the frequencies of the symbols, their cumulative sums, and the symbol of each slot.
type table struct {
	freq, sum [256]uint32
	symbols   [tableTotal]byte
}

// A segment is a part of a stream: its mode and the destination of its symbols.
type segment struct {
	mode  byte
	fill  byte  // for modeByte
	table table // for modeRANS
	dst   []byte
}

// decodeStreams decodes streams that are coded together.
func decodeStreams(r *byteReader, limits [numStreams]int) ([numStreams][]byte, error) {
	var streams [numStreams][]byte
	var segments []*segment
	for i := range streams {
		n, err := r.varint()
		if err != nil {
			return streams, err
		}
		if n > uint64(limits[i]) {
			return streams, corrupt("stream %d has %d bytes", i, n)
		}
		streams[i] = make([]byte, n)
		for rest := streams[i]; len(rest) > 0; {
			s, err := parseSegment(r, rest, i)
			if err != nil {
				return streams, err
			}
			segments = append(segments, s)
			rest = rest[len(s.dst):]
		}
	}

	if err := decodeGroups(r, segments); err != nil {
		return streams, err
	}

	for _, s := range segments {
		switch s.mode {
		case modeStored:
			b, err := r.take(uint64(len(s.dst)))
			if err != nil {
				return streams, err
			}
			copy(s.dst, b)
		case modeByte:
			for i := range s.dst {
				s.dst[i] = s.fill
			}
		}
	}
	return streams, nil
}

// parseSegment reads the head of a segment. rest is the unfilled part of its stream, which has the
// given number.
func parseSegment(r *byteReader, rest []byte, stream int) (*segment, error) {
	head, err := r.byte()
	if err != nil {
		return nil, err
	}
	s := &segment{mode: head & 3, dst: rest}
	if head > 15 || s.mode == 3 || head&tableDefault != 0 && s.mode != modeRANS {
		return nil, corrupt("segment head %#x", head)
	}
	chose(choiceHead, int(head)+16*stream)
	if head&segmentEnds == 0 {
		n, err := r.varint()
		if err != nil {
			return nil, err
		}
		if n < minSegment || n >= uint64(len(rest)) {
			return nil, corrupt("segment of %d symbols, where %d are missing", n, len(rest))
		}
		s.dst = rest[:n]
	}
	switch {
	case s.mode == modeByte:
		s.fill, err = r.byte()
	case head&tableDefault != 0:
		var t *table
		t, err = defaultTable(stream)
		if err == nil {
			s.table = *t
		}
	case s.mode == modeRANS:
		err = parseTable(r, &s.table)
	}
	return s, err
}

// parseTable reads a frequency table and computes its cumulative sums.
func parseTable(r *byteReader, t *table) error {
	bits := &bitReader{data: r.data}
	total := uint32(0)
	for s := 0; total < tableTotal; {
		class, err := bits.bits(4)
		if err != nil {
			return err
		}
		chose(choiceClass, int(class))
		zeros := 0
		switch {
		case class == 0:
			return corrupt("class 0 in a table")
		case class <= 11:
			low, err := bits.bits(int(class) - 1)
			if err != nil {
				return err
			}
			if s > 255 {
				return corrupt("table has more than 256 symbols")
			}
			t.freq[s] = 1<<(class-1) + uint32(low)
			total += t.freq[s]
			s++
		case class <= 14:
			zeros = int(class) - 11
		default:
			n, err := parseZeroRun(bits)
			if err != nil {
				return err
			}
			zeros = 3 + n
		}
		// A symbol must follow the zeros, or the sum is never reached: symbol 256 fails above.
		s += zeros
	}
	if total != tableTotal {
		return corrupt("frequencies sum to %d", total)
	}
	pad, err := bits.bits(bits.bytesUsed()*8 - bits.at)
	if err != nil {
		return err
	}
	if pad != 0 {
		return corrupt("bits set after a table")
	}
	if _, err := r.take(uint64(bits.bytesUsed())); err != nil {
		return err
	}
	sum := uint32(0)
	for s := range t.sum {
		t.sum[s] = sum
		for range t.freq[s] {
			t.symbols[sum] = byte(s)
			sum++
		}
	}
	return nil
}

// parseZeroRun reads the n of class 15: ⌊log₂ n⌋ zero bits, a one, and the bits of n below its
// highest.
func parseZeroRun(bits *bitReader) (int, error) {
	log := 0
	for {
		bit, err := bits.bits(1)
		if err != nil {
			return 0, err
		}
		if bit == 1 {
			break
		}
		log++
		if log > 7 {
			return 0, corrupt("run of zero frequencies is too long")
		}
	}
	chose(choiceRun, log)
	low, err := bits.bits(log)
	if err != nil {
		return 0, err
	}
	return 1<<log + int(low), nil
}

// decodeGroups reads the lane groups and fills the segments of mode rANS.
func decodeGroups(r *byteReader, segments []*segment) error {
	var parts []*segment
	total := 0
	for _, s := range segments {
		if s.mode == modeRANS {
			parts = append(parts, s)
			total += len(s.dst)
		}
	}
	if total == 0 {
		chose(choiceGroups, 0)
		return nil
	}
	if total < twoGroups {
		chose(choiceGroups, 1)
		return decodeGroup(r, 4, parts)
	}

	groups := 2 * ((total + pairSymbols - 1) / pairSymbols)
	chose(choiceGroups, groups)
	at := 0 // symbols of the groups so far
	for i := range groups {
		end := int((uint64(total)*uint64(i+1)/uint64(groups) + 31) / 32 * 32)
		if i == groups-1 {
			end = total
		}
		var own []*segment
		for at < end {
			s := parts[0]
			n := min(end-at, len(s.dst))
			own = append(own, &segment{table: s.table, dst: s.dst[:n]})
			if s.dst = s.dst[n:]; len(s.dst) == 0 {
				parts = parts[1:]
			}
			at += n
		}
		if err := decodeGroup(r, 32, own); err != nil {
			return err
		}
	}
	return nil
}

// decodeGroup reads one lane group and fills the segments, or parts of segments, that belong to it.
func decodeGroup(r *byteReader, lanes int, parts []*segment) error {
	g, err := openGroup(r, lanes)
	if err != nil {
		return err
	}
	for _, p := range parts {
		for i := range p.dst {
			p.dst[i], err = g.step(i%lanes, &p.table)
			if err != nil {
				return err
			}
		}
	}
	return g.checkStates()
}

// A group is a lane group during decoding.
type group struct {
	states []uint32
	words  byteReader
}

func openGroup(r *byteReader, lanes int) (*group, error) {
	size, err := r.varint()
	if err != nil {
		return nil, err
	}
	if size%2 != 0 {
		return nil, corrupt("words of %d bytes", size)
	}
	g := &group{states: make([]uint32, lanes)}
	for i := range g.states {
		x, err := r.uint32()
		if err != nil {
			return nil, err
		}
		if x < minState || x > maxState {
			return nil, corrupt("state %#x", x)
		}
		g.states[i] = x
	}
	g.words.data, err = r.take(size)
	return g, err
}

// step decodes the next symbol of a lane.
func (g *group) step(lane int, t *table) (byte, error) {
	x := g.states[lane]
	slot := x % tableTotal
	s := t.symbols[slot]
	x = t.freq[s]*(x>>tableBits) + slot - t.sum[s]
	if x < minState {
		w, err := g.words.take(2)
		if err != nil {
			return 0, err
		}
		x = x<<16 | uint32(w[0]) | uint32(w[1])<<8
	}
	g.states[lane] = x
	return s, nil
}

func (g *group) checkStates() error {
	for _, x := range g.states {
		if x != minState {
			return corrupt("state %#x at the end of a group", x)
		}
	}
	if len(g.words.data) != 0 {
		return corrupt("%d bytes of words left over", len(g.words.data))
	}
	return nil
}
