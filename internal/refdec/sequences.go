package refdec

import "encoding/binary"

const (
	layoutPlain  = 1
	layoutRepeat = 2
	layoutDense  = 3

	minOffset     = 16
	initialRepeat = 64
	maxOffsetBits = 24
)

// The streams of a layout in the order of the format.
const (
	streamLits = iota
	streamTokens
	streamOffsets
	streamLitLens
	streamMatchLens
	streamExtra
	numStreams
)

// streamLimits returns the maximum size of each stream in a block of n bytes.
func streamLimits(layout byte, n int) [numStreams]int {
	if layout == layoutDense {
		return [numStreams]int{
			streamLits:      n,
			streamTokens:    n / 2,
			streamOffsets:   n / 3,
			streamLitLens:   n / 3,
			streamMatchLens: n / 16,
			streamExtra:     n + 1,
		}
	}
	return [numStreams]int{
		streamLits:      n,
		streamTokens:    n / 4,
		streamOffsets:   n / 2,
		streamLitLens:   n / 3,
		streamMatchLens: n / 16,
		streamExtra:     3*n/4 + 1,
	}
}

// decodeCoded returns the content, n bytes, of a coded block. dict is in front of it.
func decodeCoded(payload []byte, n int, dict []byte) ([]byte, error) {
	layout := payload[0]
	if layout != layoutPlain && layout != layoutRepeat && layout != layoutDense {
		return nil, corrupt("layout %d", layout)
	}
	chose(choiceLayout, int(layout))
	r := &byteReader{payload[1:]}
	var streams [numStreams][]byte
	var filtered []x86Range
	var err error
	if layout == layoutDense {
		streams, filtered, err = decodeDense(r, n)
	} else {
		streams, err = decodeStreams(r, streamLimits(layout, n))
	}
	if err != nil {
		return nil, err
	}
	if len(r.data) != 0 {
		return nil, corrupt("%d bytes after the streams", len(r.data))
	}
	content, err := decodeSequences(layout, streams, n, dict)
	if err == nil {
		for _, f := range filtered {
			undoX86(content[f.begin:f.end])
		}
	}
	return content, err
}

// A sequenceReader holds the rest of the streams, and the repeat offsets of layouts Repeat and
// Dense.
type sequenceReader struct {
	layout  byte // 0 while the literals are counted only
	streams [numStreams][]byte
	extra   bitReader
	repeats [3]uint64
	// minimum match lengths by index of the repeat offset; the last one for new offsets
	minMatch [4]uint64
}

// chose reports a choice that each layout has for itself. values is the number of its values.
func (r *sequenceReader) chose(c choice, value, values int) {
	if r.layout != 0 {
		chose(c, value+values*int(r.layout))
	}
}

// take removes the first n bytes of a stream.
func (r *sequenceReader) take(stream int, n uint64) ([]byte, error) {
	s := r.streams[stream]
	if uint64(len(s)) < n {
		return nil, corrupt("stream %d has %d bytes, not %d more", stream, len(s), n)
	}
	r.streams[stream] = s[n:]
	return s[:n], nil
}

// length returns the length for a token's field: base + field, and for the field's last value a
// long length in addition.
func (r *sequenceReader) length(field, last, base uint64, stream int) (uint64, error) {
	if field < last {
		return base + field, nil
	}
	b, err := r.take(stream, 1)
	if err != nil {
		return 0, err
	}
	n := uint64(b[0])
	if n == 255 {
		b, err = r.take(stream, 4)
		if err != nil {
			return 0, err
		}
		if n = uint64(binary.LittleEndian.Uint32(b)); n < 255 {
			return 0, corrupt("length %d in five bytes", n) // Each length has one form.
		}
		r.chose(choiceLength, 5+8*stream, 64)
		return base + field + n, nil
	}
	r.chose(choiceLength, 1+8*stream, 64)
	return base + field + n, nil
}

// A sequence is a literal run, a match length and an offset.
type sequence struct{ run, match, offset uint64 }

