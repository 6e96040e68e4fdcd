package refdec

import (
	"slices"
	"testing"
)

// seen counts the features of context-coded streams in files.
type seen struct {
	flags    [8]int // blocks of layout Dense by the lower three flags
	matches  int    // blocks with context-coded match lengths
	ranges   int    // blocks with several filtered ranges
	one, two int    // streams with one group and with two
	segments int    // behind the first of a stream
	// streams whose contexts are the last symbol, the one before it, or both
	maps              [3]int
	single, few, many int // segments of one table, of up to sixteen, and of more
}

// TestGoldenDense checks that the golden files have every kind of context-coded stream that the
// document describes.
func TestGoldenDense(t *testing.T) {
	var s seen
	for name, file := range goldenFiles(t) {
		if isSmall(file) {
			continue
		}
		h, err := parseHeader(file, jsonDictionary().ours)
		if err != nil {
			t.Fatal(err)
		}
		at := h.size
		for number := uint64(0); le.Uint32(file[at:]) != 0 && file[at]%8 != 4; number++ {
			b, err := parseBlockHeader(file[at:], number, h)
			if err != nil {
				t.Fatal(err)
			}
			at += b.size + int(b.payloadSize)
			payload := file[at-int(b.payloadSize) : at]
			if b.kind == kindCoded && payload[0] == layoutDense {
				if err := s.block(&byteReader{payload[1:]}, int(b.rawSize)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	const litsTokens = litsInContext | tokensInContext
	counts := []int{
		s.matches, s.flags[0], s.flags[tokensInContext], s.flags[litsInContext], s.flags[litsTokens],
		s.flags[filteredX86], s.flags[filteredX86|litsInContext] + s.flags[filteredX86|litsTokens],
		s.ranges, s.one, s.two, s.segments, s.maps[0], s.maps[2], s.single, s.few, s.many,
	}
	if slices.Contains(counts, 0) {
		t.Errorf("a feature is missing: %+v", s)
	}
}

// block counts the features of a block of layout Dense, behind the layout byte.
func (s *seen) block(r *byteReader, raw int) error {
	flags, err := r.byte()
	if err != nil {
		return err
	}
	s.flags[flags&7]++
	if flags&matchInContext != 0 {
		s.matches++
	}
	limits := [numStreams]int{}
	for i := range limits {
		limits[i] = raw
	}
	if flags&filteredX86 != 0 {
		list, err := x86Ranges(r, raw)
		if err != nil {
			return err
		}
		if len(list) > 1 {
			s.ranges++
		}
	}
	if flags&tokensInContext != 0 {
		if err := s.heads(*r); err != nil {
			return err
		}
		if _, err := decodeContextCoded(r, raw, nil); err != nil {
			return err
		}
	}
	if flags&matchInContext != 0 {
		if err := s.heads(*r); err != nil {
			return err
		}
		if _, err := decodeContextCoded(r, raw, nil); err != nil {
			return err
		}
	}
	if flags&litsInContext != 0 {
		if _, err := decodeStreams(r, limits); err != nil {
			return err
		}
		return s.heads(*r)
	}
	return nil
}

// heads counts the features of a context-coded stream.
func (s *seen) heads(r byteReader) error {
	n, err := r.varint()
	if err != nil {
		return err
	}
	if n < twoGroups {
		s.one++
	} else {
		s.two++
	}
	switch low := r.data[0]; low {
	case 0:
		s.maps[0]++
	case 8:
		s.maps[1]++
	default:
		s.maps[2]++
	}
	if _, err := parseContextMap(&r); err != nil {
		return err
	}
	for left := n; left > 0; {
		c, err := parseContextSegment(&r, left)
		if err != nil {
			return err
		}
		if left != n {
			s.segments++
		}
		switch n := len(c.tables); {
		case n == 1:
			s.single++
		case n <= 16:
			s.few++
		default:
			s.many++
		}
		left -= uint64(c.size)
	}
	return nil
}
