package lzseq

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gopz/compress/lz77"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		runs []uint32
		rest int
		want string
	}{
		{nil, 0, ""}, {nil, 3, "100"}, {[]uint32{1}, 0, "1"}, {[]uint32{16, 0, 2, 0}, 2, "10000000000000001010"},
		{[]uint32{3, 300}, 1, "100" + "1" + string(bytes.Repeat([]byte("0"), 299)) + "1"},
	} {
		var seqs []lz77.Sequence
		size := c.rest
		for _, n := range c.runs {
			seqs = append(seqs, lz77.Sequence{LitLen: n, MatchLen: 4, Offset: 16})
			size += int(n) + 4
		}
		var s Streams
		s.Encode(Repeat, make([]byte, size), seqs)
		marks := make([]byte, len(s.Lits))
		if err := s.Marks(marks); err != nil {
			t.Errorf("%v: %v", c.runs, err)
		}
		for i := range marks {
			marks[i] += '0'
		}
		if string(marks) != c.want {
			t.Errorf("%v and %d: %s, want %s", c.runs, c.rest, marks, c.want)
		}
		if n := len(marks) - c.rest; n > 1 {
			if err := s.Marks(make([]byte, n-1)); !errors.As(err, new(CorruptError)) {
				t.Errorf("%v: a literal too few: %v", c.runs, err)
			}
		}
		if len(s.LitLens) > 0 {
			s.LitLens = s.LitLens[:len(s.LitLens)-1]
			if err := s.Marks(make([]byte, len(s.Lits))); !errors.As(err, new(CorruptError)) {
				t.Errorf("%v: a length too short: %v", c.runs, err)
			}
		}
	}
}
