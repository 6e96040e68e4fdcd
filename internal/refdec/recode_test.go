package refdec

import (
	"encoding/binary"
	"slices"
)

// recode decodes the byte streams of a coded block, changes them, and codes them anew. So entropy
// coding is valid, and decoders reach the sequences.
func (m *mutator) recode(c *chunk) {
	payload, raw, ok := m.recoded(c.payload, c.raw)
	if !ok {
		c.payload = m.changeBytes(c.payload)
		return
	}
	c.payload, c.raw = payload, raw
	if len(c.payload) >= 1<<16 {
		c.short = false
	}
}

// recoded returns the payload of a changed block and its raw size.
func (m *mutator) recoded(payload []byte, raw uint32) (_ []byte, _ uint32, ok bool) {
	if len(payload) == 0 || raw > maxRaw {
		return nil, 0, false
	}
	layout := payload[0]
	r := &byteReader{payload[1:]}
	g := &generator{Rand: m.Rand}
	var streams [numStreams][]byte
	var err error
	switch layout {
	case layoutDense:
		var filtered []x86Range
		streams, filtered, err = decodeDense(r, int(raw))
		g.filtered = len(filtered) > 0
	case layoutPlain, layoutRepeat:
		streams, err = decodeStreams(r, streamLimits(layout, int(raw)))
	default:
		return nil, 0, false
	}
	if err != nil {
		return nil, 0, false
	}
	if m.IntN(8) > 0 {
		m.changeStreams(&streams)
	}
	if m.IntN(16) == 0 { // another layout for the same streams
		layout = byte(1 + m.IntN(3))
	}
	if n := contentOf(layout, streams); m.IntN(8) > 0 && n > 0 && n <= maxRaw {
		raw = uint32(n)
	}
	if m.IntN(8) == 0 {
		g.quirk = quirk(m.IntN(int(numQuirks)))
	}
	g.streams = streams
	g.out = make([]byte, raw)
	if layout == layoutDense {
		return g.codeDense(), raw, true
	}
	return g.code([]byte{layout}), raw, true
}

// changeStreams changes one or two byte streams.
func (m *mutator) changeStreams(streams *[numStreams][]byte) {
	for range 1 + m.few(2) {
		s := &streams[m.IntN(numStreams)]
		p := slices.Clone(*s)
		at := m.IntN(len(p) + 1)
		end := min(at+1+m.few(16), len(p))
		switch m.IntN(8) {
		case 0:
			p = slices.Delete(p, at, end)
		case 1: // the same again
			p = slices.Insert(p, at, p[at:end]...)
		case 2:
			p = slices.Insert(p, at, byte(m.Uint32()))
		case 3: // a part of another place
			copy(p[at:end], p[m.IntN(len(p)+1):])
		case 4:
			for i := at; i < end; i++ {
				p[i] = []byte{0, 3, 15, 63, 252, 254, 255}[m.IntN(7)]
			}
		case 5: // a long length
			p = slices.Insert(p, at, 255, byte(m.few(256)), byte(m.few(8)), 0, 0)
		default:
			flipBit(p, 1+at*8+m.IntN(8))
		}
		*s = p
	}
}

// contentOf returns how much content byte streams make, as far as their lengths say.
func contentOf(layout byte, streams [numStreams][]byte) uint64 {
	r := &sequenceReader{streams: streams, minMatch: minMatches(layout)}
	n := uint64(len(streams[streamLits]))
	for _, token := range streams[streamTokens] {
		var match uint64
		var err error
		token := uint64(token)
		if layout == layoutPlain {
			r.length(token&15, 15, 0, streamLitLens)
			match, err = r.length(token>>4, 15, 5, streamMatchLens)
		} else {
			r.length(token&3, 3, 0, streamLitLens)
			match, err = r.length(token>>2&15, 15, r.minMatch[token>>6], streamMatchLens)
		}
		if n += match; err != nil || n > maxRaw {
			break
		}
	}
	return n
}

// A referenceList is a payload of layout 4 taken apart.
type referenceList struct {
	sources []int
	refs    [][4]int // own content in front, length, source, offset
	kind    byte     // of the own content
	own     []byte   // its payload
}

