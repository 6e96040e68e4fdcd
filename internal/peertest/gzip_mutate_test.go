package peertest_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/deflatetest"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/mutants"
)

// A gzPart is a part of a .gz file: a member, or bytes that are none.
type gzPart struct {
	stray []byte // if it is no member

	head      gzfile.Header
	flags     byte // set in the header, though there is nothing that they stand for
	method    byte // added to that of the header
	headLie   uint16
	bgzf      bool // a subfield states the size of the member
	bgzfLie   uint16
	blocks    []deflatetest.Block
	bits      func(stream []byte) []byte // changes the stream, nil if not
	sum, size uint32                     // added to the trailer
}

// parseGz takes a file apart. What is no member is a stray part.
func parseGz(file []byte) (list []gzPart) {
	for len(file) > 0 {
		h, n, err := gzfile.ParseHeader(file)
		if err != nil {
			return append(list, gzPart{stray: file})
		}
		blocks, size, err := deflatetest.TakeApart(file[n:])
		if n += size + gzfile.TrailerSize; err != nil || n > len(file) {
			return append(list, gzPart{stray: file})
		}
		p := gzPart{head: h, blocks: blocks}
		if bytes.HasPrefix(h.Extra, []byte("BC\x02\x00")) {
			p.bgzf = true
		}
		list, file = append(list, p), file[n:]
	}
	return list
}

// append appends the part. Its checks are right, except for the lies.
func (p *gzPart) append(dst []byte, r *rand.Rand) []byte {
	if p.stray != nil {
		return append(dst, p.stray...)
	}
	stream := deflatetest.PutTogether(r, p.blocks)
	if p.bits != nil {
		stream = p.bits(stream)
	}
	h := p.head
	if p.bgzf {
		h.Extra = []byte("BC\x02\x00\x00\x00")
	}
	head, err := h.Append(nil)
	if err != nil {
		panic(err) // the mutator makes no such field
	}
	if p.bgzf {
		size := len(head) + len(stream) + gzfile.TrailerSize
		binary.LittleEndian.PutUint16(head[16:], uint16(size-1)+p.bgzfLie)
	}
	head[2] += p.method
	head[3] |= p.flags
	if h.HeaderCRC {
		at := len(head) - 2
		binary.LittleEndian.PutUint16(head[at:], uint16(crc32.ChecksumIEEE(head[:at]))+p.headLie)
	}
	sum, size := deflateSum(stream)
	dst = append(append(dst, head...), stream...)
	return gzfile.AppendTrailer(dst, sum+p.sum, size+int64(p.size))
}

// deflateSum returns the checksum and the size of the content of a stream, at most that of a file
// that is compared.
func deflateSum(stream []byte) (sum uint32, size int64) {
	h := crc32.NewIEEE()
	z := flate.NewReader(bytes.NewReader(stream))
	size, _ = io.Copy(h, io.LimitReader(z, mutants.ContentLimit+1))
	return h.Sum32(), size
}

// A gzMutator changes the parts of a .gz file.
type gzMutator struct {
	*rand.Rand
	donors [][]gzPart // files from which members and blocks are taken
	list   []gzPart
}

// gzMutants returns a function that changes a file, or, without one, any of the bases.
func gzMutants(bases [][]byte) func(r *rand.Rand, file []byte) []byte {
	var donors [][]gzPart
	for _, file := range bases {
		donors = append(donors, parseGz(file))
	}
	return func(r *rand.Rand, file []byte) (changed []byte) {
		list := donors[r.IntN(len(donors))]
		if file != nil {
			list = parseGz(file)
		}
		m := &gzMutator{r, donors, slices.Clone(list)}
		for range 1 + r.IntN(1+r.IntN(4)) {
			m.change()
		}
		if r.IntN(64) == 0 {
			m.putInFront()
		}
		for i := range m.list {
			changed = m.list[i].append(changed, r)
		}
		return damageFile(r, changed)
	}
}

