package peertest_test

import (
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/zstframe"
)

// A zstMutator changes the parts of a .zst file.
type zstMutator struct {
	*rand.Rand
	donors [][]zstPart // files from which frames, blocks and sections are taken
	list   []zstPart
}

// zstMutants returns a function that changes a file, or, without one, any of the bases.
func zstMutants(bases [][]byte) func(r *rand.Rand, file []byte) []byte {
	var donors [][]zstPart
	for _, file := range bases {
		donors = append(donors, parseZst(file))
	}
	return func(r *rand.Rand, file []byte) []byte {
		list := donors[r.IntN(len(donors))]
		if file != nil {
			list = parseZst(file)
		}
		m := &zstMutator{r, donors, cloneZst(list)}
		for range 1 + m.few(5) {
			m.change()
		}
		return damageFile(r, zstFile(m.list))
	}
}

// damageFile cuts a file or flips a bit, in one of 32 cases.
func damageFile(r *rand.Rand, file []byte) []byte {
	switch r.IntN(64) {
	case 0:
		return file[:r.IntN(len(file)+1)]
	case 1:
		return flipBit(r, file)
	}
	return file
}

// flipBit returns a copy with a bit flipped.
func flipBit(r *rand.Rand, p []byte) []byte {
	p = slices.Clone(p)
	if len(p) > 0 {
		p[r.IntN(len(p))] ^= 1 << r.IntN(8)
	}
	return p
}

// cloneZst copies parts so that changing their blocks does not change the original.
func cloneZst(list []zstPart) []zstPart {
	list = slices.Clone(list)
	for i := range list {
		list[i].blocks = slices.Clone(list[i].blocks)
	}
	return list
}

// few returns a number below n, more often a small one.
func (m *zstMutator) few(n int) int { return m.IntN(1 + m.IntN(n)) }

// change makes one change. Most are of blocks, where most of a decoder is.
func (m *zstMutator) change() {
	p := m.frame()
	switch k := m.IntN(100); {
	case p == nil || k < 8:
		m.changeParts()
	case k < 18:
		m.changeHeader(p)
	case k < 34:
		m.changeBlocks(p)
	case k < 44:
		m.newBlocks(p)
	case k < 50:
		m.changeTable()
	case len(p.blocks) == 0:
		m.newBlocks(p)
	default:
		b := m.compressed(p)
		b.lits.streams = slices.Clone(b.lits.streams)
		switch k := m.IntN(16); {
		case k == 0:
			b.sizeLie = m.IntN(9) - 4
		case k == 1:
			b.lastLie = true
		case !b.parsed:
			b.body = m.changeBytes(b.body)
		case k < 9:
			m.changeLiterals(&b.lits)
		default:
			m.changeSequences(&b.seqs)
		}
	}
}

// frame returns a frame of the file, nil if there is none.
func (m *zstMutator) frame() *zstPart {
	for range 8 {
		if len(m.list) == 0 {
			return nil
		}
		if p := &m.list[m.IntN(len(m.list))]; p.kind == framePart {
			return p
		}
	}
	return nil
}

// compressed returns a block of a frame, preferably a compressed one.
func (m *zstMutator) compressed(p *zstPart) *zstBlock {
	b := &p.blocks[m.IntN(len(p.blocks))]
	for range 4 {
		if b.parsed {
			break
		}
		b = &p.blocks[m.IntN(len(p.blocks))]
	}
	return b
}

// donor returns a file to take parts from.
func (m *zstMutator) donor() []zstPart {
	if m.IntN(3) == 0 || len(m.donors) == 0 {
		return m.list
	}
	return m.donors[m.IntN(len(m.donors))]
}

// donorBlock returns a block with sections of any file, nil if there is none.
func (m *zstMutator) donorBlock() *zstBlock {
	for range 8 {
		if d := m.donor(); len(d) > 0 {
			if p := &d[m.IntN(len(d))]; len(p.blocks) > 0 {
				if b := m.compressed(p); b.parsed {
					return b
				}
			}
		}
	}
	return nil
}

