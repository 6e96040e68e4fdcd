package optimal

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77/internal/base"
)

// rowModel is a model whose offset codes suit a multiRow.
type rowModel struct{ blockModel }

func (rowModel) OffsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset - 1)) }

func inRows(nice, skip int) Config {
	return Config{
		Finder: MultiRow, HashLog: 14, Nice: nice, SkipInMatch: skip,
		MinNew: 3, MinRepeat: 3, MinOffset: 1, MaxOffset: 1 << 15,
		Model: rowModel{blockModel{blocks: 1, maxMatch: 258}},
	}
}

// TestMultiRow: candidates are matches of ascending length, as long as Nice allows. Without skips
// the nearest match of 6 bytes and more is among them, if it is one of the last 8.
func TestMultiRow(t *testing.T) {
	const size, nice = 20_000, 40
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		c := inRows(nice, 0)
		var o Parser
		o.checkpoint = func() {}
		o.reset(src, 0, c)
		g := &o.chunks[0]
		o.findMatches(g, src, 0, o.checkpoint)
		if g.from != 0 || g.to != size {
			t.Fatalf("%s: a chunk from %d to %d", k.Name, g.from, g.to)
		}
		latest := map[string]int{} // position by its 6 bytes
		covered := 0
		for i := range size - base.Tail {
			last := c.MinNew - 1
			cands := g.cands[g.firstCand[i]:g.firstCand[i+1]]
			for _, x := range cands {
				n, d := x.length(), x.offset()
				most := nice
				if n > nice { // a long match, split
					most, covered = 258, i+n
				}
				if n <= last || d > i || n != equalBytes(src, i, d, most) ||
					x != newCandidate(n, d, o.model) {
					t.Fatalf("%s, position %d: candidate of %d bytes, offset %d, behind one of %d",
						k.Name, i, n, d, last)
				}
				if last = n; n == nice {
					covered = i + n
				}
			}
			six := string(src[i : i+6])
			if p, ok := latest[six]; ok && i >= covered && i-p < 1000 && !slices.ContainsFunc(cands,
				func(x candidate) bool { return x.length() >= 6 && x.offset() <= i-p }) &&
				last < 6 {
				t.Fatalf("%s, position %d: no match with %d", k.Name, i, p)
			}
			latest[six] = i
		}
	}
}

// TestMultiRowLimits: a multiRow refuses what it cannot find.
func TestMultiRowLimits(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"far":        func(c *Config) { c.MaxOffset = 1<<15 + 1 },
		"near":       func(c *Config) { c.MinOffset = 16 },
		"long":       func(c *Config) { c.MinNew = 9 },
		"no blocks":  func(c *Config) { c.Model = nil },
		"fine codes": func(c *Config) { c.Model = blockModel{blocks: 1} },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			c := inRows(40, 0)
			change(&c)
			var o Parser
			o.sequences(make([]byte, 100), c)
		}()
	}
}
