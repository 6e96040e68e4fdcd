package lzseq

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopz/compress/lz77"
)

func zeros(n int) string { return strings.Repeat("0", n) }

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		runs []uint32
		rest int
		want string
	}{
		{nil, 0, ""}, {nil, 3, "100"}, {[]uint32{1}, 0, "1"}, {[]uint32{16, 0, 2, 0}, 2, "10000000000000001010"},
		{[]uint32{64}, 64, "1" + zeros(63) + "1" + zeros(63)}, {[]uint32{60, 4, 1, 63, 2, 0, 62}, 0, "1" + zeros(59) + "1000" + "1" + "1" + zeros(62) + "10" + "1" + zeros(61)},
		{[]uint32{3, 300}, 1, "100" + "1" + zeros(299) + "1"},
	} {
		var seqs []lz77.Sequence
		size := c.rest
		for _, n := range c.runs {
			seqs = append(seqs, lz77.Sequence{LitLen: n, MatchLen: 4, Offset: 16})
			size += int(n) + 4
		}
		var s Streams
		s.Encode(Repeat, make([]byte, size), seqs)
		n := len(s.Lits)
		bits := make([]uint64, (n+63)/64)
		if err := s.Marks(bits, n); err != nil {
			t.Errorf("%v: %v", c.runs, err)
		}
		marks := make([]byte, n)
		for i := range marks {
			marks[i] = '0' + byte(bits[i/64]>>(i%64)&1)
		}
		if string(marks) != c.want {
			t.Errorf("%v and %d: %s, want %s", c.runs, c.rest, marks, c.want)
		}
		if n := n - c.rest - 1; n > 0 {
			if err := s.Marks(make([]uint64, (n+63)/64), n); !errors.As(err, new(CorruptError)) {
				t.Errorf("%v: a literal too few: %v", c.runs, err)
			}
		}
		if len(s.LitLens) > 0 {
			s.LitLens = s.LitLens[:len(s.LitLens)-1]
			if err := s.Marks(make([]uint64, (n+63)/64), n); !errors.As(err, new(CorruptError)) {
				t.Errorf("%v: a length too short: %v", c.runs, err)
			}
		}
	}
}
