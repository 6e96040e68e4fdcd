package optimal

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// secondByte returns contexts by the byte before the last one, for bytes below 32.
func secondByte() *Contexts {
	c := &Contexts{Classes: 32}
	for s := range 32 {
		c.Second[s], c.Class[s] = uint8(s), uint8(s)
	}
	return c
}

// interleaved returns n bytes below 32. Each is one of two that may follow the byte before the
// last.
func interleaved(n int) []byte {
	r := rand.New(rand.NewPCG(41, 42))
	p := make([]byte, n)
	for i := 2; i < n; i++ {
		p[i] = byte((int(p[i-2])*5 + 7*r.IntN(2) + 1) % 32)
	}
	return p
}

// TestContexts: with contexts the parser leaves literals that cost a bit. Single paths could not
// show that, since matches of a dozen bytes are cheap where they end, all along.
func TestContexts(t *testing.T) {
	src := interleaved(1 << 17)
	count := func(c config) int {
		var o Parser
		seqs := o.sequences(src, c)
		if err := valid(src, seqs, c); err != nil {
			t.Fatal(err)
		}
		return literals(len(src), seqs)
	}
	c := atLevel(9, formats[1])
	without := count(c)
	c.Contexts = secondByte()
	with := count(c)
	if with < len(src)*9/10 || without > len(src)/2 {
		t.Errorf("of %d bytes %d are literals with contexts, %d without", len(src), with, without)
	}
}

// TestContextsReused: earlier blocks of a Parser make no difference.
func TestContextsReused(t *testing.T) {
	plain := atLevel(9, formats[1])
	contexts := plain
	contexts.Contexts = secondByte()
	short, long := interleaved(5000), interleaved(100_000)
	var used, fresh Parser
	used.sequences(long, plain)
	used.sequences(long, contexts)
	for _, c := range []config{plain, contexts} {
		a, b := used.sequences(short, c), fresh.sequences(short, c)
		if len(a) == 0 || !slices.Equal(a, b) {
			t.Errorf("contexts %v: %d sequences, a new Parser finds %d",
				c.Contexts != nil, len(a), len(b))
		}
		fresh = Parser{}
	}
	testenv.Measures(t)
	seqs := used.sequences(long, contexts)
	if n := testing.AllocsPerRun(2, func() {
		seqs = used.parseBlock(seqs[:0], long, 0, contexts, nil, nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestContextsMemory: a Parser allocates no more than Memory says, and not much less. lz77 tests
// that without contexts.
func TestContextsMemory(t *testing.T) {
	testenv.Measures(t)
	const rounding = 32 << 10 // of the runtime, for a few large allocations
	c := atLevel(9, formats[1])
	c.Contexts = secondByte()
	data := bytes.Repeat(corpus.ByName("text").Make(1<<16), 2)
	for _, n := range []int{100, 5000, 1<<16 + 1} {
		seqs := make([]lz77.Sequence, 0, n/4)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := new(Parser)
		o.parseBlock(seqs, data[:n:n], 0, c, nil, nil)
		runtime.ReadMemStats(&after)
		got, bound := int(after.TotalAlloc-before.TotalAlloc), c.memory(n)
		if got > bound+rounding || got < bound/2 {
			t.Errorf("%d bytes: allocated %d, Memory says %d", n, got, bound)
		}
	}
}

func TestImpossibleContexts(t *testing.T) {
	for i, c := range []*Contexts{
		{},
		{Classes: MaxContextClasses + 1},
		{Classes: 3, Class: [256]uint8{255: 3}},
		{Classes: 1, First: [256]uint8{7: 200}, Second: [256]uint8{9: 56}},
	} {
		form := &Form{
			Limits: lz77.Limits{MinMatch: 4, MaxOffset: 1 << 16}, Model: genericModel{}, Contexts: c,
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d: no panic", i)
				}
			}()
			new(Parser).Parse(nil, make([]byte, 100), 0, &Params{Finder: BinaryTree}, form, nil, nil)
		}()
	}
	good := Contexts{
		Classes: 3, Class: [256]uint8{255: 2}, First: [256]uint8{7: 200}, Second: [256]uint8{9: 55},
	}
	good.check()
}
