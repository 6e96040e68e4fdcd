package rans

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/simd"
)

// ChainDecoder decodes chained streams. The zero value is ready; it keeps its scratch memory from call to call. It is not safe for concurrent use.
type ChainDecoder struct {
	contexts contextMap
	segs     []chainSegment
	freqs    []freqs          // the tables of all segments
	tab      *simd.ChainTable // nil until it is used: it takes 256 KiB
	marked   bool             // there may be marks
	built    int              // the segment that tab is for, −1 at first
	lanes    simd.ChainLanes
	buf      [blockRounds * lanes]byte
}

// A Marker marks symbols of a chained stream. It is given the stream before it is decoded, all zero, and sets to 1 what has a mark.
type Marker interface {
	Marks(stream []byte) error
}

// blockRounds is how many rounds are decoded between two visits to the pieces of the lanes: 8 KiB of symbols stay in the first-level cache.
const blockRounds = 256

// Decode decodes a stream from the front of src and returns what follows it. The stream replaces *stream, whose memory is reused if it suffices, and has Slack
// bytes of capacity more than its length. One of more than limit bytes is not accepted, and nothing is allocated for it. Without a
// Marker there are no marks; its errors are returned. Other errors are CorruptErrors; the stream is then of no use.
func (d *ChainDecoder) Decode(src []byte, limit int, stream *[]byte, marker Marker) (rest []byte, err error) {
	n, size := varint(src)
	if size == 0 || n == 0 || n > uint64(limit) {
		return nil, CorruptError("chained stream too long, or empty")
	}
	if src, err = d.contexts.read(src[size:]); err != nil {
		return nil, err
	}
	if src, err = d.heads(src, int(n)); err != nil {
		return nil, err
	}
	growStream(stream, n, limit)
	clear(*stream)
	if d.marked = marker != nil; d.marked {
		if err := marker.Marks(*stream); err != nil {
			return nil, err
		}
	}
	d.built = -1
	cut := chainCut(int(n))
	if src, err = d.group(src, *stream, 0, cut); err != nil || cut == int(n) {
		return src, err
	}
	return d.group(src, *stream, cut, int(n))
}

// heads reads the heads of the segments of n symbols.
func (d *ChainDecoder) heads(src []byte, n int) ([]byte, error) {
	d.segs, d.freqs = d.segs[:0], d.freqs[:0]
	for n > 0 {
		size, k := varint(src)
		if k == 0 || size > uint64(n) || size < minChainSegment && size != uint64(n) || size == 0 {
			return nil, CorruptError("bad segment size")
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
func (d *ChainDecoder) head(src []byte, s *chainSegment) ([]byte, error) {
	if len(src) == 0 || src[0] < 1 || src[0] > maxTables {
		return nil, CorruptError("bad number of tables")
	}
	n := int(src[0])
	s.tables, src = n, src[1:]
	r, width := bitio.Reader{Data: src}, classBits(n)
	for i := range s.class {
		s.class[i] = uint8(r.Take(width))
		if int(s.class[i]) >= n {
			return nil, CorruptError("context without a table")
		}
	}
	src, ok := r.Rest()
	if !ok {
		return nil, CorruptError("contexts missing, or bits set behind them")
	}
	for range n {
		d.freqs = append(d.freqs, freqs{})
		var err error
		if src, err = d.freqs[len(d.freqs)-1].read(src); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// group decodes stream[from:to] and returns what follows the group's words.
func (d *ChainDecoder) group(src, stream []byte, from, to int) (rest []byte, err error) {
	words, rest, err := openGroup(src, d.lanes.States[:])
	if err != nil {
		return nil, err
	}
	at, tables := 0, d.freqs
	for i := range d.segs {
		s := &d.segs[i]
		a, b := max(at, from), min(at+s.size, to)
		at += s.size
		own := tables[:s.tables]
		tables = tables[s.tables:]
		if a >= b {
			continue
		}
		if d.built != i {
			d.build(s, own)
			d.built = i
		}
		var ok bool
		if words, ok = d.part(stream[a:b], words); !ok {
			return nil, errWords
		}
	}
	return rest, closeGroup(d.lanes.States[:], len(words))
}

// build makes the tables of a segment.
func (d *ChainDecoder) build(s *chainSegment, tables []freqs) {
	if d.tab == nil {
		d.tab = new(simd.ChainTable)
	}
	copy(d.tab.Class[:], s.class[:])
	d.tab.First, d.tab.Second = d.contexts.first, d.contexts.second
	d.tab.Index()
	for i := range tables {
		d.tab.Tables[i].Build((*[256]uint16)(&tables[i]))
	}
}

// part decodes what of a segment belongs to a group.
func (d *ChainDecoder) part(dst, words []byte) (rest []byte, ok bool) {
	rounds := len(dst) / lanes
	for r := 0; r < rounds; r += blockRounds {
		n := min(blockRounds, rounds-r)
		buf := d.buf[:n*lanes]
		if d.marked {
			gather(buf, dst, r)
		} else {
			clear(buf)
		}
		if r == 0 {
			for l := range buf[:lanes] {
				buf[l] = 1
			}
		}
		done, used := simd.DecodeChained(&d.lanes, d.tab, buf, words)
		words = words[used:]
		if used, ok = simd.DecodeChainedFew(&d.lanes, d.tab, buf[done:], words); !ok {
			return nil, false
		}
		words = words[used:]
		scatter(dst, buf, r)
	}
	// The last symbols of the first lanes.
	few := d.buf[:len(dst)%lanes]
	for l := range few {
		few[l] = dst[piece(len(dst), l)+rounds]
		if rounds == 0 {
			few[l] = 1
		}
	}
	used, ok := simd.DecodeChainedFew(&d.lanes, d.tab, few, words)
	for l := range few {
		dst[piece(len(dst), l)+rounds] = few[l]
	}
	return words[used:], ok
}
