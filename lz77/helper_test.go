package lz77

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// testLimits are the limits of lzseq's layouts, which this package does not know.
var testLimits = []Limits{
	{MinMatch: 5, MaxOffset: 1<<16 - 1},
	{MinMatch: 4, MaxOffset: 1 << 26, Repeats: 3},
	{MinMatch: 3, MinRepeat: 2, MaxOffset: 1 << 26, Repeats: 3},
}

// blockLimits are those of Deflate.
var blockLimits = Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1}

// small asks for less data, unless PZ_TEST is "all". The race detector makes these loops some
// twenty times slower.
func small() bool { return !testenv.All() || testenv.Race }

// tiny asks for still less data.
func tiny() bool { return testing.Short() || testenv.Race }

// naive carries out sequences byte by byte. It has no fast path and checks everything.
func naive(prefix, lits []byte, seqs []Sequence) (out, rest []byte, ok bool) {
	out = bytes.Clone(prefix)
	for _, s := range seqs {
		if int(s.LitLen) > len(lits) {
			return nil, nil, false
		}
		out = append(out, lits[:s.LitLen]...)
		lits = lits[s.LitLen:]
		if s.Offset == 0 || int(s.Offset) > len(out) {
			return nil, nil, false
		}
		for range s.MatchLen {
			out = append(out, out[len(out)-int(s.Offset)])
		}
	}
	return out, lits, true
}

// literals returns the bytes of src that no match covers.
func literals(src []byte, seqs []Sequence) (lits []byte) {
	for _, s := range seqs {
		lits = append(lits, src[:s.LitLen]...)
		src = src[s.LitLen+s.MatchLen:]
	}
	return append(lits, src...)
}

// valid returns what is wrong with sequences of src, or nil.
func valid(src []byte, seqs []Sequence, l Limits) error {
	at := 0
	repeats := []uint32{InitialRepeat, InitialRepeat, InitialRepeat}
	for i, s := range seqs {
		least, place := l.MinMatch, slices.Index(repeats, s.Offset)
		if l.MinRepeat > 0 && place >= 0 {
			least = l.MinRepeat
		}
		if place < 0 {
			place = 2
		}
		repeats = slices.Insert(slices.Delete(repeats, place, place+1), 0, s.Offset)
		if int(s.MatchLen) < least {
			return fmt.Errorf("sequence %d at %d: match of %d bytes", i, at, s.MatchLen)
		}
		if int(s.Offset) < l.LeastOffset() || int(s.Offset) > l.MaxOffset {
			return fmt.Errorf("sequence %d at %d: offset %d", i, at, s.Offset)
		}
		if at += int(s.LitLen); int(s.Offset) > at {
			return fmt.Errorf("sequence %d at %d: offset %d reaches back beyond the block",
				i, at, s.Offset)
		}
		if at += int(s.MatchLen); at > len(src) {
			return fmt.Errorf("sequence %d ends at %d of %d", i, at, len(src))
		}
	}
	lits := literals(src, seqs)
	if n := uncovered(len(src), seqs); n != len(lits) {
		return fmt.Errorf("%d literals, want %d", len(lits), n)
	}
	out, rest, ok := naive(nil, lits, seqs)
	if !ok || !bytes.Equal(append(out, rest...), src) {
		return fmt.Errorf("the sequences give other content")
	}
	return nil
}

// differ says how sequences differ.
func differ(got, want []Sequence) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("sequence %d is %v, want %v", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d sequences, want %d", len(got), len(want))
}

// uncovered returns the number of bytes of a block of size bytes that no match covers.
func uncovered(size int, seqs []Sequence) int {
	for i := range seqs {
		size -= int(seqs[i].MatchLen)
	}
	return size
}
