package ctx

import (
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
)

// symbolSet is a set of symbols.
type symbolSet [4]uint64

func (a *symbolSet) union(b *symbolSet) (u symbolSet) {
	for k := range u {
		u[k] = a[k] | b[k]
	}
	return u
}

// size returns the number of symbols in the set.
func (a *symbolSet) size() (n int) {
	for _, w := range a {
		n += bits.OnesCount64(w)
	}
	return n
}

// absent returns a symbol that is not in the set, which must not be full.
func (a *symbolSet) absent() uint8 {
	for k, w := range a {
		if w != ^uint64(0) {
			return uint8(64*k + bits.TrailingZeros64(^w))
		}
	}
	panic("ctx: full set")
}

// pairCounts counts pairs of a context and a symbol. Most contexts have few symbols.
type pairCounts struct {
	n    [numContexts][256]uint32 // n[c][s] counts symbol s in context c
	used [numContexts]symbolSet   // the symbols that occur in each context
}

// countStream counts the symbols of stream[from:]. marks is 1 for marked symbols.
func (p *pairCounts) countStream(m *contextMap, stream, marks []byte, from int, checkpoint func()) {
	p.sample(m, stream, marks, from, checkpointSymbols, 1, checkpoint)
}

// sample counts one window in stride of stream[from:]. A window has at most checkpointSymbols.
func (p *pairCounts) sample(
	m *contextMap, stream, marks []byte, from, window, stride int, checkpoint func(),
) {
	p.n = [numContexts][256]uint32{}
	counted := 0
	for ; from < len(stream); from += stride * window {
		if counted += window; counted > checkpointSymbols {
			counted = window
			checkpoint()
		}
		p.addStream(m, stream[:min(from+window, len(stream))], marks, from)
	}
	for c := range p.used {
		p.used[c] = kernels.NonZero(&p.n[c])
	}
}

// addStream adds the symbols of stream[from:] to p.n.
func (p *pairCounts) addStream(m *contextMap, stream, marks []byte, from int) {
	terms, counts := m.terms(), &p.n
	var a, b byte
	if from > 0 {
		a = stream[from-1]
	}
	if from > 1 && marks[from-1] == 0 {
		b = stream[from-2]
	}
	second := uint32(m.second[b])
	marks = marks[from:len(stream)]
	for i, s := range stream[from:] {
		marked := uint32(marks[i] & 1)
		t := terms[uint32(a)|marked<<8]
		counts[t&0x1ff+second&(marked-1)][s]++ // without a branch on marked
		second, a = t>>16, s
	}
}

// addCounts adds the counts of q.
func (p *pairCounts) addCounts(q *pairCounts) {
	for c := range q.used {
		p.used[c] = p.used[c].union(&q.used[c])
		to, from := &p.n[c], &q.n[c]
		for k, set := range q.used[c] {
			for ; set != 0; set &= set - 1 {
				s := (64*k + bits.TrailingZeros64(set)) % 256
				to[s] += from[s]
			}
		}
	}
}
