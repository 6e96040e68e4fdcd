package rans

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// TestGroupEnd checks where groups begin and end.
func TestGroupEnd(t *testing.T) {
	for _, c := range []struct{ coded, groups int }{
		{model.SmallLimit, 2}, {pairSymbols - 1, 2}, {pairSymbols, 2}, {pairSymbols + 1, 4},
		{3*pairSymbols + 33, 8}, {100_000_001, 382}, {1<<31 - 1, 8192},
	} {
		n := fullGroups(c.coded)
		if n != c.groups || groupEnd(c.coded, 0) != 0 || groupEnd(c.coded, n) != c.coded {
			t.Errorf("%d symbols: %d groups end at %d", c.coded, n, groupEnd(c.coded, n))
		}
		for i := range n {
			begin := groupEnd(c.coded, i)
			size := groupEnd(c.coded, i+1) - begin
			if begin%Lanes != 0 || size < 4000 || size > pairSymbols/2 {
				t.Fatalf("%d symbols: group %d has %d from %d on", c.coded, i, size, begin)
			}
		}
	}
}

// TestManyGroups checks streams whose groups begin in segments and between them. The reference
// decodes them too.
func TestManyGroups(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(43, 44))
	for _, sizes := range [][]int{
		{pairSymbols}, {pairSymbols + 1}, {100_000, pairSymbols}, {pairSymbols / 2, pairSymbols/2 + 1},
		{pairSymbols / 4, pairSymbols / 4, 2 * pairSymbols},
	} {
		var streams [][]byte
		for i, n := range sizes {
			streams = append(streams, changing(r, n/2), skewed(r, n-n/2, 3+i))
		}
		code := roundTrip(t, &e, &d, streams...)
		got, _, err := refDecode(code, 4*pairSymbols, len(streams))
		for i := range streams {
			if err != nil || !bytes.Equal(got[i], streams[i]) {
				t.Fatalf("sizes %v: the reference decodes stream %d wrongly: %v", sizes, i, err)
			}
		}
	}
}

// TestGroupTables runs two groups through the same segments, each at its own pace. They may share a
// table; each must have the table of its segment, whatever the other does.
func TestGroupTables(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for round := range 5000 {
		segs := make([]segment, 1+r.IntN(6))
		coded := 0
		for i := range segs {
			s := &segs[i]
			s.data = make([]byte, 1+r.IntN(20))
			s.mode = modeCoded
			if r.IntN(4) == 0 {
				s.mode = modeSymbol
				continue
			}
			coded += len(s.data)
			// the symbol in the first slots identifies the table
			s.freq[2*i], s.freq[2*i+1] = model.ProbScale-1, 1
		}
		var gs [2]groupDecoder
		cut := (coded/2 + Lanes - 1) &^ (Lanes - 1)
		if r.IntN(2) == 0 {
			cut = r.IntN(coded + 1) // anywhere, not only where the format cuts
		}
		for i := range gs {
			g := &gs[i]
			ends := []int{0, min(cut, coded), coded}
			g.from, g.to, g.builtFor = ends[i], ends[i+1], -1
		}
		decoded, at := [2]int{}, [2]int{-1, -1} // decoded symbols and current segment of each group
		for more := [2]bool{true, true}; more[0] || more[1]; {
			i := r.IntN(2)
			if !more[i] {
				continue
			}
			g, other := &gs[i], (*groupDecoder)(nil)
			if i == 1 {
				other = &gs[0]
			}
			g.Dst = nil
			if more[i] = g.next(segs, other); more[i] {
				at[i] = g.seg - 1
				decoded[i] += len(g.Dst)
			} else {
				at[i] = -1
			}
			for k := range gs {
				if at[k] >= 0 && int(gs[k].Table[0]&0xff) != 2*at[k] {
					t.Fatalf("round %d: group %d in segment %d of %d has the table of symbol %d",
						round, k, at[k], len(segs), gs[k].Table[0]&0xff)
				}
			}
		}
		if decoded[0] != gs[0].to || decoded[1] != coded-gs[1].from {
			t.Fatalf("round %d: %d symbols, decoded %v", round, coded, decoded)
		}
	}
}
