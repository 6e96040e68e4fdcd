package kernels

import (
	"math/rand/v2"
	"testing"
)

// TestGuardPagesRelaxPaths parses between guard pages, also with arbitrary candidates.
func TestGuardPagesRelaxPaths(t *testing.T) {
	const most = 2100
	content, literals, firstCand := newGuarded(t, 2*most), newGuarded(t, 12*most), newGuarded(t, 4*most)
	cands, tables := newGuarded(t, 1<<20), newGuarded(t, 1<<17)
	var nodes, states [3]guarded
	for k := range nodes {
		nodes[k], states[k] = newGuarded(t, 12*most), newGuarded(t, 16*most)
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(95, 96))
		for i := range scaled(1500) {
			src := randomContent(r, MaxNicePath+PathSrcSlack+2+r.IntN(2000))
			p, prices := randomPaths(r, content.put(r, src))
			p.setTables(&copied(r, tables, []pathTables{*prices})[0])
			for k, a := range []*Paths{&p.Best, &p.Literal, &p.Second} {
				if a.Nodes != nil {
					a.Nodes, a.States = copied(r, nodes[k], a.Nodes), copied(r, states[k], a.States)
				}
			}
			p.Literals, p.FirstCand = copied(r, literals, p.Literals), copied(r, firstCand, p.FirstCand)
			p.Cands = copied(r, cands, p.Cands)
			if i%2 == 0 && hasPathKernel() {
				compareParse(t, r, p)
				continue
			}
			for k := range p.Cands {
				p.Cands[k] = r.Uint64() >> r.IntN(64)
			}
			for k := range p.FirstCand[:p.Size] {
				p.FirstCand[k] = min(p.FirstCand[k]+r.Uint32N(9), uint32(len(p.Cands)))
			}
			p.End = p.last()
			RelaxPaths(p)
		}
	})
}
