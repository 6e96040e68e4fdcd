package match

import (
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/lzprice"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// testForms are those of lzseq's layouts.
var testForms = []*optimal.Form{&lzprice.Plain, &lzprice.Repeat, &lzprice.Dense}

// blockForm is a form that is written in blocks.
var blockForm = &optimal.Form{
	Limits: lz77.Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1}, Model: deflate.Model,
}

// hashChains returns settings that no level has.
func hashChains(depth, nice int) *Params {
	return &Params{Params: lz77.Params{
		Finder: lz77.HashChain, HashLog: 16, Depth: depth, Nice: nice, Lazy: 2,
	}}
}

// tree returns settings that no level has.
func tree(depth, nice, passes int) *Params {
	return &Params{Priced: optimal.Params{
		Finder: optimal.BinaryTree, HashLog: 15, Depth: depth, Nice: nice, Passes: passes, MaxMisses: 1,
	}}
}

// small asks for less data, unless PZ_TEST is "all". The race detector makes these loops some
// twenty times slower.
func small() bool { return !testenv.All() || testenv.Race }

// tiny asks for still less data.
func tiny() bool { return testing.Short() || testenv.Race }

// forEachLevel runs f for all levels and forms.
func forEachLevel(t *testing.T, run func(t *testing.T, p *Params, f *optimal.Form)) {
	for level := 1; level <= MaxLevel; level++ {
		for i, f := range testForms {
			if small() && Levels[level].Optimal() && i != level%len(testForms) {
				continue // slow
			}
			t.Run(fmt.Sprintf("%d/min%d", level, f.MinMatch), func(t *testing.T) {
				run(t, &Levels[level], f)
			})
		}
	}
}

// valid returns an error unless seqs are sequences of src.
func valid(src []byte, seqs []lz77.Sequence, f *optimal.Form) error {
	if !lz77.Valid(seqs, src, 0, f.Limits, nil) {
		return errors.New("these are not sequences of the content")
	}
	return nil
}

// differ says how sequences differ.
func differ(got, want []lz77.Sequence) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("sequence %d is %v, want %v", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d sequences, want %d", len(got), len(want))
}

// uncovered returns the number of bytes of a block of size bytes that no match covers.
func uncovered(size int, seqs []lz77.Sequence) int {
	for i := range seqs {
		size -= int(seqs[i].MatchLen)
	}
	return size
}

// otherForm returns a form with other limits than testForms, and prices that do not depend on
// counts.
func otherForm(minMatch, minOffset, maxOffset int) *optimal.Form {
	return &optimal.Form{
		Limits: lz77.Limits{MinMatch: minMatch, MinOffset: minOffset, MaxOffset: maxOffset},
		Model:  flatModel{},
	}
}

// flatModel is a model whose prices do not depend on counts, and where repeat offsets cost
// nothing.
type flatModel struct{}

func (flatModel) Rules() optimal.Rules {
	const r = lz77.InitialRepeat
	return optimal.Rules{InitialRepeats: [3]uint32{r, r, r}}
}

func (flatModel) OffsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset)) }

func (flatModel) Count(*optimal.Counts, []optimal.Step) {}

func (flatModel) Price(p *optimal.Prices, _ *optimal.Counts) {
	for b := range p.Literal {
		p.Literal[b] = int32(700 + 5*b)
	}
	for n := range p.Run {
		p.Run[n] = int32(150 + 37*n)
	}
	for n := range p.Match[0][optimal.NewOffset] {
		p.Match[0][optimal.NewOffset][n] = int32(900 + 11*n)
	}
	for c := range p.Offset {
		p.Offset[c] = int32(c * optimal.PriceBit)
	}
}
