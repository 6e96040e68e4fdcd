package peertest_test

import (
	"math/rand/v2"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/zstframe"
)

// A zstMaker makes blocks that no encoder writes: any codes, tables and modes. Most are valid
// behind the blocks that it has made before, and behind content bytes of others.
type zstMaker struct {
	*rand.Rand
	content int
	lens    []uint8 // of the last Huffman code, nil for none
	tables  [3]*zstTable
}

// A zstTable is a table of codes and the distribution that describes it.
type zstTable struct {
	dist    fse.Distribution
	enc     fse.EncTable
	symbols []uint8 // with a probability
}

// Extra bits of literal run and match codes (RFC 8878, section 3.1.1.3.2.1).
var zstExtra = [3][]uint8{
	{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	nil,
	{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
}

// defaultProbs are the distributions of predefined tables.
var defaultProbs = [3][]int16{
	{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
		-1, -1, -1, -1},
	{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
	{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1},
}

var defaultLogs = [3]uint8{6, 5, 6}

// blocks makes blocks.
func (m *zstMaker) blocks() (list []zstBlock) {
	if m.content == 0 || m.IntN(2) == 0 {
		n := m.IntN(1 + m.IntN(3000))
		list = append(list, zstBlock{kind: zstframe.RawBlock, body: corpus.ByName("text").Make(n)})
		m.content += n
	}
	for range 1 + m.IntN(3) {
		list = append(list, m.block())
	}
	return list
}

// block makes a compressed block.
func (m *zstMaker) block() (b zstBlock) {
	b.kind, b.parsed = zstframe.CompressedBlock, true
	n := []int{0, 1, 1 + m.IntN(9), 1 + m.IntN(300), 1 + m.IntN(2000)}[m.IntN(5)]
	lits, matches := 0, 0
	if n > 0 {
		lits, matches = m.sequences(&b.seqs, n)
	}
	m.literals(&b.lits, lits+m.IntN(1+m.IntN(100)))
	m.content += b.lits.count + matches
	return b
}

// literals makes a section of n literals.
func (m *zstMaker) literals(l *zstLits, n int) {
	l.count, l.format = n, m.IntN(4)
	data := corpus.ByName("random").MakeSeed(n, m.Uint64())
	switch k := m.IntN(8); {
	case k == 0 || n == 0:
		l.kind, l.plain = rawLits, data
		return
	case k == 1:
		l.kind, l.plain = rleLits, data[:1]
		return
	}
	l.kind = treelessLits
	if m.lens == nil || m.IntN(3) > 0 {
		l.kind = codedLits
		l.tree = m.tree()
	}
	var symbols []byte
	for s, n := range m.lens {
		if n > 0 {
			symbols = append(symbols, byte(s))
		}
	}
	for i, c := range data {
		data[i] = symbols[int(c)%len(symbols)]
	}
	codes := make([]huffman.Code, len(m.lens))
	huffman.AssignZstd(codes, m.lens)
	if l.format == 0 {
		l.streams = [][]byte{huffmanStream(codes, data)}
		return
	}
	part := (n + 3) / 4
	for i := range 4 {
		l.streams = append(l.streams, huffmanStream(codes, data[min(n, i*part):min(n, (i+1)*part)]))
	}
}

// huffmanStream codes bytes, the last one first.
func huffmanStream(codes []huffman.Code, data []byte) []byte {
	var w bitio.Writer
	for i := len(data) - 1; i >= 0; i-- {
		w.Put(codes[data[i]].Bits(), codes[data[i]].Len())
	}
	w.Put(1, 1)
	w.Align()
	return w.Out
}

// tree makes a Huffman code and describes it.
func (m *zstMaker) tree() []byte {
	used := 2 + m.IntN([]int{3, 20, 127, 255}[m.IntN(4)])
	leaves := []uint8{1, 1}
	deep, most := m.IntN(3), uint8(11)
	if m.IntN(32) == 0 {
		most = 12 // one too many
	}
	for target := 2 + m.IntN(used-1); len(leaves) < target; {
		at := m.IntN(len(leaves))
		if deep > 0 && m.IntN(4*deep) > 0 {
			at = len(leaves) - 1
		}
		if leaves[at] < most {
			leaves[at]++
			leaves = append(leaves, leaves[at])
		} else if len(leaves) >= 1<<most {
			break
		}
	}
	m.Shuffle(len(leaves), func(i, k int) { leaves[i], leaves[k] = leaves[k], leaves[i] })
	used = max(used, len(leaves))
	lens := make([]uint8, used)
	for i, at := range append([]int{used - 1}, m.Perm(used - 1)[:len(leaves)-1]...) {
		lens[at] = leaves[i]
	}
	m.lens = lens
	longest := uint8(0)
	for _, n := range lens {
		longest = max(longest, n)
	}
	weights := make([]byte, used-1)
	for i, n := range lens[:used-1] {
		if n > 0 {
			weights[i] = longest + 1 - n
		}
	}
	return m.describeTree(weights)
}

// describeTree describes weights: with four bits each, or with FSE.
func (m *zstMaker) describeTree(weights []byte) []byte {
	var counts [13]uint32
	kinds := 0
	for _, w := range weights {
		counts[w]++
		if counts[w] == 1 {
			kinds++
		}
	}
	if n := len(weights); kinds < 2 || n < 2 || n <= 128 && m.IntN(2) == 0 {
		tree := []byte{byte(127 + n)}
		for i := 0; i < n; i += 2 {
			pair := append(weights[i:min(n, i+2):min(n, i+2)], 0)
			tree = append(tree, pair[0]<<4|pair[1])
		}
		return tree
	}
	var e fse.Encoder
	var d fse.Distribution
	d.Normalize(counts[:], 5+m.IntN(2), m.IntN(2) == 0)
	e.Table.Build(&d)
	tree := e.Append(d.Append([]byte{0}), weights, 2)
	tree[0] = byte(min(len(tree)-1, 127))
	return tree
}

// sequences makes a section of at most n sequences. It returns how many literals they use, and the
// bytes of their matches.
func (m *zstMaker) sequences(s *zstSeqs, n int) (lits, matches int) {
	for k := range s.modes {
		s.modes[k], s.tables[k] = m.table(k)
	}
	type sequence struct {
		codes [3]uint8
		extra [3]uint64
	}
	var list []sequence
	const mostContent = 40_000
	for len(list) < n && lits+matches < mostContent {
		var q sequence
		for k, t := range m.tables {
			q.codes[k] = m.symbol(k, t.symbols)
			q.extra[k] = m.Uint64() & (1<<extraBits(k, q.codes[k]) - 1)
		}
		reach := m.content + lits + matches
		lits += codeValue(0, q.codes[0]) + int(q.extra[0])
		matches += 3 + codeValue(2, q.codes[2]) + int(q.extra[2])
		if code := q.codes[1]; code > 1 && 1<<code-3 <= reach && m.IntN(64) > 0 {
			q.extra[1] %= uint64(reach - (1<<code - 3) + 1)
			q.extra[1] &= 1<<code - 1
		}
		list = append(list, q)
	}
	s.count = len(list)
	var w bitio.Writer
	var state [3]uint32
	for i := len(list) - 1; i >= 0; i-- {
		q := &list[i]
		for _, k := range []int{1, 2, 0} {
			t := &m.tables[k].enc
			if i == len(list)-1 {
				state[k] = t.Start(q.codes[k])
				continue
			}
			next, bits := t.Next(state[k], q.codes[k])
			w.Put(uint64(state[k])&(1<<bits-1), bits)
			state[k] = next
		}
		for _, k := range []int{0, 2, 1} {
			w.Put(q.extra[k], extraBits(k, q.codes[k]))
		}
	}
	for _, k := range []int{2, 1, 0} {
		log := m.tables[k].enc.Log()
		w.Put(uint64(state[k])&(1<<log-1), log)
	}
	w.Put(1, 1)
	w.Align()
	s.bits = w.Out
	return lits, matches
}

// symbol chooses a code. Most have a small value: a literal run, an offset within the content, a
// match.
func (m *zstMaker) symbol(k int, symbols []uint8) uint8 {
	s := symbols[m.IntN(len(symbols))]
	for range 20 {
		small := s < [3]uint8{18, 0, 40}[k]
		if k == 1 {
			small = s < 2 || 1<<s-3 <= m.content
		}
		if small {
			break
		}
		s = symbols[m.IntN(len(symbols))]
	}
	return s
}

// extraBits returns the number of extra bits of a code.
func extraBits(k int, code uint8) uint {
	switch {
	case k == 1:
		return uint(code)
	case int(code) < len(zstExtra[k]):
		return uint(zstExtra[k][code])
	}
	return 0
}

// codeValue returns the least value of a code.
func codeValue(k int, code uint8) (v int) {
	for c := range code {
		v += 1 << extraBits(k, c)
	}
	return v
}

// table makes the table of a kind of code and describes it.
func (m *zstMaker) table(k int) (mode byte, description []byte) {
	mode = byte(m.IntN(4))
	if mode == repeatTable && m.tables[k] == nil {
		mode = codedTable
	}
	if mode == repeatTable {
		return mode, nil
	}
	t := new(zstTable)
	m.tables[k] = t
	switch mode {
	case predefinedTable:
		t.dist.Log, t.dist.Len = defaultLogs[k], len(defaultProbs[k])
		copy(t.dist.Prob[:], defaultProbs[k])
	case rleTable:
		code := uint8(m.IntN([3]int{18, 12, 40}[k]))
		t.symbols = []uint8{code}
		t.enc.BuildSymbol(code)
		return mode, t.symbols
	default:
		m.distribution(k, &t.dist)
		description = t.dist.Append(nil)
	}
	t.enc.Build(&t.dist)
	for s, p := range t.dist.Prob[:t.dist.Len] {
		if p != 0 {
			t.symbols = append(t.symbols, uint8(s))
		}
	}
	return mode, description
}

// distribution makes a distribution of some codes, at least two.
func (m *zstMaker) distribution(k int, d *fse.Distribution) {
	log := 5 + m.IntN(tableLogs[k]-4)
	most := []int{min(1<<log, tableCodes[k]), [3]int{18, 14, 40}[k]}[m.IntN(2)]
	d.Log = uint8(log)
	left := 1 << log
	symbols := m.Perm(most)[:2+m.IntN(min(most-1, left-1))]
	for i, s := range symbols {
		p := 1
		rest := left - (len(symbols) - i - 1)
		switch {
		case i == len(symbols)-1:
			p = left
		case m.IntN(3) == 0:
			p = 1 + m.IntN(rest)
		}
		left -= p
		if p == 1 && m.IntN(2) == 0 {
			p = -1
		}
		d.Prob[s], d.Len = int16(p), max(d.Len, s+1)
	}
}
