package refdec

import "testing"

// seen counts what chained streams there are in files.
type seen struct {
	flags             [8]int // blocks of layout Dense with those of the lower three flags
	matches           int    // blocks with chained match lengths
	ranges            int    // blocks with several ranges that are filtered
	one, two          int    // groups
	segments          int    // behind the first of a stream
	maps              [3]int // streams with contexts of the symbol before, of the one before that, of both
	single, few, many int    // segments of one table, of up to sixteen, and of more
}

// TestGoldenDense: the golden files have every kind of chained stream that the document describes.
func TestGoldenDense(t *testing.T) {
	var s seen
	for name, file := range goldenFiles(t) {
		h, err := parseHeader(file)
		if err != nil {
			t.Fatal(err)
		}
		at := h.size
		for number := uint64(0); le.Uint32(file[at:]) != 0; number++ {
			b, err := parseBlockHeader(file[at:at+blockHeaderSize], number, h)
			if err != nil {
				t.Fatal(err)
			}
			at += blockHeaderSize + int(b.payloadSize)
			if payload := file[at-int(b.payloadSize) : at]; b.kind == kindCoded && payload[0] == layoutDense {
				if err := s.block(&byteReader{payload[1:]}, int(b.rawSize)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if s.matches == 0 || s.flags[0] == 0 || s.flags[tokensChained] == 0 || s.flags[litsChained] == 0 || s.flags[tokensChained|litsChained] == 0 ||
		s.flags[filteredX86] == 0 || s.flags[filteredX86|litsChained]+s.flags[filteredX86|litsChained|tokensChained] == 0 || s.ranges == 0 || s.one == 0 || s.two == 0 ||
		s.segments == 0 || s.maps[0] == 0 || s.maps[2] == 0 || s.single == 0 || s.few == 0 || s.many == 0 {
		t.Errorf("not all there is: %+v", s)
	}
}

// block counts what is in a block of layout Dense, behind the layout byte.
func (s *seen) block(r *byteReader, raw int) error {
	flags, err := r.byte()
	if err != nil {
		return err
	}
	s.flags[flags&7]++
	if flags&matchChained != 0 {
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
	if flags&tokensChained != 0 {
		if err := s.heads(*r); err != nil {
			return err
		}
		if _, err := decodeChained(r, raw, nil); err != nil {
			return err
		}
	}
	if flags&matchChained != 0 {
		if err := s.heads(*r); err != nil {
			return err
		}
		if _, err := decodeChained(r, raw, nil); err != nil {
			return err
		}
	}
	if flags&litsChained != 0 {
		if _, err := decodeStreams(r, limits); err != nil {
			return err
		}
		return s.heads(*r)
	}
	return nil
}

// heads counts what is in a chained stream.
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
	if _, err := parseChainMap(&r); err != nil {
		return err
	}
	for left := n; left > 0; {
		c, err := parseChainSegment(&r, left)
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
