package rans

import (
	"encoding/binary"

	"github.com/gopz/compress/simd"
)

// Decoder decodes what an Encoder has written. The zero value is ready; it keeps its scratch memory from call to call. It is not
// safe for concurrent use.
type Decoder struct {
	segs  []segment
	coded int // symbols in segments of modeCoded
	tab   decTable
	group group
}

// group is a group of lanes that is being decoded.
type group struct {
	states [lanes]uint32
	mask   int    // lanes − 1
	words  []byte // from the next one on; what lies behind the group's own is read, never used
	left   int    // bytes of the group's own words in front
	padded bool   // words is pad
	pad    [2*roundBytes + 16]byte
}

// Decode decodes len(streams) streams from the front of src and returns what follows them. Each stream replaces the slice that stands in
// its place, whose memory is reused if it suffices, and has Slack bytes of capacity more than its length.
// A stream of more bytes than its limit is not accepted, and nothing is allocated for it; there is a limit for each stream.
// The streams hold no reference to src. An error is a CorruptError; the streams are then of no use.
func (d *Decoder) Decode(src []byte, limits []int, streams ...*[]byte) (rest []byte, err error) {
	d.segs, d.coded = d.segs[:0], 0
	for i, s := range streams {
		n, size := varint(src)
		if size == 0 || n > uint64(limits[i]) {
			return nil, CorruptError("stream too long")
		}
		if src = src[size:]; uint64(cap(*s)) < n+Slack {
			// Streams vary in size from block to block: some room saves growing again and again.
			*s = make([]byte, n, min(int(n+n/8), limits[i])+Slack)
		}
		*s = (*s)[:n]
		if src, err = d.heads(src, *s); err != nil {
			return nil, err
		}
	}
	switch {
	case d.coded == 0:
	case d.coded < smallLimit:
		src, err = d.lanes(src, 0, d.coded, smallLanes)
	default:
		cut := groupCut(d.coded)
		if src, err = d.lanes(src, 0, cut, lanes); err == nil {
			src, err = d.lanes(src, cut, d.coded, lanes)
		}
	}
	d.group.words = nil // they are the caller's
	if err != nil {
		return nil, err
	}
	for i := range d.segs {
		s := &d.segs[i]
		if s.mode == modeStored {
			if len(src) < len(s.data) {
				return nil, CorruptError("stored bytes missing")
			}
			copy(s.data, src)
			src = src[len(s.data):]
		}
		s.data = nil
	}
	return src, nil
}

// heads reads the segment heads of a stream.
func (d *Decoder) heads(src, stream []byte) ([]byte, error) {
	for len(stream) > 0 {
		if len(src) == 0 {
			return nil, CorruptError("segment head missing")
		}
		flags := src[0]
		m, last := mode(flags&3), flags&lastSegment != 0
		if flags > lastSegment|byte(modes-1) || m >= modes {
			return nil, CorruptError("unknown segment mode")
		}
		src = src[1:]
		n := uint64(len(stream))
		if !last {
			v, size := varint(src)
			if size == 0 || v >= n || v < minSegment {
				return nil, CorruptError("bad segment size")
			}
			n, src = v, src[size:]
		}
		s := grow(&d.segs)
		s.data, s.mode = stream[:n:n], m
		stream = stream[n:]
		switch m {
		case modeSymbol:
			if len(src) == 0 {
				return nil, CorruptError("symbol missing")
			}
			simd.Fill(s.data, src[0])
			src = src[1:]
		case modeCoded:
			var err error
			if src, err = s.freq.read(src); err != nil {
				return nil, err
			}
			d.coded += int(n)
		}
	}
	return src, nil
}

// lanes decodes the symbols from number from to number to of the coded sequence, which one group of lanes carries.
func (d *Decoder) lanes(src []byte, from, to, width int) ([]byte, error) {
	g := &d.group
	n, size := varint(src)
	if size == 0 || n > uint64(len(src)) || uint64(len(src)-size) < n+uint64(4*width) || n%2 != 0 {
		return nil, CorruptError("words missing")
	}
	src = src[size:]
	for i := range g.states[:width] {
		x := binary.LittleEndian.Uint32(src[4*i:])
		if x-lower >= 1<<31-lower {
			return nil, CorruptError("bad state")
		}
		g.states[i] = x
	}
	src = src[4*width:]
	g.mask, g.words, g.left, g.padded = width-1, src, int(n), false

	at := 0 // number of the segment's first symbol
	for i := range d.segs {
		s := &d.segs[i]
		if s.mode != modeCoded {
			continue
		}
		if a, b := max(at, from), min(at+len(s.data), to); a < b {
			d.tab.build(&s.freq)
			if !g.decode(&d.tab, s.data[a-at:b-at]) {
				return nil, CorruptError("words run out")
			}
		}
		at += len(s.data)
	}
	for _, x := range g.states[:width] {
		if x != lower {
			return nil, CorruptError("wrong final state")
		}
	}
	if g.left != 0 {
		return nil, CorruptError("words left over")
	}
	return src[n:], nil
}

// decode fills dst with the next symbols, in the lanes from 0 on.
func (g *group) decode(tab *decTable, dst []byte) bool {
	for at := 0; at < len(dst); {
		end, used := at, 0
		if g.mask == lanes-1 && len(dst)-at >= lanes {
			end, used = decode32(&g.states, tab, dst[at:], g.words)
			end += at
		} else {
			end, used = decodeFew(&g.states, g.mask, tab, dst, at, g.words)
		}
		g.words = g.words[used:]
		if g.left -= used; g.left < 0 {
			return false
		}
		if end == at && !g.refill() {
			return false
		}
		at = end
	}
	return true
}

// refill moves the last words to where the kernels can read past them.
func (g *group) refill() bool {
	if g.padded {
		return false
	}
	clear(g.pad[copy(g.pad[:], g.words[:g.left]):])
	g.words, g.padded = g.pad[:], true
	return true
}

// varint reads a number below 2³² from the front of src; size is 0 if there is none.
func varint(src []byte) (v uint64, size int) {
	v, size = binary.Uvarint(src[:min(len(src), binary.MaxVarintLen32)])
	if size <= 0 || v >= 1<<32 {
		return 0, 0
	}
	return v, size
}
