package optimal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// testPrices are prices of literals of 8 bits and matches of about 20.
func testPrices() *IncrementalPrices {
	p := new(IncrementalPrices)
	for b := range p.Literal {
		p.Literal[b] = 8 * PriceBit
	}
	for n := range p.Length {
		p.Length[n] = int32(7+n/64) * PriceBit
	}
	for n := range p.Offset {
		p.Offset[n] = int32(5+n) * PriceBit
	}
	p.Repeat = [3]int32{PriceBit, 2 * PriceBit, 2 * PriceBit}
	return p
}

// parsePieces parses content in pieces that end at the given places, with at most window bytes in
// front of each in the same slice. It returns the sequences of each piece.
func parsePieces(
	x *Incremental, content []byte, ends []int, window int, p *IncrementalParams,
) (list [][]lz77.Sequence) {
	at := 0
	repeats := [3]uint32{1, 4, 8}
	for _, end := range ends {
		from := max(0, at-window)
		src := slices.Clip(content[from:end])
		seqs := x.Parse(nil, src, at-from, int64(at), repeats, p)
		list = append(list, seqs)
		at = end
	}
	return list
}

// TestIncremental parses content in random pieces. The sequences of a piece must restore it, and
// neither depend on the place of the window in memory nor on what an Incremental did before a
// Reset.
func TestIncremental(t *testing.T) {
	var used Incremental
	for i, name := range []string{"json", "text", "random", "sparse"} {
		for _, repeats := range []bool{false, true} {
			p := &IncrementalParams{
				HashLog: 10, ChainLog: 12, Depth: 8, Nice: 40, Repeats: repeats, Prices: testPrices(),
			}
			r := rand.New(rand.NewPCG(uint64(i), 1))
			content := corpus.ByName(name).Make(30_000)
			var ends []int
			for at := 0; at < len(content); {
				at = min(len(content), at+1+r.IntN([]int{3, 200, MaxIncremental}[r.IntN(3)]))
				ends = append(ends, at)
			}
			want := parsePieces(new(Incremental), content, ends, len(content), p)
			at, matched := 0, 0
			limits := lz77.Limits{MinMatch: minShortMatch, MinOffset: 1, MaxOffset: 1<<p.ChainLog - 1}
			for k, seqs := range want {
				if !lz77.Valid(seqs, content[:ends[k]], at, limits, nil) {
					t.Fatalf("%s: piece %d is not restored", name, k)
				}
				for _, s := range seqs {
					matched += int(s.MatchLen)
				}
				at = ends[k]
			}
			if name != "random" && matched < len(content)/4 {
				t.Errorf("%s: matches cover %d of %d bytes", name, matched, len(content))
			}
			used.Reset()
			again := parsePieces(&used, content, ends, 1<<p.ChainLog, p)
			for k := range want {
				if !slices.Equal(again[k], want[k]) {
					t.Fatalf("%s: piece %d: %v, want %v", name, k, again[k], want[k])
				}
			}
		}
	}
}

// TestIncrementalSkip parses a piece behind content that did not pass through Parse, and far into
// it.
func TestIncrementalSkip(t *testing.T) {
	p := &IncrementalParams{HashLog: 12, ChainLog: 14, Depth: 8, Nice: 40, Prices: testPrices()}
	content := corpus.ByName("json").Make(40_000)
	for _, offset := range []int64{0, maxOrigin - 20_000, 1 << 40} {
		var x Incremental
		for k, at := range []int{100, 20_000, 39_000} {
			from := max(0, at-10_000)
			src := slices.Clip(content[from : at+300])
			seqs := x.Parse(nil, src, at-from, offset+int64(at), [3]uint32{1, 4, 8}, p)
			alone := new(Incremental).Parse(nil, src, at-from, int64(at-from), [3]uint32{1, 4, 8}, p)
			if !slices.Equal(seqs, alone) {
				t.Errorf("offset %d, piece %d: %v, want %v", offset, k, seqs, alone)
			}
			if k == 2 && len(seqs) == 0 {
				t.Error("no sequences")
			}
		}
	}
}

func BenchmarkIncremental(b *testing.B) {
	content := corpus.ByName("json").Make(1 << 20)
	for _, depth := range []int{4, 16, 64} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			p := &IncrementalParams{HashLog: 15, ChainLog: 15, Depth: depth, Nice: 64, Prices: testPrices()}
			var x Incremental
			var seqs []lz77.Sequence
			const piece = 120
			b.SetBytes(piece)
			for i := range b.N {
				at := 1<<15 + i*piece%(len(content)-1<<16)
				if i > 0 && at < 1<<15+piece {
					x.Reset()
				}
				src := content[at-1<<15 : at+piece : at+piece]
				seqs = x.Parse(seqs[:0], src, 1<<15, int64(at), [3]uint32{}, p)
			}
		})
	}
}
