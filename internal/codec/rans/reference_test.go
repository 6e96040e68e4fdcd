package rans

import (
	"encoding/binary"
	"errors"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// This file holds a second decoder, written from docs/FORMAT.md ("Coded streams") alone. It decodes
// one symbol at a time, searches lists instead of tables, and shares no code with the first one.
// Differential tests compare the two.

var errRef = errors.New("reference: not accepted")

// refReader reads a byte string piece by piece. over reports a read beyond its end.
type refReader struct {
	src  []byte
	over bool
}

func (r *refReader) take(n int) []byte {
	if n < 0 || n > len(r.src) {
		r.over, r.src = true, nil
		return make([]byte, min(max(n, 0), 1<<10))
	}
	p := r.src[:n]
	r.src = r.src[n:]
	return p
}

// varint reads a number below 2³² of at most 5 bytes.
func (r *refReader) varint() int {
	v := uint64(0)
	for i := range 5 {
		b := r.take(1)[0]
		v |= uint64(b&127) << (7 * i)
		if b < 128 {
			if v >= 1<<32 {
				r.over = true
			}
			return int(v)
		}
	}
	r.over = true
	return 0
}

type refSegment struct {
	stream, from, to int
	mode             byte
	freq             [256]int
}

// table reads a frequency table bit by bit.
func (r *refReader) table() (f [256]int, ok bool) {
	cur, left := byte(0), 0
	bit := func() int {
		if left == 0 {
			cur, left = r.take(1)[0], 8
		}
		b := cur & 1
		cur >>= 1
		left--
		return int(b)
	}
	number := func(n int) (v int) {
		for i := range n {
			v |= bit() << i
		}
		return v
	}
	sum, sym := 0, 0
	for sum < 2048 {
		if r.over || sym > 255 {
			return f, false
		}
		switch class := number(4); class {
		case 0:
			return f, false
		case 12, 13, 14:
			sym += class - 11
		case 15:
			n := 0
			for bit() == 0 {
				n++
				if n > 7 {
					return f, false
				}
			}
			sym += 3 + 1<<n + number(n)
		default:
			f[sym] = 1<<(class-1) + number(class-1)
			sum += f[sym]
			sym++
		}
	}
	return f, sum == 2048 && cur == 0 && !r.over
}

// refStreams holds streams on their way through the reference decoder.
type refStreams struct {
	refReader
	streams [][]byte
	segs    []refSegment
}

// heads reads the segment heads of stream i.
func (r *refStreams) heads(i int) bool {
	size := len(r.streams[i])
	for at := 0; at < size; {
		head := r.take(1)[0]
		s := refSegment{stream: i, from: at, to: size, mode: head & 3}
		if head >= 8 || s.mode == 3 {
			return false
		}
		if head&4 == 0 {
			n := r.varint()
			if n < 4096 || n >= size-at {
				return false
			}
			s.to = at + n
		}
		at = s.to
		switch s.mode {
		case 1:
			c := r.take(1)[0]
			for k := s.from; k < s.to; k++ {
				r.streams[i][k] = c
			}
		case 2:
			var ok bool
			s.freq, ok = r.table()
			if !ok {
				return false
			}
		}
		if r.over {
			return false
		}
		r.segs = append(r.segs, s)
	}
	return true
}

// refSymbol is the destination of a coded symbol.
type refSymbol struct{ seg, at int }

// group decodes a lane group.
func (r *refStreams) group(symbols []refSymbol, width int) bool {
	size := r.varint()
	var states [32]uint32
	for i := range width {
		states[i] = binary.LittleEndian.Uint32(r.take(4))
		if states[i] < 1<<15 || states[i] >= 1<<31 {
			return false
		}
	}
	words := &refReader{src: r.take(size)}
	for i, first := 0, 0; i < len(symbols); i++ {
		p := symbols[i]
		if p.seg != symbols[first].seg {
			first = i // each segment begins with lane 0
		}
		s := &r.segs[p.seg]
		x := &states[(i-first)%width]
		slot, sym := int(*x&2047), 0
		for slot >= s.freq[sym] {
			slot -= s.freq[sym]
			sym++
		}
		r.streams[s.stream][p.at] = byte(sym)
		if *x = uint32(s.freq[sym])*(*x>>11) + uint32(slot); *x < 1<<15 {
			*x = *x<<16 | uint32(binary.LittleEndian.Uint16(words.take(2)))
		}
		if words.over {
			return false
		}
	}
	for _, x := range states[:width] {
		if x != 1<<15 {
			return false
		}
	}
	return len(words.src) == 0 && !r.over
}

// refDecode decodes count streams of at most limit bytes each.
func refDecode(src []byte, limit, count int) (streams [][]byte, rest []byte, err error) {
	r := &refStreams{refReader: refReader{src: src}}
	for i := range count {
		size := r.varint()
		if r.over || size > limit {
			return nil, nil, errRef
		}
		r.streams = append(r.streams, make([]byte, size))
		if !r.heads(i) {
			return nil, nil, errRef
		}
	}
	var coded []refSymbol
	for i, s := range r.segs {
		for at := s.from; s.mode == 2 && at < s.to; at++ {
			coded = append(coded, refSymbol{i, at})
		}
	}
	ok := true
	switch n := len(coded); {
	case n == 0:
	case n < 8192:
		ok = r.group(coded, 4)
	default:
		groups := (n + 1<<19 - 1) / (1 << 19) * 2
		for begin, k := 0, 1; ok && k <= groups; k++ {
			end := n
			if k < groups {
				end = (n*k/groups + 31) / 32 * 32
			}
			ok = r.group(coded[begin:end], 32)
			begin = end
		}
	}
	if !ok {
		return nil, nil, errRef
	}
	for _, s := range r.segs {
		if s.mode == 0 {
			copy(r.streams[s.stream][s.from:s.to], r.take(s.to-s.from))
		}
	}
	if r.over {
		return nil, nil, errRef
	}
	return r.streams, r.src, nil
}

// refGroup encodes the symbols of a group, given their tables and lanes, as the last paragraph of
// the format says. It returns size, states and words.
func refGroup(syms []byte, freqs []*model.Freqs, lane []int, width int) []byte {
	states := make([]uint32, width)
	for i := range states {
		states[i] = 1 << 15
	}
	var words []uint16 // in reverse order
	for i := len(syms) - 1; i >= 0; i-- {
		f, c := uint32(freqs[i][syms[i]]), uint32(0)
		for _, v := range freqs[i][:syms[i]] {
			c += uint32(v)
		}
		x := states[lane[i]]
		if x >= f<<20 {
			words = append(words, uint16(x))
			x >>= 16
		}
		states[lane[i]] = x/f*2048 + x%f + c
	}
	out := binary.AppendUvarint(nil, uint64(2*len(words)))
	for _, x := range states {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	for i := len(words) - 1; i >= 0; i-- {
		out = append(out, byte(words[i]), byte(words[i]>>8))
	}
	return out
}
