package pipeline

import (
	"fmt"

	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Layout Dense is the streams of layout Repeat, with shorter matches. Of these streams tokens,
// literals and long match lengths may be context-coded. Besides, the content may have been
// filtered, which is decided before anything else.

// Bits of the byte after the number of layout Dense. They are part of the format: which streams are
// context-coded, and whether the content was filtered.
const (
	denseTokens  = 1
	denseLits    = 2
	denseX86     = 4
	denseMatches = 8
)

// Indices of lzseq.Streams.All.
const (
	litsStream   = 0
	tokensStream = 1
	matchStream  = 4
)

// unmarkedStreams are the streams without marks that may be context-coded, in the order of the
// payload.
var unmarkedStreams = [...]struct {
	stream int
	flag   byte
}{{tokensStream, denseTokens}, {matchStream, denseMatches}}

// contextGain and fastContextGain are what context coding must save of a stream, as log2 of a
// divisor of its symbols in bytes. Such a stream takes several times as long to decode.
// fastContextGain is for levels without thorough codes: with 8 in its place files are 0.8% smaller,
// and decode at 0.86 of the speed.
const (
	contextGain     = 8
	fastContextGain = 4
)

// dense is the scratch memory for layout Dense.
type dense struct {
	enc   rans.ContextEncoder
	dec   rans.ContextDecoder
	marks []byte   // of the stream that is encoded
	bits  []uint64 // the marks as a bitmap
	none  []byte   // in place of a context-coded stream; empty

	fast bool // context-coded streams are encoded fast, and only where they gain much

	learned  rans.Contexts
	contexts optimal.Contexts // learned, for the parser
	seqs     []lz77.Sequence  // of a parse trial

	choice   x86.Chooser
	filtered []byte // content of the block, if it is filtered
}

// leastDense is the least content in bytes of a block before a flush that has layout Dense. The
// choice among ways to code takes milliseconds, and so short a block is mostly stored.
const leastDense = 512

// dense reports whether the block has layout Dense.
func (b *Block) dense() bool {
	c := &b.run.cfg
	if b.Flushed && len(b.src) < leastDense {
		return false
	}
	return c.Op == Compress && c.Pipeline.dense != 0 && (c.Level >= c.Pipeline.dense || b.chosenDense)
}

// priced reports whether the block has layout Dense and an optimal parser. The parser then finds
// the shorter matches of that layout, and knows the contexts of literals.
func (b *Block) priced() bool { return b.dense() && b.params().Optimal() }

// filter chooses which ranges of the block's content to filter, and filters them. All stages of
// such a block have the same workspace, because devices do not do its level.
func (ws *workspace) filter(b *Block) {
	d := &ws.dense
	if b.payload.ranges = d.choice.Choose(b.src); b.payload.ranges != nil {
		d.filtered = resize(d.filtered, len(b.src))
		pieces.Copy(d.filtered, b.src, ws.check)
		x86.Encode(d.filtered, b.payload.ranges, ws.check)
	}
}

// matchInput returns what the block's sequences describe: its content, filtered if that was chosen.
func (ws *workspace) matchInput(b *Block) []byte {
	if b.payload.ranges != nil {
		return ws.dense.filtered
	}
	return b.src
}

// contexts learns what the literals of content depend on.
func (ws *workspace) contexts(content []byte) *optimal.Contexts {
	d := &ws.dense
	d.marks = resize(d.marks, len(content))
	pieces.Clear(d.marks, ws.check)
	l, c := &d.learned, &d.contexts
	d.enc.Learn(l, content, d.marks)
	c.First, c.Second, c.Class, c.Classes = l.First, l.Second, l.Class, l.Classes
	return c
}

// denseSize returns the size of the block's payload with the given sequences. It overwrites the
// block's streams and output.
func (ws *workspace) denseSize(b *Block, seqs []lz77.Sequence) int {
	p := b.payload
	ws.streams(p).Encode(lzseq.Dense, ws.matchInput(b), seqs)
	b.dst = ws.encodeDense(b.dst[:0], &p.streams, p.ranges)
	return len(b.dst)
}

// encodeLazyDense encodes a block of layout Dense whose parser is not optimal. If no stream gains
// by context coding, and there is no filter, the payload has layout Repeat, which devices decode.
func (ws *workspace) encodeLazyDense(b *Block) {
	p := b.payload
	if b.dst = ws.encodeDense(b.dst[:0], &p.streams, p.ranges); b.dst[1] == 0 {
		ws.streams(p).Encode(lzseq.Repeat, b.src, p.seqs)
		b.dst = ws.encodePayload(b.dst[:0], lzseq.Repeat, &p.streams)
	}
}

// encodeDense appends a coded payload of layout Dense to dst. Ranges are those of the filtered
// content, nil if it is not filtered.
func (ws *workspace) encodeDense(dst []byte, s *lzseq.Streams, ranges []byte) []byte {
	d := &ws.dense
	dst = append(resize(dst, payloadRoom(s))[:0], lzseq.Dense.ID, 0)
	ws.rans.enc.Defaults = s.Size < rans.DefaultsLimit
	if ranges != nil {
		dst[1] |= denseX86
		dst = append(dst, ranges...)
	}
	var streams [6][]byte
	for i, p := range s.All() {
		streams[i] = *p
	}
	mayGain := s.Size > tinyBlock
	for _, u := range unmarkedStreams {
		if mayGain && ws.prepareContext(streams[u.stream], u.stream, nil) {
			dst[1] |= u.flag
			dst = d.enc.Append(dst)
			streams[u.stream] = nil
		}
	}
	lits := mayGain && ws.prepareContext(streams[litsStream], litsStream, s)
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

// prepareContext reports whether a stream, number index, gains by context coding. If so it is ready
// for d.enc.Append. For literals s gives the marks, else it is nil.
func (ws *workspace) prepareContext(stream []byte, index int, s *lzseq.Streams) bool {
	d := &ws.dense
	if len(stream) == 0 {
		return false
	}
	d.marks = resize(d.marks, len(stream))
	pieces.Clear(d.marks, ws.check)
	if s != nil && !d.markLiterals(s, ws.checkpoint) {
		return false // the streams are not from an encoder
	}
	limit := ws.rans.enc.Size(stream, index)
	if !rans.MayGain(len(stream), limit) {
		return false
	}
	if d.fast {
		return d.enc.PrepareFast(stream, d.marks)+len(stream)>>fastContextGain < limit
	}
	return d.enc.Prepare(stream, d.marks)+len(stream)>>contextGain < limit
}

// markLiterals sets the marks of literals.
func (d *dense) markLiterals(s *lzseq.Streams, checkpoint func()) bool {
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
		if i%checkpointPositions == 0 {
			checkpoint()
		}
		d.marks[i] = byte(d.bits[i/64]>>(i%64)) & 1
	}
	return true
}

// decodeDense is decodePayload for the bytes after the number of layout Dense.
func (ws *workspace) decodeDense(src []byte, size int, s *lzseq.Streams) (ranges []byte, err error) {
	if len(src) == 0 || src[0]&^(denseTokens|denseLits|denseX86|denseMatches) != 0 {
		return nil, fmt.Errorf("%w: unknown context-coded streams or filter", ErrPayload)
	}
	d, flags := &ws.dense, src[0]
	src = src[1:]
	if flags&denseX86 != 0 {
		ranges, src, err = x86.Ranges(src, size)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	streams, limits := s.All(), lzseq.Dense.MaxSizes(size)
	lits, litsLimit := streams[litsStream], limits[litsStream]
	for _, u := range unmarkedStreams {
		if flags&u.flag == 0 {
			continue
		}
		src, err = d.dec.Decode(src, limits[u.stream], streams[u.stream], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
		streams[u.stream], limits[u.stream] = &d.none, 0
	}
	if flags&denseLits != 0 {
		streams[litsStream], limits[litsStream] = &d.none, 0
	}
	src, err = ws.rans.dec.Decode(src, limits[:], streams[:]...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if flags&denseLits != 0 {
		src, err = d.dec.Decode(src, litsLimit, lits, s)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	if len(src) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrPayload, len(src))
	}
	return ranges, nil
}
