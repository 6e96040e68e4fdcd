package deflatetest

import (
	"math/rand/v2"
	"slices"

	"github.com/gopz/compress/internal/corpus"
)

// A mutation changes blocks. It may change the list, but neither blocks nor tokens in place.
type mutation struct {
	name   string
	change func(r *rand.Rand, list []Block) []Block
}

// mutations of the structure. Some leave a stream valid.
var mutations = []mutation{
	{"lengths", changeLengths},
	{"new codes", func(r *rand.Rand, list []Block) []Block {
		return changeBlock(r, list, func(b *Block) { b.recode(r) })
	}},
	{"tokens", changeTokens},
	{"stored block", func(r *rand.Rand, list []Block) []Block {
		b := Block{Padding: r.IntN(128), BadSize: r.IntN(16) == 0}
		b.Stored = corpus.ByName("random").Make([]int{0, 0, 1, r.IntN(40), r.IntN(1000), 40_000}[r.IntN(6)])
		return slices.Insert(list, r.IntN(len(list)+1), b)
	}},
	{"empty block", func(r *rand.Rand, list []Block) []Block {
		b := Block{Kind: 1 + r.IntN(2)}
		if b.Kind == 2 {
			b.recode(r)
		}
		return slices.Insert(list, r.IntN(len(list)+1), b)
	}},
	{"header", func(r *rand.Rand, list []Block) []Block {
		return changeBlock(r, list, func(b *Block) { b.Tamper = Tampering(r.IntN(int(tamperings))) })
	}},
	{"counts", func(r *rand.Rand, list []Block) []Block {
		return changeBlock(r, list, func(b *Block) {
			b.Literals = resize(b.Literals, endOfBlock+1+r.IntN(32))
			b.Offsets = resize(b.Offsets, 1+r.IntN(32))
		})
	}},
	{"kind", func(r *rand.Rand, list []Block) []Block {
		return changeBlock(r, list, func(b *Block) {
			b.Kind, b.Endless = r.IntN(4), r.IntN(8) == 0
			if len(b.Literals) == 0 || len(b.Literals) > maxLiterals {
				b.recode(r)
			}
		})
	}},
	{"order", func(r *rand.Rand, list []Block) []Block {
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		return list[:1+r.IntN(len(list))]
	}},
}

// Mutate makes one change of blocks and says what kind it is. It may change the list, but neither
// blocks nor tokens in place.
func Mutate(r *rand.Rand, list []Block) (changed []Block, kind string) {
	m := &mutations[r.IntN(len(mutations))]
	return m.change(r, list), m.name
}

// resize cuts lengths off, or appends zeros.
func resize(l []int, n int) []int {
	keep := min(n, len(l))
	return append(l[:keep:keep], make([]int, n-keep)...)
}

// changeBlock changes a block, preferably one with codes.
func changeBlock(r *rand.Rand, list []Block, change func(*Block)) []Block {
	at := r.IntN(len(list))
	if list[at].Kind == 0 {
		at = r.IntN(len(list))
	}
	change(&list[at])
	return list
}

// recode gives a block new codes, with codewords for its symbols and for some others.
func (b *Block) recode(r *rand.Rand) {
	used, offsets := make([]bool, maxLiterals), make([]bool, maxOffsets)
	used[endOfBlock] = r.IntN(16) > 0
	for _, t := range b.Tokens {
		used[min(t.Symbol, maxLiterals-1)] = true
		if t.Symbol > endOfBlock {
			offsets[min(t.Offset, maxOffsets-1)] = true
		}
	}
	for range r.IntN(2) * r.IntN(300) {
		used[r.IntN(len(used))] = true
		offsets[r.IntN(len(offsets))] = true
	}
	b.Kind = 2
	b.Literals = RandomLengths(r, used, maxBits)
	b.Offsets = RandomLengths(r, offsets, maxBits)
}

// changeLengths changes the length of a codeword or two, or exchanges two.
func changeLengths(r *rand.Rand, list []Block) []Block {
	return changeBlock(r, list, func(b *Block) {
		l := &b.Literals
		if r.IntN(2) == 0 {
			l = &b.Offsets
		}
		if len(*l) == 0 {
			return
		}
		*l = slices.Clone(*l)
		i, k := r.IntN(len(*l)), r.IntN(len(*l))
		switch r.IntN(3) {
		case 0:
			(*l)[i], (*l)[k] = (*l)[k], (*l)[i]
		case 1:
			(*l)[i] = r.IntN(maxBits + 1)
		default: // still complete if both codewords are of a length
			(*l)[i], (*l)[k] = min((*l)[i]+1, maxBits), max((*l)[k]-1, 0)
		}
	})
}

// changeTokens makes some tokens matches at the limits of the format: offsets at the edge of the
// content or the window, lengths of 258 in both forms, symbols that are reserved.
func changeTokens(r *rand.Rand, list []Block) []Block {
	at, content := r.IntN(len(list)), 0
	for _, b := range list[:at] {
		content += len(b.Stored)
		for _, t := range b.Tokens {
			content += t.size()
		}
	}
	b := &list[at]
	b.Tokens = slices.Clone(b.Tokens)
	rare := 1 + r.IntN(1+len(b.Tokens))
	for i := range b.Tokens {
		t := &b.Tokens[i]
		if r.IntN(rare) == 0 {
			if t.Symbol <= endOfBlock || r.IntN(2) == 0 {
				forms := [][2]int{{285, 0}, {284, 31}, {284, 30}, {257, 0}, {257 + r.IntN(31), 0}}
				form := forms[r.IntN(len(forms))]
				t.Symbol, t.Extra = form[0], form[1]
			}
			edges := []int{content, content + 1, windowSize, 1, 1 + r.IntN(windowSize)}
			t.setOffset(edges[r.IntN(len(edges))])
			if r.IntN(20) == 0 {
				t.Offset, t.OffsetExtra = 30+r.IntN(2), 0
			}
		}
		content += t.size()
	}
	if b.Kind == 2 && r.IntN(8) > 0 {
		b.recode(r)
	}
	return list
}

// size returns the size of the content of a token in bytes.
func (t *Token) size() int {
	if t.Symbol <= endOfBlock {
		return 1
	}
	return lengthCodes[t.Symbol].base + t.Extra
}

// setOffset sets an offset from 1 to windowSize. Others become the next of these.
func (t *Token) setOffset(offset int) {
	offset = min(max(offset, 1), windowSize)
	for s, c := range offsetCodes[:maxOffsets] {
		if offset >= c.base {
			t.Offset, t.OffsetExtra = s, offset-c.base
		}
	}
}
