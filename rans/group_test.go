package rans

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
)

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
			if s.mode = modeCoded; r.IntN(4) == 0 {
				s.mode = modeSymbol
				continue
			}
			coded += len(s.data)
			// the symbol in the first slots identifies the table
			s.freq[2*i], s.freq[2*i+1] = model.ProbScale-1, 1
		}
		var gs [2]groupDecoder
		cut := groupCut(coded)
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
