package ctx

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// Decoder decodes context-coded streams. The zero value is ready to use and keeps its scratch
// memory between calls. A Decoder must not be used concurrently.
type Decoder struct {
	Checkpoint func() // see rans.ContextDecoder

	contexts   contextMap
	segs       []segment
	freqs      []model.Freqs     // the tables of all segments, one after the other
	tab        *kernels.CtxTable // tables of the current segment, 256 KiB; nil until first use
	marks      []uint64          // bitmap of the stream's marks plus padding; empty if there are none
	lanes      [2]kernels.CtxLanes
	words      [2]wordReader
	pos        [kernels.CtxRound]int // index in the segment of each lane's next symbol
	roundMarks [blockRounds]uint64   // bit l of element r is the mark of lane l in round r
	buf        [blockRounds * kernels.CtxRound]byte
}

// MarkSource supplies the marks of a stream. Marks sets bit i of bits, least significant bit first,
// if symbol i of n is marked. All bits are 0 when it is called. The decoder ignores bits from n on.
type MarkSource interface {
	Marks(bits []uint64, n int) error
}

// BitmapWords returns the number of 64-bit words in a bitmap of n bits.
func BitmapWords(n int) int { return (n + 63) / 64 }

// blockRounds is the number of rounds that the decoder collects before it moves symbols to the
// pieces of the lanes. 8 KiB of symbols stay in the L1 cache. It is a multiple of 64.
const blockRounds = 128

// Decode decodes a stream from the front of src and returns the rest of src. The stream replaces
// *stream, whose memory is reused if it suffices; its capacity is at least Slack bytes more than
// its length. Decode rejects a stream longer than limit before it allocates memory. A nil source
// means no marks.
//
// Decode returns errors of source unchanged. All other errors are a CorruptError; the content of
// *stream is then undefined.
func (d *Decoder) Decode(
	src []byte, limit int, stream *[]byte, source MarkSource,
) (rest []byte, err error) {
	size, k := model.Uvarint(src)
	if k == 0 || size == 0 || size > uint64(limit) {
		return nil, model.CorruptError("context-coded stream too long or empty")
	}
	n := int(size)
	src, err = d.contexts.read(src[k:])
	if err != nil {
		return nil, err
	}
	src, err = d.readHeads(src, n)
	if err != nil {
		return nil, err
	}
	model.GrowStream(stream, size, limit)
	d.marks = d.marks[:0]
	if source != nil {
		if err := d.readMarks(source, n); err != nil {
			return nil, err
		}
	}
	width := laneCount(n)
	words := d.words[:width/model.Lanes]
	for g := range words {
		src, err = words[g].open(src, d.lanes[g].States[:])
		if err != nil {
			words[0].data = nil // drop the reference to src
			return nil, err
		}
	}
	err = d.decodeSegments(*stream, width)
	for g := range words {
		if err == nil {
			err = model.CloseGroup(d.lanes[g].States[:], words[g].left())
		}
		words[g].data = nil // drop the reference to src
	}
	if err != nil {
		return nil, err
	}
	return src, nil
}

// readMarks fills d.marks with the marks of n symbols.
func (d *Decoder) readMarks(source MarkSource, n int) error {
	// marksByRound reads 64 bits from any symbol on and whole blocks of rounds.
	const more = blockRounds/64 + 1
	words := BitmapWords(n)
	if cap(d.marks) < words+more {
		d.marks = make([]uint64, words+words/8+more)
	}
	d.marks = d.marks[:words+more]
	clear(d.marks)
	return source.Marks(d.marks[:words], n)
}

// decodeSegments decodes all segments of the stream.
func (d *Decoder) decodeSegments(stream []byte, width int) error {
	at, tables := 0, d.freqs
	for i := range d.segs {
		s := &d.segs[i]
		d.buildTables(s, tables[:s.numTables])
		tables = tables[s.numTables:]
		if !d.decodeSegment(stream[at:at+s.size], at, width) {
			return model.ErrWords
		}
		at += s.size
	}
	return nil
}

