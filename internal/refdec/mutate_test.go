package refdec

import (
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/internal/corpus"
)

// A mutator changes trees.
type mutator struct {
	*rand.Rand
	donors []tree // from which blocks and pieces are taken
	t      tree
}

// mutate returns a file that is made of a changed copy of a tree. large is as of tree.bytes.
func mutate(r *rand.Rand, t tree, donors []tree) (file []byte, large bool) {
	m := &mutator{r, donors, t.clone()}
	for range 1 + m.few(6) {
		m.change()
	}
	if m.IntN(4) == 0 {
		m.putInFront()
	}
	file, large = m.t.bytes()
	switch m.IntN(64) { // damage that the checks tell
	case 0:
		file = file[:m.IntN(len(file)+1)]
	case 1:
		flipBit(file, 1+m.IntN(8*len(file)+1))
	}
	return file, large
}

// few returns a number below n, more often a small one.
func (m *mutator) few(n int) int { return m.IntN(1 + m.IntN(n)) }

// change makes one change. Most changes are of payloads, where most of a decoder is.
func (m *mutator) change() {
	p := m.piece()
	switch k := m.IntN(100); {
	case p == nil || k < 8:
		m.changePieces()
	case p.kind >= sectionPiece:
		m.changeSection(p)
	case k < 14:
		m.changeHeader(p)
	case k < 20:
		m.changeTail(p)
	case k < 30 || len(p.chunks) == 0:
		m.changeChunks(p)
	case k < 40:
		m.changeChunk(p, &p.chunks[m.IntN(len(p.chunks))])
	default:
		c := &p.chunks[m.IntN(len(p.chunks))]
		m.changePayload(p, c)
		c.known = false
	}
}

// piece returns a piece of the file, most often a stream, or nil if there is none.
func (m *mutator) piece() *piece {
	if len(m.t) == 0 {
		return nil
	}
	p := &m.t[m.IntN(len(m.t))]
	if p.kind >= sectionPiece {
		p = &m.t[m.IntN(len(m.t))]
	}
	return p
}

// donor returns a file to take parts from.
func (m *mutator) donor() tree {
	if m.IntN(3) == 0 || len(m.donors) == 0 {
		return m.t
	}
	return m.donors[m.IntN(len(m.donors))]
}

// changePieces duplicates, drops, exchanges or inserts pieces.
func (m *mutator) changePieces() {
	if len(m.t) == 0 {
		m.t = m.donor().clone()
		return
	}
	i, k := m.IntN(len(m.t)), m.IntN(len(m.t))
	switch m.IntN(6) {
	case 0:
		m.t = slices.Insert(m.t, k, m.t[i:i+1].clone()...)
	case 1:
		m.t = slices.Delete(m.t, i, i+1)
	case 2:
		m.t[i], m.t[k] = m.t[k], m.t[i]
	case 3:
		if d := m.donor(); len(d) > 0 {
			j := m.IntN(len(d))
			m.t = slices.Insert(m.t, k, d[j:j+1].clone()...)
		}
	case 4:
		kinds := []byte{0x81, 0x80, 0x82, 0xff, 1, 0x7f}
		s := piece{kind: sectionPiece, version: version, sectionKind: kinds[m.few(len(kinds))]}
		s.body = corpus.ByName("random").Make(m.few(200))
		m.t = slices.Insert(m.t, m.IntN(len(m.t)+1), s)
	case 5:
		if m.IntN(4) == 0 {
			stray := [][]byte{{0}, []byte("PZ"), {'P', 'Z', 1, 0}, make([]byte, 40)}
			s := piece{kind: strayPiece, body: stray[m.IntN(len(stray))]}
			m.t = slices.Insert(m.t, m.IntN(len(m.t)+1), s)
		}
	}
}

// putInFront inserts much content that costs little in front of a block or of the file, so that
// workers of a Reader decode what is behind it.
func (m *mutator) putInFront() {
	c := chunk{kind: kindFill, raw: 60_000 + m.Uint32N(6000), payload: []byte{byte(m.Uint32())}}
	if p := m.piece(); p != nil && p.kind == streamPiece && m.IntN(2) == 0 {
		p.log = max(p.log, 17)
		p.chunks = slices.Insert(p.chunks, m.IntN(len(p.chunks)+1), c)
		return
	}
	p := piece{kind: streamPiece, version: version, pipeline: 2, log: 17, flags: flagContentChecks}
	p.chunks = slices.Repeat([]chunk{c}, 1+m.few(4))
	m.t = slices.Insert(m.t, m.IntN(len(m.t)+1), p)
}

