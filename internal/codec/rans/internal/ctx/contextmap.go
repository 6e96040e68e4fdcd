package ctx

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// contextMap maps two symbols to a context: first[last] + second[the one before]. first supplies
// the upper 8−secondBits bits of a context and second the lower secondBits bits. The symbol behind
// a marked one has context first[marked] + second[0].
type contextMap struct {
	secondBits    uint8 // 0 to 8
	first, second [256]uint8
}

// With these values of secondBits the context is the last symbol, or the one before it. Such maps
// are implicit in the stream.
const (
	identityFirst  = 0
	identitySecond = 8
)

// mapSize is the size of any other map in the stream, in bytes.
const mapSize = 256

// setIdentity makes m the identity of one symbol if secondBits is 0 or 8.
func (m *contextMap) setIdentity(secondBits uint8) {
	*m = contextMap{secondBits: secondBits}
	for s := range 256 {
		if secondBits == identityFirst {
			m.first[s] = uint8(s)
		} else {
			m.second[s] = uint8(s)
		}
	}
}

// encodedSize returns the size of the map in the stream, in bytes.
func (m *contextMap) encodedSize() int {
	if m.secondBits == identityFirst || m.secondBits == identitySecond {
		return 1
	}
	return 1 + mapSize
}

// terms returns what each symbol adds to contexts. Entry a is for the symbol after a, and entry
// a + 256 for a marked symbol after a. Bits 0 to 15 are the term of a in the context of that
// symbol, or markContext. Bits 16 to 31 are the term of a in the next context.
func (m *contextMap) terms() (t [512]uint32) {
	for s := range 256 {
		t[s] = uint32(m.first[s]) | uint32(m.second[s])<<16
		t[s+256] = markContext | uint32(m.second[0])<<16
	}
	return t
}

// learnFrom is the number of symbols from which maps are learned. In a shorter stream a map costs
// more than it saves.
const learnFrom = 1 << 12

// learn counts a sample of a long stream of n symbols: one window of sampleWindow symbols in
// min(1+n/fullSample, maxStride).
const (
	sampleWindow = 1 << 12
	fullSample   = 1 << 17
	maxStride    = 8
)

// Contexts models how the two bytes before a byte predict it. The context is First[last byte] +
// Second[the byte before it]. Contexts of the same Class have similar statistics.
type Contexts struct {
	First, Second [256]uint8
	Class         [256]uint8 // values are below Classes
	Classes       int        // 1 to 32
}

// Learn stores in c the context model of all bytes of content. marks must be a zeroed slice as long
// as content. Learn must not be called between Prepare and Append.
func (e *Encoder) Learn(c *Contexts, content, marks []byte) {
	e.allocate()
	e.scratch.learn(&e.contexts, content, marks)
	e.scratch.sample(&e.contexts, content, marks, 1)
	all := e.scratch.clusters.cluster(e.scratch.unit, maxTables)
	c.First, c.Second, c.Classes = e.contexts.first, e.contexts.second, all.n
	copy(c.Class[:], all.class[:])
}

// learn finds the map that gives the smallest single segment for a stream: the identity of one of
// the two symbols, or classes of both in 8 bits. Symbols that predict similar successors form a
// class. learn finds them by clustering each of the two symbols as a context of its own. It
// overwrites s.unit.
func (s *scratch) learn(m *contextMap, stream, marks []byte) {
	m.setIdentity(identityFirst)
	if len(stream) < learnFrom {
		return
	}
	c := &s.clusters
	var one, other contextMap
	one.setIdentity(identityFirst)
	other.setIdentity(identitySecond)
	noGain := func(t *contextMap) bool {
		s.sample(t, stream, marks, max(1, len(stream)/(probeUnits*cutUnit)))
		return s.unit.noGain()
	}
	if noGain(&one) && noGain(&other) {
		return
	}
	stride := min(1+len(stream)/fullSample, maxStride)
	lowest := ^uint64(0)
	consider := func(t *contextMap, found *classes) {
		if cost := found.cost + uint64(t.encodedSize()*8*model.CostBit); cost < lowest {
			*m, lowest = *t, cost
		}
	}
	const least, most = 3, 5      // bits of the classes of a symbol
	var both [most + 1]contextMap // by secondBits
	for _, t := range [...]*contextMap{&one, &other} {
		s.sample(t, stream, marks, stride)
		for bits := uint8(least); bits <= most; bits++ {
			found := c.cluster(s.unit, 1<<bits)
			if 1<<bits == maxTables {
				consider(t, found)
			}
			if t == &one {
				for s := range 256 {
					both[8-bits].first[s] = found.class[s] << (8 - bits)
				}
			} else {
				both[bits].secondBits = bits
				copy(both[bits].second[:], found.class[:])
			}
		}
	}
	for bits := least; bits <= most; bits++ {
		s.sample(&both[bits], stream, marks, stride)
		consider(&both[bits], c.cluster(s.unit, maxTables))
	}
}

// sample counts one window of a stream in stride, to s.unit.
func (s *scratch) sample(m *contextMap, stream, marks []byte, stride int) {
	s.unit.sample(m, stream, marks, 0, sampleWindow, stride, s.clusters.checkpoint)
}

// appendMap appends the map to dst.
func (m *contextMap) appendMap(dst []byte) []byte {
	dst = append(dst, m.secondBits)
	if m.encodedSize() == 1 {
		return dst
	}
	w := bitio.Writer{Out: dst}
	for _, v := range m.first {
		w.Put(uint64(v>>m.secondBits), uint(8-m.secondBits))
	}
	for _, v := range m.second {
		w.Put(uint64(v), uint(m.secondBits))
	}
	w.Align()
	return w.Out
}

// read sets m to the map at the front of src and returns the rest of src.
func (m *contextMap) read(src []byte) ([]byte, error) {
	if len(src) == 0 || src[0] > identitySecond {
		return nil, model.CorruptError("bad map of contexts")
	}
	m.setIdentity(src[0])
	n := m.encodedSize()
	if len(src) < n {
		return nil, model.CorruptError("map of contexts missing")
	}
	if n == 1 {
		return src[1:], nil
	}
	r := bitio.Reader{Data: src[1:n]}
	for s := range m.first {
		m.first[s] = uint8(r.Take(uint(8-m.secondBits))) << m.secondBits
	}
	for s := range m.second {
		m.second[s] = uint8(r.Take(uint(m.secondBits)))
	}
	return src[n:], nil
}
