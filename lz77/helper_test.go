package lz77

import (
	"bytes"
	"fmt"
	"math/bits"
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

// blockLimits are the limits of a form that is written in blocks.
var blockLimits = Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1, Model: blockModel{}}

// small asks for less data, unless PZ_TEST is "all". The race detector makes these loops some
// twenty times slower.
func small() bool { return !testenv.All() || testenv.Race }

// tiny asks for still less data.
func tiny() bool { return testing.Short() || testenv.Race }

// forEachLevel runs f for all levels and limits.
func forEachLevel(t *testing.T, f func(t *testing.T, p *Params, l Limits)) {
	for level := 1; level <= MaxLevel; level++ {
		for i, l := range testLimits {
			if small() && Levels[level].Finder.Optimal() && i != level%len(testLimits) {
				continue // slow
			}
			t.Run(fmt.Sprintf("%d/min%d", level, l.MinMatch), func(t *testing.T) { f(t, &Levels[level], l) })
		}
	}
}

// flatModel is a PriceModel whose prices do not depend on counts, and where repeat offsets cost
// nothing.
type flatModel struct{}

func (flatModel) Rules() Rules {
	return Rules{InitialRepeats: [3]uint32{InitialRepeat, InitialRepeat, InitialRepeat}}
}

func (flatModel) OffsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset)) }

func (flatModel) Count(*Counts, []Step) {}

func (flatModel) Price(p *Prices, _ *Counts) {
	for b := range p.Literal {
		p.Literal[b] = int32(700 + 5*b)
	}
	for n := range p.Run {
		p.Run[n] = int32(150 + 37*n)
	}
	for n := range p.Match[0][NewOffset] {
		p.Match[0][NewOffset][n] = int32(900 + 11*n)
	}
	for c := range p.Offset {
		p.Offset[c] = int32(c * PriceBit)
	}
}

// blockModel is a model of a form that is written in blocks; a window is three of them.
type blockModel struct{ flatModel }

func (blockModel) Rules() Rules {
	return Rules{ChunkSize: 16 << 10, MaxMatch: 258, NewSplitter: func() BlockSplitter { return thirds{} }}
}

func (blockModel) Price(p *Prices, c *Counts) {
	flatModel{}.Price(p, c)
	clear(p.Run[:])
}

type thirds struct{}

func (thirds) Split(ends []int, content []byte, _ []Step) []int {
	for k := 1; k < 3; k++ {
		if end := k * len(content) / 3; end > 0 {
			ends = append(ends, end)
		}
	}
	return append(ends, len(content))
}

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
		if int(s.Offset) < l.minOffset() || int(s.Offset) > l.MaxOffset {
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