// readHeads reads the heads of the segments of a stream with n symbols.
func (d *Decoder) readHeads(src []byte, n int) ([]byte, error) {
	d.segs, d.freqs = d.segs[:0], d.freqs[:0]
	for n > 0 {
		size, k := model.Uvarint(src)
		if k == 0 || size > uint64(n) || size < minSegment && size != uint64(n) || size == 0 {
			return nil, model.CorruptError("bad segment size")
		}
		src = src[k:]
		n -= int(size)
		if d.Checkpoint != nil {
			d.Checkpoint()
		}
		d.segs = append(d.segs, segment{size: int(size)})
		var err error
		src, err = d.readHead(src, &d.segs[len(d.segs)-1])
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// readHead reads the context classes and the tables of a segment.
func (d *Decoder) readHead(src []byte, s *segment) ([]byte, error) {
	if len(src) == 0 || src[0] < 1 || src[0] > maxTables {
		return nil, model.CorruptError("bad number of tables")
	}
	n := int(src[0])
	s.numTables, src = n, src[1:]
	r, width := bitio.Reader{Data: src}, indexBits(n)
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
		src, err = d.freqs[len(d.freqs)-1].Read(src)
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// buildTables prepares d.tab for a segment.
func (d *Decoder) buildTables(s *segment, tables []model.Freqs) {
	if d.tab == nil {
		d.tab = new(kernels.CtxTable)
	}
	copy(d.tab.TableOf[:], s.class[:])
	d.tab.Order1, d.tab.Order2 = d.contexts.first, d.contexts.second
	d.tab.Index()
	for i := range tables {
		d.tab.Tables[i].Build((*[256]uint16)(&tables[i]))
	}
}

// checkpointRounds is the number of rounds between checkpoints, of 64 symbols at most.
const checkpointRounds = 1 << 12

// decodeSegment decodes the segment that begins at symbol from of the stream. It returns false if
// the words run out.
func (d *Decoder) decodeSegment(dst []byte, from, width int) (ok bool) {
	for l := range d.pos[:width] {
		d.pos[l] = pieceStart(len(dst), l, width)
	}
	groups := width / model.Lanes
	for left, first := len(dst)/width, true; left > 0; first = false {
		marks := d.roundMarks[:min(left, blockRounds)]
		buf := d.buf[:len(marks)*kernels.CtxRound]
		d.loadMarks(marks, from, width, first)
		done := 0
		if groups == 2 {
			done = d.decodeBoth(marks, buf)
		}
		for g := range groups {
			if !d.decodeGroup(g, marks[done:], buf[done*kernels.CtxRound:]) {
				return false
			}
		}
		kernels.Deinterleave(dst, &d.pos, width, buf)
		for l := range d.pos[:width] {
			d.pos[l] += len(marks)
		}
		if left -= len(marks); left%checkpointRounds < len(marks) && d.Checkpoint != nil {
			d.Checkpoint()
		}
	}
	// The first lanes have one symbol more.
	marks := d.roundMarks[:1]
	d.loadMarks(marks, from, width, len(dst) < width)
	for g := range groups {
		w := &d.words[g]
		n := tailLanes(len(dst), g, width)
		used, ok := kernels.DecodeCtxTail(&d.lanes[g], g, d.tab, marks, d.buf[:], n, w.own())
		w.skip(used)
		if !ok {
			return false
		}
	}
	for l := range len(dst) % width {
		dst[d.pos[l]] = d.buf[l]
	}
	return true
}

// loadMarks sets marks to the marks of the next len(marks) rounds. If first is true they begin with
// the first round of the segment, in which every symbol counts as marked.
func (d *Decoder) loadMarks(marks []uint64, from, width int, first bool) {
	if len(d.marks) > 0 {
		marksByRound(marks, d.marks, from, &d.pos, width)
	} else {
		clear(marks)
	}
	if first {
		marks[0] = ^uint64(0)
	}
}

// decodeBoth decodes rounds of both groups in step and returns their number. It may stop early.
func (d *Decoder) decodeBoth(marks []uint64, buf []byte) int {
	w := &d.words
	done, used := kernels.DecodeCtx2(&d.lanes, d.tab, marks, buf, [2][]byte{w[0].data, w[1].data})
	w[0].skip(used[0])
	w[1].skip(used[1])
	return done
}

// decodeGroup decodes rounds of one group. It returns false if the words run out.
func (d *Decoder) decodeGroup(g int, marks []uint64, buf []byte) (ok bool) {
	w := &d.words[g]
	for {
		done, used := kernels.DecodeCtx(&d.lanes[g], g, d.tab, marks, buf, w.data)
		w.skip(used)
		marks, buf = marks[done:], buf[done*kernels.CtxRound:]
		if len(marks) == 0 || w.left() < 0 {
			return w.left() >= 0
		}
		if !w.refill() {
			// Unreachable: pad holds a round and more behind the group's own words, so left is
			// negative before data is too short.
			return false
		}
	}
}
