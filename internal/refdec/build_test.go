package refdec

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/internal/section"
)

// A builder makes a file and its content.
type builder struct{ file, content []byte }

// A contentBlock is a block and its content.
type contentBlock struct {
	block
	content []byte
}

func stored(content []byte) contentBlock {
	return contentBlock{block{kindStored, uint32(len(content)), content, false}, content}
}

func fill(c byte, n int) contentBlock {
	return contentBlock{block{kindFill, uint32(n), []byte{c}, false}, bytes.Repeat([]byte{c}, n)}
}

func codedPiece(payload, content []byte) contentBlock {
	return contentBlock{block{kindCoded, uint32(len(content)), payload, false}, content}
}

// short gives the block a short header.
func (p contentBlock) short() contentBlock { p.block.short = true; return p }

// flush makes the header of 16 bytes stand for a flush.
func (p contentBlock) flush() contentBlock { p.kind |= flushes; return p }

// streamHead returns a header without its check and content size. more are the fields of a window
// or a dictionary.
func streamHead(logSize, flags byte, more ...byte) []byte {
	return append([]byte{'P', 'Z', version, 2, logSize, flags}, more...)
}

// dictionaryHead is streamHead with the dictionary of all tests.
func dictionaryHead(logSize, flags byte) []byte {
	return streamHead(logSize, flags|flagDictionary, dictionaryNumber()...)
}

func dictionaryNumber() []byte { return le.AppendUint32(nil, jsonDictionary().ours.Number) }

// stream adds a stream. The header gets the content size if it has its flag.
func (b *builder) stream(head []byte, pieces ...contentBlock) {
	var blocks []block
	begin := len(b.content)
	for _, p := range pieces {
		blocks = append(blocks, p.block)
		b.content = append(b.content, p.content...)
	}
	if head[5]&flagContentSize != 0 {
		head = slices.Insert(slices.Clone(head), 6, le.AppendUint64(nil, uint64(len(b.content)-begin))...)
	}
	b.file = append(b.file, sealBehind(head, blocks...)...)
}

// small adds a small stream. flags are smallCheck and smallDict.
func (b *builder) small(flags byte, p contentBlock) {
	b.file = append(b.file, sealSmall(flags, p.block)...)
	b.content = append(b.content, p.content...)
}

// sealSmall returns a small stream of a block. With kind 0 there is none.
func sealSmall(flags byte, p block) []byte {
	s := []byte{'P', 'Z', version, 2, smallStream | flags | byte(p.kind)}
	s = le.AppendUint16(s, uint16(p.raw))
	var dict []byte
	if p.kind == kindCoded {
		s = le.AppendUint16(s, uint16(len(p.payload)))
	}
	if flags&smallDict != 0 {
		dict = jsonDictionary().ours.Content
		s = append(s, dictionaryNumber()...)
	}
	if flags&smallCheck != 0 {
		check := uint32(0)
		if p.kind != 0 {
			check = blockCheck(p.kind, p.raw, p.payload, dict)
		}
		s = le.AppendUint32(s, check)
	}
	s = le.AppendUint16(s, crc16(s))
	return appendSmallFooter(append(s, p.payload...))
}

// section adds a section.
func (b *builder) section(kind section.Kind, body []byte) {
	b.file = append(b.file, sealSection(kind, body)...)
}

func sealSection(kind section.Kind, body []byte) []byte {
	size := int64(len(body)) + section.MinSize
	p := append(section.AppendHeader(nil, kind, size), body...)
	return section.AppendFooter(p, size)
}

// newGenerator returns a generator of regular payloads.
func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0)), quirk: regular}
}

// shortest returns the shortest payload with these choices of some that generators make.
func shortest(c denseChoice) (best contentBlock) {
	for seed := uint64(0); seed < 40 || best.payload == nil; seed++ {
		g := newGenerator(seed)
		g.dense = &c
		payload, content := g.payload(2000 + 50*int(seed))
		// Byte streams that are empty are not context-coded.
		if payload[1] == c.flags && len(payload) < len(content) &&
			(best.payload == nil || len(payload) < len(best.payload)) {
			best = codedPiece(payload, content)
		}
	}
	return best
}

// storedParts returns the byte streams, each in a stored segment.
func (g *generator) storedParts() (parts [numStreams][]part) {
	for i, s := range g.streams {
		if len(s) > 0 {
			parts[i] = []part{{modeStored | segmentEnds, s, nil}}
		}
	}
	return parts
}

// skewed returns a table in which a is 2,047 times as frequent as b.
func skewed(a, b byte) *table {
	t := new(table)
	t.freq[a], t.freq[b] = tableTotal-1, 1
	sum := uint32(0)
	for s := range t.sum {
		t.sum[s] = sum
		sum += t.freq[s]
	}
	return t
}

// execute returns a coded block whose byte streams have these parts.
func execute(layout byte, parts [numStreams][]part) contentBlock {
	var streams [numStreams][]byte
	for i := range parts {
		for _, c := range parts[i] {
			streams[i] = append(streams[i], c.symbols...)
		}
	}
	size, _, _ := measure(layout, streams)
	content, err := decodeSequences(layout, streams, size, nil)
	if err != nil {
		panic(err)
	}
	return codedPiece(newGenerator(0).codeParts([]byte{layout}, parts), content)
}

// measure returns the size of the content that byte streams make, the number of literals that the
// sequences have, and the bits of Extra that they need. layout is Repeat. It ignores the length of
// Lits and Extra if they are too short.
func measure(layout byte, streams [numStreams][]byte) (size, literals, extraBits int) {
	r := &sequenceReader{streams: streams, minMatch: minMatches(layout)}
	r.extra.data = make([]byte, 1<<20)
	for _, token := range streams[streamTokens] {
		s, err := r.repeat(uint64(token))
		if err != nil {
			panic(err)
		}
		size += int(s.run + s.match)
		literals += int(s.run)
	}
	size += max(0, len(streams[streamLits])-literals)
	return size, literals, r.extra.at
}
