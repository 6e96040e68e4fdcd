package zstd

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// sizes go around the edges of headers and blocks.
var sizes = []int{0, 1, 2, 3, 7, 8, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 16383, 16384, 16385,
	MaxBlock - 1, MaxBlock, MaxBlock + 1, 3*MaxBlock + 7}

func TestCorpus(t *testing.T) {
	var e Encoder
	var m lz77.Matcher
	for _, k := range corpus.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			var p program
			all := k.Make(sizes[len(sizes)-1])
			levels := []int{1, 4, 7}
			if testing.Short() {
				levels = levels[1:2]
			}
			for i, n := range sizes {
				if testing.Short() && n > 20_000 && i%2 == 0 {
					continue
				}
				src := all[:n]
				p.add(t, src, check(t, &e, src, greedy(src)))
				p.add(t, src, check(t, &e, src, nil))
				for _, level := range levels {
					p.add(t, src, check(t, &e, src, m.Parse(nil, src, &lz77.Levels[level], Limits)))
				}
			}
			p.check(t)
		})
	}
}

func TestAllocs(t *testing.T) {
	var e Encoder
	var m lz77.Matcher
	src := corpus.ByName("mixed").Make(1 << 20)
	seqs := m.Parse(nil, src, &lz77.Levels[4], Limits)
	dst := e.Append(nil, src, seqs)
	if n := testing.AllocsPerRun(5, func() { dst = e.Append(dst[:0], src, seqs) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemory: the most sequences that a block can have, and as many literals as there can be.
func TestMemory(t *testing.T) {
	var e Encoder
	src := corpus.ByName("short").Make(4 * MaxBlock)
	e.Append(nil, src, nil)
	seqs := []lz77.Sequence{{LitLen: 10, MatchLen: 3, Offset: 1}}
	for i := range uint32(2 * MaxBlock / MinMatch) {
		seqs = append(seqs, lz77.Sequence{MatchLen: MinMatch, Offset: 1 + i%7})
	}
	src = expand(src[:10], seqs)
	check(t, &e, src, seqs)
	size := int(reflect.TypeOf(e).Size()) + cap(e.body.lits) + 8*cap(e.body.extra) + cap(e.body.extraBits) + 4*cap(e.states) + cap(e.stateBits)
	for k := range e.codes {
		size += cap(e.body.codes[k]) + cap(e.codes[k].description)
	}
	if size += cap(e.literals.tree); size > Memory {
		t.Errorf("%d bytes of scratch, stated as %d", size, Memory)
	}
	t.Log(size)
}

// TestCosts adds up what the parts of all sequences cost and compares it with the size of the blocks.
func TestCosts(t *testing.T) {
	var e Encoder
	var m lz77.Matcher
	var c Costs
	for _, name := range []string{"text", "json", "exe", "records"} {
		src := corpus.ByName(name).Make(MaxBlock * 3 / 4)
		seqs := m.Parse(nil, src, &lz77.Levels[4], Limits)
		size := len(e.Append(nil, src, seqs))
		e.Costs(&c, src, seqs)
		cost, at := uint64(0), 0
		repeats := [3]uint32{1, 4, 8}
		literals := func(n int) {
			for _, b := range src[at : at+n] {
				cost += uint64(c.Literal[b])
			}
			at += n
		}
		for _, q := range seqs {
			literals(int(q.LitLen))
			at += int(q.MatchLen)
			value := q.Offset + 3
			for i, r := range repeats {
				if r == q.Offset && q.LitLen > 0 {
					value = uint32(i) + 1
				}
			}
			switch value {
			case 1:
			case 2:
				repeats[0], repeats[1] = repeats[1], repeats[0]
			default:
				repeats = [3]uint32{q.Offset, repeats[0], repeats[1]}
			}
			cost += uint64(c.LitLen(q.LitLen)) + uint64(c.MatchLen(q.MatchLen)) + uint64(c.Offset(value))
		}
		literals(len(src) - at)
		if got := int(cost / fse.CostBit / 8); got < size*96/100-400 || got > size*105/100 {
			t.Errorf("%s: %d bytes, costs of %d", name, size, got)
		}
	}
	e.Costs(&c, corpus.ByName("random").Make(8*MaxBlock), []lz77.Sequence{{LitLen: 5 * MaxBlock, MatchLen: 3, Offset: 7}})
	if n := e.ahead.codes[litLens]; slices.Max(n[maxLitCode+1:]) > 0 {
		t.Error("a literal run that no block can have")
	}
	if short, long := c.MatchLen(1000), c.MatchLen(100_000); short >= long {
		t.Errorf("a long match costs %d, a longer one %d", short, long)
	}
	if c.LitLen(MaxBlock-1) < 16*fse.CostBit || c.MatchLen(MaxBlock) < 16*fse.CostBit || c.Offset(1<<31) < 31*fse.CostBit {
		t.Error("bits behind the codes are left out")
	}
}
