package rans

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
)

// TestGroupTables: two groups go through the same segments, each at its own pace, and may share a table. Each must have the right one for as long
// as it is in the segment, whatever the other does.
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
			s.freq[2*i], s.freq[2*i+1] = model.ProbScale-1, 1 // the symbol in the first slots says whose table it is
		}
		var gs [2]group
		cut := groupCut(coded)
		if r.IntN(2) == 0 {
			cut = r.IntN(coded + 1) // anywhere, not only where the format has it
		}
		for i := range gs {
			g := &gs[i]
			g.from, g.to, g.built = []int{0, min(cut, coded)}[i], []int{min(cut, coded), coded}[i], -1
		}
		took, at := [2]int{}, [2]int{-1, -1} // symbols, and the segment where a group is
		for more := [2]bool{true, true}; more[0] || more[1]; {
			i := r.IntN(2)
			if !more[i] {
				continue
			}
			g, other := &gs[i], (*group)(nil)
			if i == 1 {
				other = &gs[0]
			}
			g.Dst = nil
			if more[i] = g.next(segs, other); more[i] {
				at[i] = g.seg - 1
				took[i] += len(g.Dst)
			} else {
				at[i] = -1
			}
			for k := range gs {
				if at[k] >= 0 && int(gs[k].Table[0]&0xff) != 2*at[k] {
					t.Fatalf("round %d: group %d of %d in segment %d has the table of symbol %d", round, k, len(segs), at[k], gs[k].Table[0]&0xff)
				}
			}
		}
		if took[0] != gs[0].to || took[1] != coded-gs[1].from {
			t.Fatalf("round %d: %d symbols, taken %v", round, coded, took)
		}
	}
}