// change makes one change. Most are of blocks, where most of a decoder is.
func (m *gzMutator) change() {
	if len(m.list) == 0 {
		m.changeParts()
		return
	}
	p := &m.list[m.IntN(len(m.list))]
	switch k := m.IntN(32); {
	case k < 6 || p.stray != nil:
		m.changeParts()
	case k < 11:
		m.changeHeader(p)
	case k == 11:
		p.sum = uint32(m.IntN(3))
	case k == 12:
		p.size = uint32(m.IntN(3)) << m.IntN(32)
	case k < 16:
		at, bit := m.Uint64(), m.IntN(8)
		p.bits = func(stream []byte) []byte {
			if at := int(at % uint64(len(stream)+1)); at < len(stream) {
				stream[at] ^= 1 << bit
			}
			return stream
		}
	case k < 18:
		p.bits = func(stream []byte) []byte { return stream[:max(0, len(stream)-1-m.IntN(4))] }
	case k < 21:
		if d := m.donor(); len(d.blocks) > 0 {
			p.blocks = slices.Insert(slices.Clone(p.blocks), m.IntN(len(p.blocks)+1), d.blocks...)
		}
	case len(p.blocks) > 0:
		p.blocks, _ = deflatetest.Mutate(m.Rand, slices.Clone(p.blocks))
	}
}

// donor returns a part of any file.
func (m *gzMutator) donor() gzPart {
	d := m.donors[m.IntN(len(m.donors))]
	return d[m.IntN(len(d))]
}

// putInFront inserts a member so long that workers decode parts of the file ahead of their turn.
func (m *gzMutator) putInFront() {
	stored := corpus.ByName("random").Make(60_000)
	p := gzPart{blocks: slices.Repeat([]deflatetest.Block{{Stored: stored}}, 10)}
	m.list = slices.Insert(m.list, 0, p)
}

// changeParts duplicates, drops, exchanges or inserts parts.
func (m *gzMutator) changeParts() {
	n, at := len(m.list), m.IntN(len(m.list)+1)
	switch k := m.IntN(8); {
	case k < 2:
		m.list = append(m.list, gzPart{stray: make([]byte, 1+m.IntN(600))})
	case k == 2 && m.IntN(3) == 0:
		stray := [][]byte{{0}, {0x1f}, {0x1f, 0x8b}, []byte("garbage"), {0x1f, 0x8b, 8, 0, 0}}
		m.list = slices.Insert(m.list, at, gzPart{stray: stray[m.IntN(len(stray))]})
	case k < 5 || n == 0:
		m.list = slices.Insert(m.list, at, m.donor())
	case k == 5:
		i := m.IntN(n)
		m.list = slices.Delete(m.list, i, i+1)
	case k == 6:
		i, k := m.IntN(n), m.IntN(n)
		m.list[i], m.list[k] = m.list[k], m.list[i]
	default:
		m.list = slices.Insert(m.list, at, m.list[m.IntN(n)])
	}
}

// changeHeader changes fields of the header of a member.
func (m *gzMutator) changeHeader(p *gzPart) {
	text := string(corpus.ByName("text").Make([]int{1, m.IntN(100), 511, 512, 2000}[m.IntN(5)]))
	h := &p.head
	switch m.IntN(12) {
	case 0:
		h.Name = text
	case 1:
		h.Comment = text
	case 2:
		h.Name, h.Comment = "", "\u00ff"
	case 3:
		h.Extra = corpus.ByName("random").Make([]int{0, m.IntN(100), 5000}[m.IntN(3)])
	case 4:
		h.HeaderCRC = !h.HeaderCRC
	case 5:
		h.HeaderCRC, p.headLie = true, uint16(m.IntN(2))
	case 6:
		h.Text, h.Speed, h.OS, h.ModTime = !h.Text, byte(m.Uint32()), byte(m.Uint32()), m.Uint32()
	case 7:
		p.flags = 1 << m.IntN(8)
	case 8:
		p.method = byte(m.IntN(3))
	case 9, 10:
		p.bgzf = !p.bgzf
	default:
		p.bgzf, p.bgzfLie = true, uint16(m.IntN(5)-2)<<m.IntN(16)
	}
}
