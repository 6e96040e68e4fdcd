package lz77

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// twoBefore are contexts of the byte before the last one, for bytes below 32.
func twoBefore() *Contexts {
	c := &Contexts{Classes: 32}
	for s := range 32 {
		c.Second[s], c.Class[s] = uint8(s), uint8(s)
	}
	return c
}

// interleaved are n bytes below 32 of which each is one of two that may follow the one before the last.
func interleaved(n int) []byte {
	r := rand.New(rand.NewPCG(41, 42))
	p := make([]byte, n)
	for i := 2; i < n; i++ {
		p[i] = byte((int(p[i-2])*5 + 7*r.IntN(2) + 1) % 32)
	}
	return p
}

// TestContexts: what costs a bit as a literal is not matched if the parser knows. It could not tell by single ways that are cheap where they end: matches of a dozen bytes
// are, all along.
func TestContexts(t *testing.T) {
	src := interleaved(1 << 17)
	limits := Limits{MinMatch: 4, MaxOffset: 1 << 24, Repeats: 3}
	literals := func(l Limits) int {
		var m Matcher
		n, at := len(src), 0
		for _, s := range m.Parse(nil, src, &Levels[9], l) {
			at += int(s.LitLen)
			if d := int(s.Offset); d > at || !bytes.Equal(src[at:at+int(s.MatchLen)], src[at-d:at-d+int(s.MatchLen)]) {
				t.Fatalf("no match of %d bytes at %d, %d bytes back", s.MatchLen, at, d)
			}
			at += int(s.MatchLen)
			n -= int(s.MatchLen)
		}
		return n
	}
	without := literals(limits)
	limits.Contexts = twoBefore()
	with := literals(limits)
	t.Logf("of %d bytes %d are literals with contexts, %d without", len(src), with, without)
	if with < len(src)*9/10 || without > len(src)/2 {
		t.Errorf("of %d bytes %d are literals with contexts, %d without", len(src), with, without)
	}
}

// TestContextsReused: what a Matcher did before makes no difference.
func TestContextsReused(t *testing.T) {
	limits := Limits{MinMatch: 4, MaxOffset: 1 << 24, Repeats: 3}
	in := limits
	in.Contexts = twoBefore()
	small, large := interleaved(5000), interleaved(100_000)
	var used, fresh Matcher
	used.Parse(nil, large, &Levels[9], limits)
	used.Parse(nil, large, &Levels[9], in)
	for _, l := range []Limits{limits, in} {
		a, b := used.Parse(nil, small, &Levels[9], l), fresh.Parse(nil, small, &Levels[9], l)
		if len(a) == 0 || !slices.Equal(a, b) {
			t.Errorf("contexts %v: %d sequences, %d", l.Contexts != nil, len(a), len(b))
		}
		fresh = Matcher{}
	}
	seqs := used.Parse(nil, large, &Levels[9], in)
	if n := testing.AllocsPerRun(2, func() { seqs = used.Parse(seqs[:0], large, &Levels[9], in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestContextsMemory is TestMemory with contexts.
func TestContextsMemory(t *testing.T) {
	limits := Limits{MinMatch: 4, MaxOffset: 1 << 24, Repeats: 3, Contexts: twoBefore()}
	data := bytes.Repeat(corpus.ByName("text").Make(1<<16), 2)
	for _, n := range []int{100, 5000, 1<<16 + 1} {
		seqs := make([]Sequence, 0, n/4)
		var m Matcher
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m.Parse(seqs, data[:n], &Levels[9], limits)
		runtime.ReadMemStats(&after)
		if got, bound := int(after.TotalAlloc-before.TotalAlloc), Levels[9].Memory(n, &limits); got > bound+32<<10 || got < bound/2 {
			t.Errorf("%d bytes: %d allocated, Memory says %d", n, got, bound)
		}
	}
}
