package lz77

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// The limits of the layouts of lzseq, which this package does not know.
var testLimits = []Limits{
	{MinMatch: 5, MaxOffset: 1<<16 - 1},
	{MinMatch: 4, MaxOffset: 1 << 26, Repeats: 3},
	{MinMatch: 3, MinRepeat: 2, MaxOffset: 1 << 26, Repeats: 3},
}

// small asks for less data: the race detector makes loops like those here some twenty times slower.
func small() bool { return testing.Short() || raceDetector }

// forEachLevel runs f for all levels with all limits.
func forEachLevel(t *testing.T, f func(t *testing.T, p *Params, l Limits)) {
	for level := 1; level <= MaxLevel; level++ {
		for i, l := range testLimits {
			if small() && Levels[level].Finder.Optimal() && i != level%len(testLimits) {
				continue // slow, with the race detector or an emulator
			}
			t.Run(fmt.Sprintf("%d/min%d", level, l.MinMatch), func(t *testing.T) { f(t, &Levels[level], l) })
		}
	}
}

// naive carries out sequences byte by byte. It is the judge: it has no fast path and believes nothing.
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

// literals collects what the sequences do not cover.
func literals(src []byte, seqs []Sequence) (lits []byte) {
	for _, s := range seqs {
		lits = append(lits, src[:s.LitLen]...)
		src = src[s.LitLen+s.MatchLen:]
	}
	return append(lits, src...)
}

// valid reports what is wrong with the sequences of src, nil if nothing is.
func valid(src []byte, seqs []Sequence, l Limits) error {
	at := 0
	list := []uint32{InitialRepeat, InitialRepeat, InitialRepeat}
	for i, s := range seqs {
		least, place := l.MinMatch, slices.Index(list, s.Offset)
		if l.MinRepeat > 0 && place >= 0 {
			least = l.MinRepeat
		}
		if place < 0 {
			place = 2
		}
		list = slices.Insert(slices.Delete(list, place, place+1), 0, s.Offset)
		if int(s.MatchLen) < least {
			return fmt.Errorf("sequence %d at %d: match of %d bytes", i, at, s.MatchLen)
		}
		if int(s.Offset) < l.minOffset() || int(s.Offset) > l.MaxOffset {
			return fmt.Errorf("sequence %d at %d: offset %d", i, at, s.Offset)
		}
		if at += int(s.LitLen); int(s.Offset) > at {
			return fmt.Errorf("sequence %d: offset %d at %d", i, s.Offset, at)
		}
		if at += int(s.MatchLen); at > len(src) {
			return fmt.Errorf("sequence %d ends at %d of %d", i, at, len(src))
		}
	}
	lits := literals(src, seqs)
	if n := uncovered(len(src), seqs); n != len(lits) {
		return fmt.Errorf("Literals: %d, want %d", n, len(lits))
	}
	out, rest, ok := naive(nil, lits, seqs)
	if !ok || !bytes.Equal(append(out, rest...), src) {
		return fmt.Errorf("the sequences give something else")
	}
	return nil
}

// uncovered returns the number of bytes of a block of that size that the sequences do not cover.
func uncovered(size int, seqs []Sequence) int {
	for i := range seqs {
		size -= int(seqs[i].MatchLen)
	}
	return size
}