// near returns a number that is near another one, or a special one.
func (m *mutator) near(n uint32) uint32 {
	switch m.IntN(8) {
	case 0:
		return []uint32{0, 1, 15, 16, 63, 64, 254, 255, 256, 4095, 4096, 4097, 65_000, 65_001,
			65_535, 65_536, 1<<17 + 1, 1 << 21, 1<<26 + 1, 1<<28 - 1, 1<<31 - 1, 1<<32 - 1}[m.IntN(22)]
	case 1:
		return n * 2
	case 2:
		return n / 2
	case 3:
		return m.Uint32N(max(n, 1))
	}
	return n + m.Uint32N(33) - 16
}

func (m *mutator) changeSection(p *piece) {
	switch m.IntN(8) {
	case 0:
		p.sectionKind = byte(m.Uint32())
	case 1:
		p.lies[lieSection] = uint64(int64(m.IntN(40) - 20))
	case 2:
		p.lies[lieSize] = uint64(int64(m.IntN(40) - 20))
	case 3:
		p.lies[lieSection] = []uint64{1 << 32, 1 << 62, 1 << 63, 1<<64 - 100}[m.IntN(4)]
	case 4:
		p.headFlip = 1 + m.IntN(8*13)
	case 5:
		p.tailFlip = 1 + m.IntN(64)
	default:
		p.body = m.changeBytes(p.body)
	}
}

// changeHeader changes fields of the header of a stream.
func (m *mutator) changeHeader(p *piece) {
	switch m.IntN(12) {
	case 0:
		p.pipeline ^= 3
	case 1:
		p.log = byte(11 + m.IntN(17))
	case 2:
		p.flags ^= flagContentSize
	case 3:
		p.flags ^= flagContentChecks
	case 4:
		if p.flags ^= flagWindow; p.flags&flagWindow != 0 {
			p.window, p.sources = byte(19+m.few(14)), byte(m.few(70))
		}
	case 5:
		if p.flags ^= flagDictionary; p.flags&flagDictionary != 0 {
			p.dictionary = jsonDictionary().ours.Number + uint32(m.IntN(8)/7)
		}
	case 6:
		p.window = byte(19 + m.few(14))
	case 7:
		p.sources = byte(m.few(70))
	case 8:
		p.lies[lieContent] = []uint64{1, 1<<64 - 1, 100, 1 << 40, 1<<63 - 1, 1 << 63}[m.IntN(6)]
	case 9, 10: // the other form
		if p.kind == smallPiece {
			p.kind = streamPiece
		} else {
			p.kind = smallPiece
		}
	case 11:
		p.headFlip = 1 + m.IntN(8*24)
	}
	p.changed()
}

// changeTail changes end marker, index and footer.
func (m *mutator) changeTail(p *piece) {
	lies := []uint64{1, 1<<64 - 1, 8, 1<<64 - 8, 1 << 32, 1 << 62, 1 << 63}
	lie := lies[m.IntN(len(lies))]
	switch m.IntN(8) {
	case 0:
		p.lies[lieMarker] = []uint64{4, 8, 1<<64 - 8, 1, 0x12340000}[m.IntN(5)]
	case 1:
		p.lies[lieFooterContent] = lie
	case 2:
		p.lies[lieSize] = lie
	case 3:
		p.lies[lieUnits] = lie
	case 4:
		p.tailFlip = 1 + m.IntN(8*60)
	default:
		how, from, n := m.IntN(5), m.Uint64(), 1+m.few(16)
		if m.IntN(2) == 0 {
			from, n = from&^7, 8
		}
		p.index = func(index []byte) []byte {
			at := int(from % uint64(len(index)+1))
			end := min(at+n, len(index))
			switch how {
			case 0:
				return slices.Concat(index[:at], index[end:])
			case 1:
				return slices.Concat(index[:end], index[at:])
			case 2: // another entry in its place
				index = slices.Clone(index)
				copy(index[at:end], index)
			case 3:
				return slices.Concat(index[:at], make([]byte, n), index[at:])
			default:
				index = slices.Clone(index)
				flipBit(index, 1+at*8+int(from>>32%8))
			}
			return index
		}
	}
}

