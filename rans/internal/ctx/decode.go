package ctx

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// Decoder decodes chained streams. The zero value is ready; it keeps its scratch memory from call to call. It is not safe for concurrent use.
type Decoder struct {
	contexts contextMap
	segs     []chainSegment
	freqs    []model.Freqs  // the tables of all segments
	tab      *simd.CtxTable // of the segment; nil until it is used: it takes 256 KiB
	marks    []uint64       // a bit for each symbol of the stream, and some more; none if there are no marks
	lanes    [2]simd.CtxLanes
	words    [2]chainWords
	at       [simd.CtxRound]int  // where in the segment the pieces begin, and from there how far they are decoded
	marked   [blockRounds]uint64 // marks round by round
	buf      [blockRounds * simd.CtxRound]byte
}

// A MarkSource marks symbols of a chained stream. It is given a bit for each of n symbols, the least significant one first and all zero, and sets those of symbols with a mark.
// Bits behind the last symbol mean nothing.
type MarkSource interface {
	Marks(bits []uint64, n int) error
}

// BitmapWords is the size of the bits of n symbols.
func BitmapWords(n int) int { return (n + 63) / 64 }

// blockRounds is how many rounds are decoded between two visits to the pieces of the lanes: 8 KiB of symbols stay in the first-level cache. It is a multiple of 64.
const blockRounds = 128

// Decode decodes a stream from the front of src and returns what follows it. The stream replaces *stream, whose memory is reused if it suffices, and has model.Slack
// bytes of capacity more than its length. One of more than limit bytes is not accepted, and nothing is allocated for it. Without a
// MarkSource there are no marks; its errors are returned. Other errors are CorruptErrors; the stream is then of no use.
func (d *Decoder) Decode(src []byte, limit int, stream *[]byte, marker MarkSource) (rest []byte, err error) {
	size, k := model.Uvarint(src)
	if k == 0 || size == 0 || size > uint64(limit) {
		return nil, model.CorruptError("chained stream too long, or empty")
	}
	n := int(size)
	if src, err = d.contexts.read(src[k:]); err != nil {
		return nil, err
	}
	if src, err = d.heads(src, n); err != nil {
		return nil, err
	}
	model.GrowStream(stream, size, limit)
	if d.marks = d.marks[:0]; marker != nil {
		if err := d.mark(marker, n); err != nil {
			return nil, err
		}
	}
	width := chainWidth(n)
	words := d.words[:width/model.Lanes]
	for g := range words {
		if src, err = words[g].open(src, d.lanes[g].States[:]); err != nil {
			words[0].data = nil // the caller's, if the second group is what is bad
			return nil, err
		}
	}
	err = d.segments(*stream, width)
	for g := range words {
		if err == nil {
			err = model.CloseGroup(d.lanes[g].States[:], words[g].left())
		}
		words[g].data = nil // the caller's
	}
	if err != nil {
		return nil, err
	}
	return src, nil
}

// mark asks for the marks of n symbols.
func (d *Decoder) mark(marker MarkSource, n int) error {
	// Reading 64 bits from any symbol on, and a block of rounds from the last one on, goes beyond.
	const more = blockRounds/64 + 1
	words := BitmapWords(n)
	if cap(d.marks) < words+more {
		d.marks = make([]uint64, words+words/8+more)
	}
	d.marks = d.marks[:words+more]
	clear(d.marks)
	return marker.Marks(d.marks[:words], n)
}

// segments decodes all segments.
func (d *Decoder) segments(stream []byte, width int) error {
	at, tables := 0, d.freqs
	for i := range d.segs {
		s := &d.segs[i]
		d.build(s, tables[:s.tables])
		tables = tables[s.tables:]
		if !d.segment(stream[at:at+s.size], at, width) {
			return model.ErrWords
		}
		at += s.size
	}
	return nil
}

