package optimal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
)

// blockModel is a model of a form that is written in blocks. Prices do not depend on counts, so
// that there is a best parse to compare with.
type blockModel struct {
	flat
	blocks    int // blocks of a window
	chunkSize int
	maxMatch  int
}

func (m blockModel) Rules() Rules {
	return Rules{
		ChunkSize: m.chunkSize, MaxMatch: m.maxMatch,
		NewSplitter: func() BlockSplitter { return equalBlocks(m.blocks) },
	}
}

func (blockModel) Price(p *Prices, c *Counts) {
	flat{}.Price(p, c)
	clear(p.Run[:])
}

// equalBlocks cuts content into so many blocks of equal size, wherever matches end. That is good
// enough where all positions have candidates.
type equalBlocks int

func (blocks equalBlocks) Split(ends []int, content []byte, steps []Step) []int {
	n := 0
	for i := range steps {
		n += int(steps[i].LitLen + steps[i].MatchLen)
	}
	if n > len(content) {
		panic("steps beyond the content")
	}
	for k := 1; k < int(blocks); k++ {
		if end := k * len(content) / int(blocks); end > 0 {
			ends = append(ends, end)
		}
	}
	return append(ends, len(content))
}

// inBlocks is the configuration of a form that is written in blocks.
func inBlocks(blocks, chunkSize, depth, nice int) config {
	return config{
		Params: Params{Finder: BinaryTree, HashLog: 16, Depth: depth, Nice: nice, Passes: 1},
		MinNew: 3, MinRepeat: 3, MinOffset: 1, MaxOffset: 1 << 15,
		Model: blockModel{blocks: blocks, chunkSize: chunkSize},
	}
}

// TestBlocks compares the parse of blocks with an exhaustive search over all matches of all
// lengths.
func TestBlocks(t *testing.T) {
	const size, nice = 700, 40
	c := inBlocks(3, 16<<10, 1<<20, nice)
	var p Prices
	blockModel{}.Price(&p, nil)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		src := make([]byte, size)
		for i := range src {
			src[i] = byte(r.UintN(2 + uint(seed)))
		}
		ends := equalBlocks(3).Split(nil, src, nil)
		var best [size + 1]int // from each position to the end
		for i := size - 1; i >= 0; i-- {
			end := ends[slices.IndexFunc(ends, func(e int) bool { return e > i })]
			best[i] = best[i+1] + int(p.Literal[src[i]])
			for d := 1; d <= i && i < size-finder.Tail; d++ {
				offset := p.Offset[genericModel{}.OffsetCode(uint32(d))]
				for n := 0; i+n < end && n < nice && src[i+n] == src[i+n-d]; {
					n++
					if n >= 3 {
						best[i] = min(best[i], best[i+n]+int(p.Match[0][NewOffset][n]+offset))
					}
				}
			}
		}
		var o Parser
		seqs := o.sequences(src, c)
		if err := valid(src, seqs, c); err != nil {
			t.Fatal(err)
		}
		if n := literals(size, seqs); len(seqs) < 5 || n < 5 {
			t.Errorf("%d different bytes: only %d sequences and %d literals", 2+seed, len(seqs), n)
		}
		seqs = seqs[:0]
		for _, s := range o.steps {
			seqs = append(seqs, s.Sequence) // before some were merged
		}
		if got := total(&p, src, seqs); got != best[0] {
			t.Errorf("%d different bytes: the parse costs %d, the best costs %d", 2+seed, got, best[0])
		}
	}
}

// TestChunkSizes: with constant prices the size of chunks makes no difference. 0 stands for a whole
// window, 1 is the least, and a negative size panics.
func TestChunkSizes(t *testing.T) {
	src := slices.Concat(corpus.ByName("text").Make(3000), make([]byte, 1000))
	var o Parser
	want := o.sequences(src, inBlocks(3, 16<<10, 16, 40))
	for _, size := range []int{0, 1, 39, 2 * maxWindow} {
		if got := o.sequences(src, inBlocks(3, size, 16, 40)); !slices.Equal(got, want) {
			t.Errorf("chunks of %d: other sequences", size)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative ChunkSize does not panic")
		}
	}()
	o.sequences(src, inBlocks(3, -1, 16, 40))
}

// TestSplitLongMatch: in a match longer than Nice the parser looks again for a nearer offset,
// except where the offset is among the nearest.
func TestSplitLongMatch(t *testing.T) {
	random := corpus.ByName("random").Make(5000)
	src := slices.Concat(random, make([]byte, 1000), random, make([]byte, 3000), random[:100])
	c := inBlocks(1, 16<<10, 64, 258)
	var o Parser
	seqs := o.sequences(src, c)
	if err := valid(src, seqs, c); err != nil {
		t.Fatal(err)
	}
	far := uint32(0) // bytes at the far offset; the second zeros have nearer ones
	for _, q := range seqs {
		if q.Offset == 6000 {
			far += q.MatchLen
		}
	}
	if n := literals(len(src), seqs); far < 5000 || far > 5000+258 || n > 5000+20 {
		t.Errorf("%d bytes at the far offset, %d literals: %v", far, n, seqs)
	}
}

// TestMaxMatch: a match that ends a search by its Nice bytes becomes sequences of MaxMatch bytes,
// at far and at near offsets.
func TestMaxMatch(t *testing.T) {
	const nice, maxMatch = 32, 258
	random := corpus.ByName("random").Make(5000)
	for name, src := range map[string][]byte{
		"far":  slices.Concat(random, random),
		"near": slices.Concat(random, make([]byte, 5000)),
	} {
		c := inBlocks(1, 16<<10, 64, nice)
		c.Model = blockModel{blocks: 1, maxMatch: maxMatch}
		var o Parser
		if err := valid(src, o.sequences(src, c), c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		longest := 0
		for _, s := range o.steps {
			if s.MatchLen > maxMatch {
				t.Fatalf("%s: a sequence of %d bytes", name, s.MatchLen)
			}
			if s.MatchLen == maxMatch {
				longest++
			}
		}
		if want := 5000/maxMatch - 1; longest < want {
			t.Errorf("%s: %d sequences of %d bytes, want %d", name, longest, maxMatch, want)
		}
	}
}

// TestFirstParse: with constant prices a second parse changes nothing. Literals reach from one
// window to the next.
func TestFirstParse(t *testing.T) {
	random := corpus.ByName("random").Make(maxWindow)
	text := corpus.ByName("text").Make(maxWindow)
	src := slices.Concat(text[1000:], random, text)
	c := inBlocks(1, 0, 16, 40)
	var o Parser
	want := o.sequences(src, c)
	c.Passes = 0
	got := o.sequences(src, c)
	if err := valid(src, got, c); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("other sequences without a second parse")
	}
}
