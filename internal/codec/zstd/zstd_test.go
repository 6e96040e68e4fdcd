package zstd

import (
	"reflect"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// sizes are around the limits of headers and blocks.
var sizes = []int{
	0, 1, 2, 3, 7, 8, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025,
	4095, 4096, 16383, 16384, 16385, MaxBlock - 1, MaxBlock, MaxBlock + 1, 3*MaxBlock + 7,
}

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
				levels := levels
				if n > 20_000 && !testenv.All() {
					// Each level parses one large size, and one of them several blocks.
					levels = levels[i%len(levels):][:1]
				}
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

// TestMemory encodes a block with the maximum number of sequences, and with the maximum number of
// literals.
func TestMemory(t *testing.T) {
	var e Encoder
	src := corpus.ByName("short").Make(4 * MaxBlock)
	e.Append(nil, src, nil)
	seqs := []lz77.Sequence{{LitLen: 10, MatchLen: 3, Offset: 1}}
	for i := range uint32(2 * MaxBlock / MinMatch) {
		seqs = append(seqs, lz77.Sequence{MatchLen: MinMatch, Offset: 1 + i%7})
	}
	src = expand(src[:10], seqs)
	blocks := check(t, &e, src, seqs)
	size := int(reflect.TypeOf(e).Size()) + cap(e.body.lits) +
		cap(e.body.seqs)*int(reflect.TypeOf(e.body.seqs[0]).Size())
	for k := range e.codes {
		size += cap(e.codes[k].description)
	}
	if size += cap(e.literals.tree); size > Memory {
		t.Errorf("%d bytes of scratch memory, Memory is %d", size, Memory)
	}
	t.Log(size)
	var p program
	p.add(t, src, blocks)
	p.check(t)
}
