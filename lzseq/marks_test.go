package lzseq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
		{nil, 0, ""}, {nil, 3, "100"}, {[]uint32{1}, 0, "1"},
		{[]uint32{16, 0, 2, 0}, 2, "10000000000000001010"},
		{[]uint32{64}, 64, "1" + zeros(63) + "1" + zeros(63)},
		{
			[]uint32{60, 4, 1, 63, 2, 0, 62}, 0,
			"1" + zeros(59) + "1000" + "1" + "1" + zeros(62) + "10" + "1" + zeros(61),
		},
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

// tryMarks marks literals in runs and rest literals behind the last match. It then removes a
// literal, and a length.
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

// TestMarksTiers checks that all tiers mark the same literals or all reject the streams. It counts
// the expected marks one by one.
func TestMarksTiers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		s := Streams{Tokens: make([]byte, r.IntN(200))}
		often, most := r.IntN(256), 1+r.IntN(64)
		for i := range s.Tokens {
			run := byte(r.IntN(3))
			if r.IntN(256) < often {
				run = 3
				n := r.IntN(most)
				if r.IntN(60) == 0 {
					n = 200 + r.IntN(150)
				}
				s.LitLens = appendLength(s.LitLens, uint32(n))
			}
			s.Tokens[i] = byte(r.IntN(64))<<2 | run
		}
		var marked []int
		at, lens, fits := 0, 0, true
		for _, token := range s.Tokens {
			marked = append(marked, at)
			at += int(token & 3)
			if token&3 == 3 {
				n, _ := length(s.LitLens, &lens)
				at += int(n)
			}
		}
		n := at
		switch r.IntN(6) {
		case 0:
			n = max(0, at-r.IntN(100))
		case 1:
			n = at &^ 63
		case 2:
			n = 0
		case 3:
			n += r.IntN(100)
		case 4:
			if k := len(s.LitLens); k > 0 {
				s.LitLens = s.LitLens[:r.IntN(k)]
				fits = false
			}
		}
		fits = fits && at <= n
		want := make([]uint64, (n+63)/64)
		for _, i := range append(marked, at) {
			if i < n {
				want[i/64] |= 1 << (i % 64)
			}
		}
		for _, tier := range simd.Tiers() {
			back := simd.SetTier(tier)
			bits := make([]uint64, (n+63)/64)
			err := s.Marks(bits, n)
			simd.SetTier(back)
			if (err == nil) != fits {
				t.Fatalf("%s: %d of %d literals, lengths whole: %v; %v", tier, at, n, fits, err)
			}
			if err != nil {
				continue
			}
			if n%64 != 0 { // bits behind the last literal may be set
				bits[n/64] &= 1<<(n%64) - 1
			}
			if !slices.Equal(bits, want) {
				t.Fatalf("%s: %x, want %x", tier, bits, want)
			}
		}
	}
}

// BenchmarkMarks marks short runs and long ones.
func BenchmarkMarks(b *testing.B) {
	for _, most := range []int{4, 40} {
		r := rand.New(rand.NewPCG(11, 12))
		s := Streams{Tokens: make([]byte, 1<<16)}
		n := 0
		for i := range s.Tokens {
			run := r.IntN(most)
			n += run
			if run >= repeatLitEscape {
				s.LitLens = appendLength(s.LitLens, uint32(run-repeatLitEscape))
			}
			s.Tokens[i] = byte(min(run, repeatLitEscape))
		}
		bits := make([]uint64, (n+63)/64)
		for _, tier := range simd.Tiers() {
			b.Run(fmt.Sprintf("%d/%s", most, tier), func(b *testing.B) {
				defer simd.SetTier(simd.SetTier(tier))
				b.SetBytes(int64(len(s.Tokens)))
				for b.Loop() {
					clear(bits)
					if err := s.Marks(bits, n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