// changeParts duplicates, drops, exchanges or inserts parts.
func (m *zstMutator) changeParts() {
	at := m.IntN(len(m.list) + 1)
	insert := func(p zstPart) { m.list = slices.Insert(m.list, at, cloneZst([]zstPart{p})...) }
	switch k := m.IntN(7); {
	case k == 0:
		p := zstPart{kind: skippablePart, number: byte(m.IntN(16))}
		p.body = corpus.ByName("random").Make(m.few(100))
		if m.IntN(8) == 0 {
			p.lie = m.Uint32() >> m.IntN(32)
		}
		insert(p)
	case k == 1:
		insert(zstPart{kind: tablePart, sums: m.IntN(2) == 0})
	case k == 2 && m.IntN(4) == 0:
		stray := [][]byte{{0}, {0x28, 0xB5, 0x2F}, make([]byte, 30), {0x28, 0xB5, 0x2F, 0xFD}}
		insert(zstPart{kind: strayPart, body: stray[m.IntN(len(stray))]})
	case k == 3 || len(m.list) == 0:
		if d := m.donor(); len(d) > 0 {
			insert(d[m.IntN(len(d))])
		}
	case k == 4:
		i := m.IntN(len(m.list))
		m.list = slices.Delete(m.list, i, i+1)
	case k == 5:
		i, k := m.IntN(len(m.list)), m.IntN(len(m.list))
		m.list[i], m.list[k] = m.list[k], m.list[i]
	default:
		insert(m.list[m.IntN(len(m.list))])
	}
}

// changeHeader changes fields of the header of a frame, and its checksum.
func (m *zstMutator) changeHeader(p *zstPart) {
	lies := []int64{1, -1, 100, -100, 1 << 17, 1 << 25, 1 << 40, -1 << 63}
	switch m.IntN(10) {
	case 0, 1:
		p.window = byte(m.few(256))
	case 2:
		p.single = !p.single
	case 3:
		p.sizeCode = byte(m.IntN(4))
	case 4:
		p.checksum = !p.checksum
	case 5:
		p.dictCode = byte(m.IntN(4))
	case 6:
		p.dict = uint32(m.IntN(2) * m.IntN(1<<20))
	case 7:
		p.reserved = 1 << (3 + m.IntN(2))
	case 8:
		p.sizeLie = lies[m.IntN(len(lies))]
	case 9:
		p.sumLie = uint32(m.IntN(3))
	}
}

// changeBlocks duplicates, drops, exchanges or inserts blocks of a frame.
func (m *zstMutator) changeBlocks(p *zstPart) {
	at, n := m.IntN(len(p.blocks)+1), len(p.blocks)
	sizes := []int{0, 0, 1, m.IntN(2000), zstframe.MaxBlock, zstframe.MaxBlock + 1}
	switch k := m.IntN(8); {
	case k == 0:
		size := sizes[m.IntN(len(sizes))]
		p.blocks = slices.Insert(p.blocks, at, zstBlock{
			kind: zstframe.RLEBlock, size: size, body: []byte{byte(m.Uint32())},
		})
	case k == 1:
		size := sizes[m.IntN(len(sizes)-2)]
		p.blocks = slices.Insert(p.blocks, at, zstBlock{body: corpus.ByName("text").Make(size)})
	case k == 2 || n == 0:
		if b := m.donorBlock(); b != nil {
			p.blocks = slices.Insert(p.blocks, at, *b)
		}
	case k == 3:
		p.blocks = slices.Delete(p.blocks, n-1-m.IntN(n), n)
	case k == 4:
		i := m.IntN(n)
		p.blocks = slices.Delete(p.blocks, i, i+1)
	case k == 5:
		i, k := m.IntN(n), m.IntN(n)
		p.blocks[i], p.blocks[k] = p.blocks[k], p.blocks[i]
	case k == 6:
		p.blocks[m.IntN(n)].kind = m.IntN(4)
	default:
		p.blocks = slices.Insert(p.blocks, at, p.blocks[m.IntN(n)])
	}
}

// newBlocks inserts made blocks, or replaces all.
func (m *zstMutator) newBlocks(p *zstPart) {
	maker := zstMaker{Rand: m.Rand}
	at := 0
	switch m.IntN(3) {
	case 0:
		p.blocks = nil
	case 1: // behind the others, whose content is not known
		at, maker.content = len(p.blocks), 300
	}
	p.blocks = slices.Insert(p.blocks, at, maker.blocks()...)
}

