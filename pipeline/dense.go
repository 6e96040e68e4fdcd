package pipeline

import (
	"fmt"

	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// Of the streams of layout Dense tokens, literals and long match lengths may be coded by what is before them: chained streams. Besides, the content may have been through a filter, which is
// decided before anything else.

// The bits of the byte behind the layout's number say which streams are chained, and whether the content was filtered. They are part of the format.
const (
	denseTokens  = 1
	denseLits    = 2
	denseX86     = 4
	denseMatches = 8
	litsStream   = 0 // in lzseq.Streams.All
	tokensStream = 1
	matchStream  = 4
)

// denseChains are the streams without marks that may be chained, in order.
var denseChains = [...]struct {
	stream int
	flag   byte
}{{tokensStream, denseTokens}, {matchStream, denseMatches}}

// denseGain is what a chained stream must save, as a shift of its symbols in bytes: 1/256 of a byte each. It takes several times as long to decode.
const denseGain = 8

// dense is the scratch memory for chained streams.
type dense struct {
	enc   rans.ContextEncoder
	dec   rans.ContextDecoder
	marks []byte   // of the stream that is coded
	bits  []uint64 // the same as the decoder has them
	none  []byte   // in place of a stream that is chained; empty

	fast bool // streams are chained in a hurry

	learned  rans.Contexts
	contexts lz77.Contexts   // the same for the parser
	seqs     []lz77.Sequence // of a small block, another way

	choice   x86.Chooser
	filtered []byte // content of the block that is coded, if it is filtered
}

// dense reports whether the block has layout Dense.
func (b *Block) dense() bool {
	c := &b.run.cfg
	return c.Op == Compress && c.Pipeline.dense != 0 && (c.Level >= c.Pipeline.dense || b.fastDense)
}

// filter chooses which ranges of the block's content are filtered, and does it. All stages of the block are this worker's, for devices do not do such levels.
func (ws *workspace) filter(b *Block) {
	d := &ws.dense
	if b.payload.ranges = d.choice.Choose(b.Src); b.payload.ranges != nil {
		d.filtered = resize(d.filtered, len(b.Src))
		copy(d.filtered, b.Src)
		x86.Encode(d.filtered, b.payload.ranges)
	}
}

// matchInput is what the block's sequences are about: its content, filtered if that was chosen.
func (ws *workspace) matchInput(b *Block) []byte {
	if b.payload.ranges != nil {
		return ws.dense.filtered
	}
	return b.Src
}

// contexts finds out what the literals of content depend on.
func (ws *workspace) contexts(content []byte) *lz77.Contexts {
	d := &ws.dense
	d.marks = resize(d.marks, len(content))
	clear(d.marks)
	l, c := &d.learned, &d.contexts
	d.enc.Learn(l, content, d.marks)
	c.First, c.Second, c.Class, c.Classes = l.First, l.Second, l.Class, l.Classes
	return c
}

// sizeDense is what a block takes with the given sequences. It overwrites the block's streams and output.
func (ws *workspace) sizeDense(b *Block, seqs []lz77.Sequence) int {
	p := b.payload
	p.streams.Encode(lzseq.Dense, ws.matchInput(b), seqs)
	b.dst = ws.encodeDense(b.dst[:0], &p.streams, p.ranges)
	return len(b.dst)
}

// encodeFastDense codes a block that has layout Dense by choice. If it turns out that no stream is worth chaining, it has Repeat, which devices read.
func (ws *workspace) encodeFastDense(b *Block) {
	p := b.payload
	if b.dst = ws.encodeDense(b.dst[:0], &p.streams, p.ranges); b.dst[1] == 0 {
		p.streams.Encode(lzseq.Repeat, ws.matchInput(b), p.seqs)
		b.dst = ws.encodePayload(b.dst[:0], lzseq.Repeat, &p.streams)
	}
}

// encodeDense appends a coded payload in layout Dense to dst. Ranges of the content were filtered, or it is nil.
func (ws *workspace) encodeDense(dst []byte, s *lzseq.Streams, ranges []byte) []byte {
	d := &ws.dense
	dst = append(resize(dst, payloadRoom(s))[:0], lzseq.Dense.ID, 0)
	if ranges != nil {
		dst[1] |= denseX86
		dst = append(dst, ranges...)
	}
	var streams [6][]byte
	for i, p := range s.All() {
		streams[i] = *p
	}
	for _, c := range denseChains {
		if ws.chains(streams[c.stream], nil) {
			dst[1] |= c.flag
			dst = d.enc.Append(dst)
			streams[c.stream] = nil
		}
	}
	lits := ws.chains(streams[litsStream], s)
	if lits {
		dst[1] |= denseLits
		streams[litsStream] = nil
	}
	dst = ws.rans.enc.Append(dst, lzseq.Dense.Stored, streams[:]...)
	if lits {
		dst = d.enc.Append(dst)
	}
	return dst
}

// chains reports whether a stream is to be chained, and if so leaves it to the encoder; s is for the marks of literals.
func (ws *workspace) chains(stream []byte, s *lzseq.Streams) bool {
	d := &ws.dense
	if len(stream) == 0 {
		return false
	}
	d.marks = resize(d.marks, len(stream))
	clear(d.marks)
	if s != nil && !d.mark(s) {
		return false // not ours
	}
	size := 0
	if d.fast {
		size = d.enc.PrepareFast(stream, d.marks)
	} else {
		size = d.enc.Prepare(stream, d.marks)
	}
	return size+len(stream)>>denseGain < ws.rans.enc.Size(stream)
}

// mark sets the marks of literals.
func (d *dense) mark(s *lzseq.Streams) bool {
	n := rans.BitmapWords(len(d.marks))
	if cap(d.bits) < n {
		d.bits = make([]uint64, n)
	}
	d.bits = d.bits[:n]
	clear(d.bits)
	if s.Marks(d.bits, len(d.marks)) != nil {
		return false
	}
	for i := range d.marks {
		d.marks[i] = byte(d.bits[i/64]>>(i%64)) & 1
	}
	return true
}

// decodeDense is decodePayload for layout Dense, behind the layout byte.
func (ws *workspace) decodeDense(src []byte, size int, s *lzseq.Streams) (ranges []byte, err error) {
	if len(src) == 0 || src[0]&^(denseTokens|denseLits|denseX86|denseMatches) != 0 {
		return nil, fmt.Errorf("%w: unknown chained streams or filter", ErrPayload)
	}
	d, flags := &ws.dense, src[0]
	src = src[1:]
	if flags&denseX86 != 0 {
		if ranges, src, err = x86.Ranges(src, size); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	streams, limits := s.All(), lzseq.Dense.MaxSizes(size)
	lits, litsLimit := streams[litsStream], limits[litsStream]
	for _, c := range denseChains {
		if flags&c.flag == 0 {
			continue
		}
		if src, err = d.dec.Decode(src, limits[c.stream], streams[c.stream], nil); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
		streams[c.stream], limits[c.stream] = &d.none, 0
	}
	if flags&denseLits != 0 {
		streams[litsStream], limits[litsStream] = &d.none, 0
	}
	if src, err = ws.rans.dec.Decode(src, limits[:], streams[:]...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if flags&denseLits != 0 {
		if src, err = d.dec.Decode(src, litsLimit, lits, s); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	if len(src) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrPayload, len(src))
	}
	return ranges, nil
}
