package ctx

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/rans/internal/model"
)

// contextMap says what context a symbol of a chained stream has: first of the symbol before it added to second of the one before that. If low is l, first has the upper 8−l bits
// of a context, and second the lower l bits. Behind a symbol with a mark second is that of 0.
type contextMap struct {
	low           uint8 // 0 … 8
	first, second [256]uint8
}

// Maps with all bits of one symbol are not learned: contexts are those symbols.
const (
	lastSymbol   = 0
	symbolBefore = 8
)

// mapSize is the size of other maps, in bytes.
const mapSize = 256

// whole makes m a map of all bits of one symbol.
func (m *contextMap) whole(low uint8) {
	*m = contextMap{low: low}
	for s := range 256 {
		if low == lastSymbol {
			m.first[s] = uint8(s)
		} else {
			m.second[s] = uint8(s)
		}
	}
}

// size is what the map takes in the stream, in bytes.
func (m *contextMap) size() int {
	if m.low == lastSymbol || m.low == symbolBefore {
		return 1
	}
	return 1 + mapSize
}

// learnSymbols is the number of symbols from which maps are learned: with fewer, what they save does not make up for their size.
const learnSymbols = 1 << 12

// To choose a map for a long stream one of learnEvery windows of it is counted, and more if that were less than learnEnough symbols.
const (
	learnEvery  = 8
	learnEnough = 1 << 17
	learnWindow = 1 << 12
)

// Contexts say what is known of a byte before it is coded, by the two bytes before: its context is First of the last one and Second of the one before that, added, and Class
// says which contexts are alike.
type Contexts struct {
	First, Second [256]uint8
	Class         [256]uint8 // below Classes
	Classes       int        // 1 … maxTables
}

// Learn finds what contexts all bytes of some content have, whether they are going to be coded or not. Marks are as many zeros. The encoder must not be in use.
func (e *Encoder) Learn(c *Contexts, content, marks []byte) {
	e.begin()
	l := e.large
	l.learn(&e.contexts, content, marks, 1)
	l.all.tables(&e.contexts, content, marks, maxTables, 1)
	c.First, c.Second, c.Classes = e.contexts.first, e.contexts.second, l.all.n
	copy(c.Class[:], l.all.class[:])
}

// learn finds the map with which a stream is shortest if it is one segment: all bits of one symbol, or classes of both. Which symbols are alike for what comes next, and
// which for what comes after that, tell clusters of them as contexts of their own. Of long streams every times less is counted than learnEvery says. It destroys all clusters.
func (l *chainScratch) learn(m *contextMap, stream, marks []byte, every int) {
	m.whole(lastSymbol)
	if len(stream) < learnSymbols {
		return
	}
	c := l.all
	var t contextMap
	t.whole(symbolBefore)
	if c.flat(m, stream, marks, 0) && c.flat(&t, stream, marks, 0) {
		return
	}
	every *= min(1+len(stream)/learnEnough, learnEvery)
	least := c.tables(m, stream, marks, maxTables, every)
	try := func() {
		if cost := c.tables(&t, stream, marks, maxTables, every) + uint64(t.size()*8*model.CostBit); cost < least {
			*m, least = t, cost
		}
	}
	try()
	for low := uint8(3); low <= 5; low++ {
		t.whole(lastSymbol)
		c.tables(&t, stream, marks, 1<<(8-low), every)
		var own contextMap
		own.low = low
		for s := range own.first {
			own.first[s] = c.class[s] << low
		}
		t.whole(symbolBefore)
		c.tables(&t, stream, marks, 1<<low, every)
		copy(own.second[:], c.class[:])
		t = own
		try()
	}
}

// tables finds the tables of a stream that is one segment, by one of so many windows of it, and returns what those cost.
func (c *clusters) tables(m *contextMap, stream, marks []byte, most, every int) uint64 {
	c.pairs = [contexts][256]uint32{}
	for from := 0; from < len(stream); from += every * learnWindow {
		c.count(m, stream[:min(from+learnWindow, len(stream))], marks, from)
	}
	c.share(most)
	return c.cost
}

// append adds the map to dst.
func (m *contextMap) append(dst []byte) []byte {
	dst = append(dst, m.low)
	if m.size() == 1 {
		return dst
	}
	w := bitio.Writer{Out: dst}
	for _, v := range m.first {
		w.Put(uint64(v>>m.low), uint(8-m.low))
	}
	for _, v := range m.second {
		w.Put(uint64(v), uint(m.low))
	}
	w.Align()
	return w.Out
}

// read takes a map from the front of src and returns what follows it.
func (m *contextMap) read(src []byte) ([]byte, error) {
	if len(src) == 0 || src[0] > symbolBefore {
		return nil, model.CorruptError("bad map of contexts")
	}
	m.whole(src[0])
	n := m.size()
	if len(src) < n {
		return nil, model.CorruptError("map of contexts missing")
	}
	if n == 1 {
		return src[1:], nil
	}
	r := bitio.Reader{Data: src[1:n]}
	for s := range m.first {
		m.first[s] = uint8(r.Take(uint(8-m.low))) << m.low
	}
	for s := range m.second {
		m.second[s] = uint8(r.Take(uint(m.low)))
	}
	return src[n:], nil
}