// changeChunks duplicates, drops, exchanges or inserts blocks.
func (m *mutator) changeChunks(p *piece) {
	if n := len(p.chunks); n > 0 {
		i, k := m.IntN(n), m.IntN(n)
		switch m.IntN(4) {
		case 0:
			p.chunks = slices.Insert(p.chunks, k, p.chunks[i])
			return
		case 1:
			p.chunks = slices.Delete(p.chunks, i, i+1)
			return
		case 2:
			p.chunks[i], p.chunks[k] = p.chunks[k], p.chunks[i]
			return
		}
	}
	if c, ok := m.anyChunk(); ok {
		p.chunks = slices.Insert(p.chunks, m.IntN(len(p.chunks)+1), c)
	}
}

// anyChunk returns a block of any file, or a new one.
func (m *mutator) anyChunk() (c chunk, ok bool) {
	if m.IntN(3) == 0 {
		return m.generated()
	}
	d := m.donor()
	if len(d) == 0 {
		return c, false
	}
	p := d[m.IntN(len(d))]
	if len(p.chunks) == 0 {
		return c, false
	}
	c = p.chunks[m.IntN(len(p.chunks))]
	c.known = false
	return c, true
}

// generated returns a coded block that no encoder of ours writes, perhaps an invalid one.
func (m *mutator) generated() (c chunk, ok bool) {
	g := &generator{Rand: m.Rand}
	if m.IntN(2) == 0 {
		g.quirk = quirk(m.IntN(int(numQuirks)))
	}
	size := 64 + m.few(3000)
	if m.IntN(16) == 0 {
		size += 12_000
	}
	payload, content := g.payload(size)
	c = chunk{kind: kindCoded, raw: uint32(len(content)), payload: payload}
	c.short = m.IntN(2) == 0 && len(payload) < 1<<16
	return c, len(payload) > 0 && len(content) <= maxRaw
}

// changeChunk changes the header of a block.
func (m *mutator) changeChunk(p *piece, c *chunk) {
	switch m.IntN(9) {
	case 0:
		c.kind = m.Uint32N(4)
	case 1:
		c.raw = m.near(c.raw)
	case 2:
		c.short = !c.short
	case 3:
		c.flush = !c.flush
	case 4:
		c.sizeLie = []uint32{1, 1<<32 - 1, 2, 100, 1 << 20}[m.IntN(5)]
	case 5:
		c.numberLie = []uint64{1, 1<<64 - 1, 1 << 16, 1 << 32}[m.IntN(4)]
	case 6:
		c.flip = 1 + m.IntN(64)
	case 7: // stored content of any length
		c.kind, c.raw = kindStored, uint32(len(c.payload))
	case 8:
		n := 1 + m.few(5000)
		*c = chunk{kind: kindFill, raw: uint32(n), payload: []byte{'x'}}
	}
	c.known = false
}

// changePayload changes the payload of a block.
func (m *mutator) changePayload(p *piece, c *chunk) {
	if c.kind == kindCoded && len(c.payload) > 0 && c.payload[0] == layoutReferences {
		m.changeReferences(c)
		return
	}
	switch k := m.IntN(20); {
	case k == 0 && len(p.chunks) > 1:
		m.refer(p, c)
	case k == 1:
		if other, ok := m.anyChunk(); ok {
			c.payload = other.payload
			if m.IntN(2) == 0 {
				c.kind, c.raw = other.kind, other.raw
			}
		}
	case k == 2 && len(c.payload) > 0:
		c.payload = slices.Clone(c.payload)
		c.payload[0] = byte(m.few(6))
	case k < 14 && c.kind == kindCoded:
		m.recode(c)
	default:
		c.payload = m.changeBytes(c.payload)
	}
}

// changeBytes returns a changed copy of p. The beginning changes more often: most of what can go
// wrong is in heads.
func (m *mutator) changeBytes(p []byte) []byte {
	p = slices.Clone(p)
	for range 1 + m.few(4) {
		at := m.IntN(len(p) + 1)
		if m.IntN(2) == 0 {
			at = m.IntN(min(len(p), 60) + 1)
		}
		end := min(at+1+m.few(8), len(p))
		switch m.IntN(8) {
		case 0:
			p = slices.Delete(p, at, end)
		case 1:
			p = slices.Insert(p, at, p[at:end]...)
		case 2:
			p = slices.Insert(p, at, byte(m.Uint32()))
		case 3:
			p = p[:at]
		case 4:
			for i := at; i < end; i++ {
				p[i] = []byte{0, 1, 127, 128, 254, 255}[m.IntN(6)]
			}
		default:
			flipBit(p, 1+at*8+m.IntN(8))
		}
	}
	return p
}
