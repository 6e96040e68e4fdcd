package optimal

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// formats are configurations of three coded forms, without settings of the search.
var formats = []config{
	{
		MinNew: 5, MinRepeat: 5, MinOffset: lz77.MinOffset, MaxOffset: 1<<16 - 1, Model: genericModel{},
	},
	{
		MinNew: 4, MinRepeat: 4, MinOffset: lz77.MinOffset, MaxOffset: 1 << 26, Repeats: 3,
		Model: genericModel{},
	},
	{
		MinNew: 3, MinRepeat: 2, MinOffset: lz77.MinOffset, MaxOffset: 1 << 26, Repeats: 3,
		BoundSequences: true, Model: genericModel{},
	},
}

// atLevel returns c with settings like those of lz77's levels: 7 is MultiHash, 8 and 9
// LCPIntervals.
func atLevel(level int, c config) config {
	c.Nice, c.Passes = 256, 2
	switch level {
	case 7:
		c.Finder, c.HashLog, c.MaxMisses, c.SkipInMatch = MultiHash, 19, 1, 32
		c.MinNew = max(c.MinNew, 4)
	case 8:
		c.Finder, c.MaxMisses, c.SkipInMatch, c.KeepSecondPath = LCPIntervals, 1, 48, true
	case 9:
		c.Finder, c.MaxMisses, c.SkipInMatch, c.KeepSecondPath = LCPIntervals, 2, 96, true
	}
	return c
}

// small asks for less data: the race detector makes these loops some twenty times slower.
func small() bool { return testing.Short() || testenv.Race }

// sequences returns the sequences of src.
func (o *Parser) sequences(src []byte, c config) []lz77.Sequence {
	return o.parseBlock(nil, src[:len(src):len(src)], 0, c, nil, nil)
}

// valid returns what is wrong with sequences of src, or nil.
func valid(src []byte, seqs []lz77.Sequence, c config) error {
	at := 0
	repeats := repeatList{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}
	for i, s := range seqs {
		least := c.MinNew
		if slices.Contains(repeats[:c.Repeats], s.Offset) {
			least = c.MinRepeat
		}
		repeats.Use(s.Offset)
		at += int(s.LitLen)
		n, d := int(s.MatchLen), int(s.Offset)
		if n < least || d < c.MinOffset || d > min(at, c.MaxOffset) || at+n > len(src) {
			return fmt.Errorf("sequence %d: %d bytes at %d, offset %d, out of range", i, n, at, d)
		}
		if !bytes.Equal(src[at:at+n], src[at-d:at-d+n]) {
			return fmt.Errorf("sequence %d: no match of %d bytes at %d, offset %d", i, n, at, d)
		}
		at += n
	}
	return nil
}

// literals returns the number of literals of a block of size bytes.
func literals(size int, seqs []lz77.Sequence) int {
	for i := range seqs {
		size -= int(seqs[i].MatchLen)
	}
	return size
}

// equalBytes returns how many bytes at i equal those d before them, up to nice.
func equalBytes(src []byte, i, d, nice int) (n int) {
	for n < nice && i+n < len(src) && src[i+n] == src[i+n-d] {
		n++
	}
	return n
}

// flat is a model whose prices do not depend on counts, so that there is a best parse to compare
// with.
type flat struct{ genericModel }

func (flat) Count(*Counts, []Step) {}

func (flat) Price(p *Prices, _ *Counts) {
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

// total returns what sequences cost.
func total(p *Prices, src []byte, seqs []lz77.Sequence) (sum int) {
	for _, q := range seqs {
		for _, b := range src[:q.LitLen] {
			sum += int(p.Literal[b])
		}
		sum += int(p.Run[min(q.LitLen, PricedRuns-1)])
		sum += int(p.Match[0][NewOffset][q.MatchLen] + p.Offset[genericModel{}.OffsetCode(q.Offset)])
		src = src[q.LitLen+q.MatchLen:]
	}
	for _, b := range src {
		sum += int(p.Literal[b])
	}
	return sum + int(p.Run[min(len(src), PricedRuns-1)]-p.Run[0]) // as literals, not as a run
}