// changeTable changes a seek table, if there is one.
func (m *zstMutator) changeTable() {
	i := slices.IndexFunc(m.list, func(p zstPart) bool { return p.kind == tablePart })
	if i < 0 {
		m.list = append(m.list, zstPart{kind: tablePart, sums: m.IntN(2) == 0})
		return
	}
	p := &m.list[i]
	switch m.IntN(8) {
	case 0:
		p.sums = !p.sums
		p.tail = nil
	case 1:
		p.tail = flipBit(m.Rand, []byte{byte(m.IntN(2)) << 7, 0xB1, 0xEA, 0x92, 0x8F})
	case 2:
		p.lie = m.Uint32() >> m.IntN(32)
	case 3:
		p.index, p.tail, p.lie = nil, nil, 0
	default:
		how, from, n := m.IntN(5), m.Uint64(), 1+m.few(16)
		if m.IntN(2) == 0 {
			from, n = from-from%12, []int{8, 12}[m.IntN(2)]
		}
		p.index = func(list []byte) []byte { return changeIndex(list, how, from, n) }
	}
}

// changeIndex changes n bytes of the entries of a table.
func changeIndex(list []byte, how int, from uint64, n int) []byte {
	at := int(from % uint64(len(list)+1))
	end := min(at+n, len(list))
	switch how {
	case 0:
		return slices.Concat(list[:at], list[end:])
	case 1:
		return slices.Concat(list[:end], list[at:])
	case 2: // another entry in its place
		list = slices.Clone(list)
		copy(list[at:end], list)
		return list
	case 3:
		return slices.Concat(list[:at], make([]byte, n), list[at:])
	}
	list = slices.Clone(list)
	if at < len(list) {
		list[at] ^= 1 << (from >> 32 % 8)
	}
	return list
}

// changeBytes changes some bytes, or their number.
func (m *zstMutator) changeBytes(p []byte) []byte {
	p = slices.Clone(p)
	at := m.IntN(len(p) + 1)
	end := min(at+1+m.few(8), len(p))
	switch m.IntN(6) {
	case 0:
		return slices.Delete(p, at, end)
	case 1:
		return slices.Insert(p, at, byte(m.Uint32()))
	case 2:
		return slices.Insert(p, at, p[at:end]...)
	case 3:
		for i := at; i < end; i++ {
			p[i] = byte(m.Uint32())
		}
		return p
	}
	return flipBit(m.Rand, p)
}

// changeLiterals changes a literals section.
func (m *zstMutator) changeLiterals(l *zstLits) {
	switch k := m.IntN(10); {
	case k == 0:
		l.kind = m.IntN(4)
	case k == 1:
		l.format = m.IntN(4)
	case k == 2:
		l.count = max(0, l.count+m.IntN(9)-4)
	case k == 3:
		l.sizeLie = m.IntN(9) - 4
	case k == 4:
		l.jumpLie[m.IntN(3)] = m.IntN(9) - 4
	case k == 5:
		if b := m.donorBlock(); b != nil {
			*l = b.lits
		}
	case k == 6:
		maker := zstMaker{Rand: m.Rand}
		*l = zstLits{}
		maker.literals(l, m.few(2000))
	case len(l.streams) == 0:
		l.plain = m.changeBytes(l.plain)
	case k == 7 && len(l.tree) > 0:
		l.tree = m.changeBytes(l.tree)
	default:
		i := m.IntN(len(l.streams))
		l.streams[i] = m.changeBytes(l.streams[i])
	}
}

// changeSequences changes a sequences section.
func (m *zstMutator) changeSequences(s *zstSeqs) {
	k := m.IntN(3)
	switch m.IntN(9) {
	case 0:
		s.count = max(0, s.count+m.IntN(5)-2)
	case 1:
		s.wide = 2 + m.IntN(2)
	case 2:
		s.reserved = byte(m.IntN(4))
	case 3: // a mode without what it needs, or that needs nothing
		s.modes[k] = byte(m.IntN(4))
		if m.IntN(2) == 0 {
			s.tables[k] = nil
		}
	case 4: // a table of another block
		if b := m.donorBlock(); b != nil && b.seqs.count > 0 {
			s.modes[k], s.tables[k] = b.seqs.modes[k], b.seqs.tables[k]
		}
	case 5:
		s.tables[k] = m.changeBytes(s.tables[k])
	case 6:
		if b := m.donorBlock(); b != nil {
			*s = b.seqs
		}
	case 7: // the same bits with other end marks
		s.bits = append(slices.Clip(s.bits), byte(m.IntN(3)))
	default:
		s.bits = m.changeBytes(s.bits)
	}
}
