package lzseq

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

func zeros(n int) string { return strings.Repeat("0", n) }

func TestMarks(t *testing.T) {
	for _, tier := range simd.Tiers() {
		t.Run(tier, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(tier))
			testMarks(t)
		})
	}
}

func testMarks(t *testing.T) {
	for _, c := range []struct {
		runs []uint32
		rest int
		want string
	}{
		{nil, 0, ""}, {nil, 3, "100"}, {[]uint32{1}, 0, "1"}, {[]uint32{16, 0, 2, 0}, 2, "10000000000000001010"},
		{[]uint32{64}, 64, "1" + zeros(63) + "1" + zeros(63)}, {[]uint32{60, 4, 1, 63, 2, 0, 62}, 0, "1" + zeros(59) + "1000" + "1" + "1" + zeros(62) + "10" + "1" + zeros(61)},
		{[]uint32{3, 300}, 1, "100" + "1" + zeros(299) + "1"},
	} {
		tryMarks(t, c.runs, c.rest, c.want)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		var runs []uint32
		var want strings.Builder
		most := 1 + r.IntN(20)
		for range r.IntN(60) {
			n := uint32(r.IntN(most))
			if r.IntN(50) == 0 {
				n += uint32(r.IntN(400))
			}
			runs = append(runs, n)
			if n > 0 {
				want.WriteString("1" + zeros(int(n)-1))
			}
		}
		rest := r.IntN(3)
		if rest > 0 {
			want.WriteString("1" + zeros(rest-1))
		}
		tryMarks(t, runs, rest, want.String())
	}
}

// tryMarks marks literals in runs, of which the last has no match behind it, and then with a literal or a length too few.
func tryMarks(t *testing.T, runs []uint32, rest int, want string) {
	t.Helper()
	var seqs []lz77.Sequence
	size := rest
	for _, n := range runs {
		seqs = append(seqs, lz77.Sequence{LitLen: n, MatchLen: 4, Offset: 16})
		size += int(n) + 4
	}
	var s Streams
	s.Encode(Repeat, make([]byte, size), seqs)
	n := len(s.Lits)
	bits := make([]uint64, (n+63)/64)
	if err := s.Marks(bits, n); err != nil {
		t.Errorf("%v: %v", runs, err)
	}
	marks := make([]byte, n)
	for i := range marks {
		marks[i] = '0' + byte(bits[i/64]>>(i%64)&1)
	}
	if string(marks) != want {
		t.Errorf("%v and %d: %s, want %s", runs, rest, marks, want)
	}
	if n := n - rest - 1; n > 0 {
		if err := s.Marks(make([]uint64, (n+63)/64), n); !errors.As(err, new(CorruptError)) {
			t.Errorf("%v: a literal too few: %v", runs, err)
		}
	}
	if len(s.LitLens) > 0 {
		s.LitLens = s.LitLens[:len(s.LitLens)-1]
		if err := s.Marks(make([]uint64, (n+63)/64), n); !errors.As(err, new(CorruptError)) {
			t.Errorf("%v: a length too short: %v", runs, err)
		}
	}
}
