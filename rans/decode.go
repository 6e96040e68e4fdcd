package rans

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// Decoder decodes what an Encoder has written. The zero value is ready; it keeps its scratch memory from call to call. It is not
// safe for concurrent use.
type Decoder struct {
	segs   []segment
	coded  int // symbols in segments of modeCoded
	groups [2]group
	work   Work
}

// Decode decodes len(streams) streams from the front of src and returns what follows them. Each stream replaces the slice that stands in
// its place, whose memory is reused if it suffices, and has Slack bytes of capacity more than its length.
// A stream of more bytes than its limit is not accepted, and nothing is allocated for it; there is a limit for each stream.
// The streams hold no reference to src. An error is a CorruptError; the streams are then of no use.
func (d *Decoder) Decode(src []byte, limits []int, streams ...*[]byte) (rest []byte, err error) {
	if src, err = d.begin(src, limits, streams); err != nil {
		return nil, err
	}
	src, err = d.symbols(src)
	for i := range d.groups {
		d.groups[i].Words, d.groups[i].Dst = nil, nil // they are the caller's
	}
	if err != nil {
		return nil, err
	}
	return d.end(src)
}

// begin reads the heads of all streams, and what is in them.
func (d *Decoder) begin(src []byte, limits []int, streams []*[]byte) (rest []byte, err error) {
	d.segs, d.coded = d.segs[:0], 0
	for i, s := range streams {
		n, size := model.Uvarint(src)
		if size == 0 || n > uint64(limits[i]) {
			return nil, CorruptError("stream too long")
		}
		model.GrowStream(s, n, limits[i])
		if src, err = d.heads(src[size:], *s); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// end reads the stored bytes, which come last.
func (d *Decoder) end(src []byte) (rest []byte, err error) {
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
			v, size := model.Uvarint(src)
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
			if src, err = s.freq.Read(src); err != nil {
				return nil, err
			}
			d.coded += int(n)
		}
	}
	return src, nil
}

// symbols decodes the coded sequence.
func (d *Decoder) symbols(src []byte) (rest []byte, err error) {
	a, b := &d.groups[0], &d.groups[1]
	switch {
	case d.coded == 0:
		return src, nil
	case d.coded < model.SmallLimit:
		if src, err = a.open(src, 0, d.coded, smallLanes); err != nil {
			return nil, err
		}
		for a.next(d.segs, nil) {
			if !a.few() {
				return nil, model.ErrWords
			}
		}
		return src, a.close()
	}
	cut := groupCut(d.coded)
	if src, err = a.open(src, 0, cut, Lanes); err != nil {
		return nil, err
	}
	if src, err = b.open(src, cut, d.coded, Lanes); err != nil {
		return nil, err
	}
	for a.next(d.segs, nil) && b.next(d.segs, a) {
		simd.DecodeLanes2(&a.DecodeGroup, &b.DecodeGroup)
		if !a.settle() || !b.settle() {
			return nil, model.ErrWords
		}
	}
	for a.next(d.segs, nil) {
		simd.DecodeLanes(&a.DecodeGroup)
		if !a.settle() {
			return nil, model.ErrWords
		}
	}
	for b.next(d.segs, a) {
		simd.DecodeLanes(&b.DecodeGroup)
		if !b.settle() {
			return nil, model.ErrWords
		}
	}
	if err := a.close(); err != nil {
		return nil, err
	}
	return src, b.close()
}