// heads reads the heads of the segments of n symbols.
func (d *Decoder) heads(src []byte, n int) ([]byte, error) {
	d.segs, d.freqs = d.segs[:0], d.freqs[:0]
	for n > 0 {
		size, k := model.Uvarint(src)
		if k == 0 || size > uint64(n) || size < minChainSegment && size != uint64(n) || size == 0 {
			return nil, model.CorruptError("bad segment size")
		}
		src = src[k:]
		n -= int(size)
		d.segs = append(d.segs, chainSegment{size: int(size)})
		var err error
		if src, err = d.head(src, &d.segs[len(d.segs)-1]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// head reads the tables of a segment, and which context has which.
func (d *Decoder) head(src []byte, s *chainSegment) ([]byte, error) {
	if len(src) == 0 || src[0] < 1 || src[0] > maxTables {
		return nil, model.CorruptError("bad number of tables")
	}
	n := int(src[0])
	s.tables, src = n, src[1:]
	r, width := bitio.Reader{Data: src}, classBits(n)
	for i := range s.class {
		s.class[i] = uint8(r.Take(width))
		if int(s.class[i]) >= n {
			return nil, model.CorruptError("context without a table")
		}
	}
	src, ok := r.Rest()
	if !ok {
		return nil, model.CorruptError("contexts missing, or bits set behind them")
	}
	for range n {
		d.freqs = append(d.freqs, model.Freqs{})
		var err error
		if src, err = d.freqs[len(d.freqs)-1].Read(src); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// build makes the tables of a segment.
func (d *Decoder) build(s *chainSegment, tables []model.Freqs) {
	if d.tab == nil {
		d.tab = new(simd.CtxTable)
	}
	copy(d.tab.TableOf[:], s.class[:])
	d.tab.Order1, d.tab.Order2 = d.contexts.first, d.contexts.second
	d.tab.Index()
	for i := range tables {
		d.tab.Tables[i].Build((*[256]uint16)(&tables[i]))
	}
}

// segment decodes a segment, which begins at the given place of the stream. ok = false says that words run out.
func (d *Decoder) segment(dst []byte, from, width int) (ok bool) {
	for l := range d.at[:width] {
		d.at[l] = piece(len(dst), l, width)
	}
	groups := width / model.Lanes
	for left, first := len(dst)/width, true; left > 0; first = false {
		marks := d.marked[:min(left, blockRounds)]
		buf := d.buf[:len(marks)*simd.CtxRound]
		d.block(marks, from, width, first)
		done := 0
		if groups == 2 {
			done = d.both(marks, buf)
		}
		for g := range groups {
			if !d.group(g, marks[done:], buf[done*simd.CtxRound:]) {
				return false
			}
		}
		simd.Deinterleave(dst, &d.at, width, buf)
		for l := range d.at[:width] {
			d.at[l] += len(marks)
		}
		left -= len(marks)
	}
	// The last symbols of the first lanes.
	marks := d.marked[:1]
	d.block(marks, from, width, len(dst) < width)
	for g := range groups {
		w := &d.words[g]
		used, ok := simd.DecodeCtxTail(&d.lanes[g], g, d.tab, marks, d.buf[:], short(len(dst), g, width), w.own())
		if w.use(used); !ok {
			return false
		}
	}
	for l := range len(dst) % width {
		dst[d.at[l]] = d.buf[l]
	}
	return true
}

// block sets the marks of some rounds of a segment, among which there may be the first.
func (d *Decoder) block(marks []uint64, from, width int, first bool) {
	if len(d.marks) > 0 {
		gather(marks, d.marks, from, &d.at, width)
	} else {
		clear(marks)
	}
	if first {
		marks[0] = ^uint64(0)
	}
}

// both decodes rounds of both groups in step, and returns how many.
func (d *Decoder) both(marks []uint64, buf []byte) int {
	w := &d.words
	done, used := simd.DecodeCtx2(&d.lanes, d.tab, marks, buf, [2][]byte{w[0].data, w[1].data})
	w[0].use(used[0])
	w[1].use(used[1])
	return done
}

// group decodes rounds of one group. ok = false says that words run out.
func (d *Decoder) group(g int, marks []uint64, buf []byte) (ok bool) {
	w := &d.words[g]
	for {
		done, used := simd.DecodeCtx(&d.lanes[g], g, d.tab, marks, buf, w.data)
		w.use(used)
		if marks, buf = marks[done:], buf[done*simd.CtxRound:]; len(marks) == 0 || w.left() < 0 {
			return w.left() >= 0
		}
		if !w.refill() {
			return false // not to be reached: less than a round is left of data, and behind the group's own words pad has a round and more, so that left was below 0
		}
	}
}
