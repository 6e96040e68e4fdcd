package optimal

import (
	"slices"
	"unsafe"

	"github.com/gopz/compress/internal/kernels"
)

// kernelRange returns the positions of a chunk that kernels.RelaxPaths may relax, [from, to). It
// needs literals with contexts and three repeat offsets.
func (o *Parser) kernelRange(src []byte, s chunk) (from, to int) {
	c, initial := &o.config, o.rules.InitialRepeats
	if o.context == nil || c.Repeats != len(initial) || o.rules.ShiftedRepeats ||
		c.Nice < o.minNew || c.Nice > kernels.MaxNicePath ||
		int(slices.Min(initial[:])) < c.MinOffset || int(slices.Max(initial[:])) > c.MaxOffset {
		return 0, 0
	}
	// Repeat offsets reach no farther than the beginning of src.
	from = max(1, int(slices.Max(initial[:]))-s.from)
	return from, min(s.to, len(src)-c.Nice-kernels.PathSrcSlack) - s.from
}

// relaxByKernel relaxes the positions of a chunk from i to to with kernels.RelaxPaths. third is the
// path that ends with a literal at i. It returns the next position and the path that ends with a
// literal there, or false if there is no kernel.
func (o *Parser) relaxByKernel(
	src []byte, s chunk, i, to int, third literalPath,
) (at int, _ literalPath, ok bool) {
	prices := &o.prices
	p := kernels.PathParse{
		At: i, End: to, From: s.from, Size: s.to - s.from,
		MinNew: o.minNew, MinRepeat: o.minRepeat, Nice: o.config.Nice, MaxMisses: o.config.MaxMisses,
		Drop: uint64(o.repeatDrop),
		Src:  src, Best: o.best.raw(), Literal: o.context.literalPaths.raw(),
		Literals: o.literals[o.skipped:], FirstCand: o.firstCand, Cands: rawCandidates(o.cands),
		RunClass: &prices.RunClass, Match: &prices.Match, Offset: &prices.Offset,
		Runs: &o.literalRuns, Empty: prices.Run[0], MaxLag: maxLiteralLag,
		LiteralCost: third.cost, LiteralFrom: third.from,
	}
	if o.keepSecond {
		p.Second, p.MaxSecondLag = o.secondBest.raw(), maxSecondLag
	}
	ok = kernels.RelaxPaths(&p)
	return p.At, literalPath{cost: p.LiteralCost, from: p.LiteralFrom}, ok
}

// raw returns a in the form that the kernel takes.
func (a *paths) raw() kernels.Paths {
	first := (*kernels.PathState)(unsafe.Pointer(unsafe.SliceData(a.states)))
	return kernels.Paths{Nodes: a.nodes, States: unsafe.Slice(first, len(a.states))}
}

// rawCandidates returns candidates in the form that the kernel takes.
func rawCandidates(c []candidate) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(c))), len(c))
}