// parseList takes a payload of layout 4 apart, without checking the numbers.
func parseList(payload []byte) (l referenceList, ok bool) {
	r := &byteReader{payload[min(5, len(payload)):]}
	number := func() int {
		n, err := r.varint()
		if err != nil {
			return 0
		}
		return int(n)
	}
	for range min(number(), maxSources) {
		l.sources = append(l.sources, number())
	}
	for range min(number(), 1000) {
		l.refs = append(l.refs, [4]int{number(), number(), number(), number()})
	}
	kind, err := r.byte()
	l.kind, l.own = kind, r.data
	return l, err == nil
}

// ownSize returns the size of the own content of a block.
func (l *referenceList) ownSize(raw uint32) int {
	n := int(raw)
	for _, ref := range l.refs {
		n -= ref[1]
	}
	return n
}

// changeReferences changes the list of references of a block, or its own content.
func (m *mutator) changeReferences(c *chunk) {
	l, ok := parseList(c.payload)
	if !ok || m.IntN(8) == 0 {
		c.payload = m.changeBytes(c.payload)
		return
	}
	own := l.ownSize(c.raw)
	switch k := m.IntN(10); {
	case k < 2 && len(l.sources) > 0:
		s := &l.sources[m.IntN(len(l.sources))]
		*s = int(m.near(uint32(*s)))
	case k < 5 && len(l.refs) > 0:
		n := &l.refs[m.IntN(len(l.refs))][m.IntN(4)]
		*n = int(m.near(uint32(*n)))
	case k == 5 && len(l.refs) > 0:
		i := m.IntN(len(l.refs))
		l.refs = slices.Insert(l.refs, i, l.refs[i])
	case k == 6 && len(l.refs) > 0:
		i := m.IntN(len(l.refs))
		l.refs = slices.Delete(l.refs, i, i+1)
	case k == 7:
		l.kind = byte(m.few(5))
	case k == 8 && l.kind == kindCoded:
		if payload, raw, ok := m.recoded(l.own, uint32(max(own, 0))); ok {
			l.own, own = payload, int(raw)
		}
	default:
		l.own = m.changeBytes(l.own)
		if l.kind == kindStored {
			own = len(l.own)
		}
	}
	if m.IntN(8) > 0 { // the raw size follows
		c.raw = uint32(own + int(c.raw) - l.ownSize(c.raw))
	}
	c.payload = list(l.sources, l.refs, l.kind, l.own)
}

// refer makes a block one that repeats parts of those in front of it.
func (m *mutator) refer(p *piece, c *chunk) {
	p.flags |= flagWindow
	p.flags &^= flagDictionary
	if p.window < minLogWindow {
		p.window, p.sources = byte(minLogWindow+m.few(11)), byte(1+m.few(8))
	}
	l := referenceList{kind: byte(c.kind), own: c.payload}
	if l.kind == kindCoded && len(l.own) > 0 && l.own[0] == layoutReferences {
		return
	}
	for range 1 + m.few(4) {
		l.sources = append(l.sources, 1+m.few(3))
	}
	raw, left := int(c.raw), int(c.raw)
	for range 1 + m.few(5) {
		ref := [4]int{m.IntN(max(left, 0) + 1), 64 + m.few(300), m.IntN(len(l.sources)), m.few(1000)}
		l.refs = append(l.refs, ref)
		left -= ref[0]
		raw += ref[1]
	}
	*c = chunk{kind: kindCoded, raw: uint32(raw), payload: list(l.sources, l.refs, l.kind, l.own)}
	p.changed()
}

// list encodes a payload of layout 4 with a check of 0.
func list(sources []int, refs [][4]int, kind byte, own []byte) []byte {
	p := []byte{layoutReferences, 0, 0, 0, 0}
	put := func(n int) { p = binary.AppendUvarint(p, uint64(uint32(n))) }
	put(len(sources))
	for _, s := range sources {
		put(s)
	}
	put(len(refs))
	for _, r := range refs {
		for _, n := range r {
			put(n)
		}
	}
	return append(append(p, kind), own...)
}