func (r *sequenceReader) plain(token uint64) (s sequence, err error) {
	s.run, err = r.length(token&15, 15, 0, streamLitLens)
	if err != nil {
		return s, err
	}
	s.match, err = r.length(token>>4, 15, 5, streamMatchLens)
	if err != nil {
		return s, err
	}
	b, err := r.take(streamOffsets, 2)
	if err != nil {
		return s, err
	}
	s.offset = uint64(binary.LittleEndian.Uint16(b))
	return s, nil
}

func (r *sequenceReader) repeat(token uint64) (s sequence, err error) {
	s.run, err = r.length(token&3, 3, 0, streamLitLens)
	if err != nil {
		return s, err
	}
	s.match, err = r.length(token>>2&15, 15, r.minMatch[token>>6], streamMatchLens)
	if err != nil {
		return s, err
	}
	place := token >> 6
	r.chose(choicePlace, int(place), 4)
	if place < 3 {
		s.offset = r.repeats[place]
	} else {
		s.offset, err = r.newOffset()
		if err != nil {
			return s, err
		}
		place = 2 // The last repeat offset is dropped, as if the offset had been there.
	}
	for ; place > 0; place-- {
		r.repeats[place] = r.repeats[place-1]
	}
	r.repeats[0] = s.offset
	return s, nil
}

func (r *sequenceReader) newOffset() (uint64, error) {
	b, err := r.take(streamOffsets, 1)
	if err != nil {
		return 0, err
	}
	code := uint64(b[0])
	e := code >> 2
	if e > maxOffsetBits {
		return 0, corrupt("offset code %d", code)
	}
	r.chose(choiceCode, int(e), 32)
	x, err := r.extra.bits(int(e))
	if err != nil {
		return 0, err
	}
	return (1<<e+x-1)*4 + code&3, nil
}

// minMatches returns the minimum match lengths of a layout: for each repeat offset, and for a new
// offset.
func minMatches(layout byte) [4]uint64 {
	if layout == layoutDense {
		return [4]uint64{2, 2, 2, 3}
	}
	return [4]uint64{4, 4, 4, 4}
}

// decodeSequences executes the sequences of a block of n bytes. dict is in front of it.
func decodeSequences(
	layout byte, streams [numStreams][]byte, n int, dict []byte,
) ([]byte, error) {
	r := &sequenceReader{
		layout:   layout,
		streams:  streams,
		extra:    bitReader{data: streams[streamExtra]},
		repeats:  [3]uint64{initialRepeat, initialRepeat, initialRepeat},
		minMatch: minMatches(layout),
	}
	next := r.plain
	if layout != layoutPlain {
		next = r.repeat
	}
	n += len(dict)
	out := append(make([]byte, 0, n), dict...)
	for _, token := range streams[streamTokens] {
		s, err := next(uint64(token))
		if err != nil {
			return nil, err
		}
		lits, err := r.take(streamLits, s.run)
		if err != nil {
			return nil, err
		}
		out = append(out, lits...)
		if s.offset < minOffset || s.offset > uint64(len(out)) {
			return nil, corrupt("offset %d at %d", s.offset, len(out))
		}
		if s.offset > uint64(len(out)-len(dict)) {
			chose(choiceDictionary, int(layout))
		}
		if uint64(len(out))+s.match > uint64(n) {
			return nil, corrupt("match of %d bytes at %d of %d", s.match, len(out), n)
		}
		for range s.match {
			out = append(out, out[uint64(len(out))-s.offset])
		}
	}
	out = append(out, r.streams[streamLits]...)
	if len(out) != n {
		return nil, corrupt("block has %d bytes, not %d", len(out)-len(dict), n-len(dict))
	}
	for _, stream := range []int{streamOffsets, streamLitLens, streamMatchLens} {
		if len(r.streams[stream]) != 0 {
			return nil, corrupt("%d bytes too many in stream %d", len(r.streams[stream]), stream)
		}
	}
	if r.extra.bytesUsed() != len(streams[streamExtra]) {
		return nil, corrupt("%d bytes of bits, %d in use",
			len(streams[streamExtra]), r.extra.bytesUsed())
	}
	return out[len(dict):], nil
}
