package deflate

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/huffman"
)

// blocksOf splits the content of m into blocks with boundaries at units and with moved ones. It
// checks that the counts of each block agree with its tokens.
func blocksOf(t *testing.T, e *Encoder, m *maker) (atUnits, moved []unit) {
	t.Helper()
	e.tokenize(m.content(), m.seqs)
	whole := span{e.tokens, e.lits, m.content()}
	s := whole
	var units []unit
	for len(s.tokens) > 0 {
		units = append(units, unit{})
		units[len(units)-1].takeTokens(&s)
	}
	list := func() (blocks []unit) {
		s := whole
		for i := 0; i < len(units); i = units[i].next {
			u := &units[i]
			blocks = append(blocks, *u)
			var h histogram
			h.litLen[endOfBlock] = 1
			lits, content := 0, 0
			for _, tok := range s.tokens[:u.tokens] {
				lits += int(tok >> tokenRun)
				content += int(tok >> tokenRun)
				if length := tok >> tokenLength & 511; length != 0 {
					content += int(length)
					slot := lengthSlot[length]
					h.litLen[firstLength+int(slot)]++
					h.offset[tok%offsetSymbols]++
					h.extra += uint64(lengthExtra[slot] + offsetExtra[tok%offsetSymbols])
				}
			}
			for _, p := range s.lits[:lits] {
				h.litLen[p]++
			}
			if u.tokens == 0 || u.lits != lits || u.content != content || u.hist != h {
				t.Fatalf("block %d, %d tokens: literals %d, want %d; bytes %d, want %d; or symbols",
					len(blocks), u.tokens, u.lits, lits, u.content, content)
			}
			s = span{s.tokens[u.tokens:], s.lits[lits:], s.content[content:]}
		}
		if len(s.tokens) != 0 || len(s.content) != 0 {
			t.Fatalf("%d tokens are in no block", len(s.tokens))
		}
		return blocks
	}
	mergeUnits(units, nil)
	atUnits = list()
	e.refine(units, &whole)
	return atUnits, list()
}

func TestRefine(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(17, 18))
	size := func(blocks []unit) (bits int) {
		var b huffman.Builder
		var l lengths
		for i := range blocks {
			l.build(&b, &blocks[i].hist)
			bits += l.bits(&blocks[i].hist)
		}
		return bits
	}
	before, after, boundaries := 0, 0, 0
	for range 30 {
		m := newMaker(r, 1000)
		// Three alphabets in turn. Matches make the tokens short.
		for part := range 3 {
			for range 5000 + r.IntN(3000) {
				m.literals(byte(60*part + min(r.IntN(64), r.IntN(64))))
				if r.IntN(4) == 0 {
					m.match(3+r.IntN(4), 1+r.IntN(1000))
				}
			}
		}
		atUnits, moved := blocksOf(t, &e, m)
		before += size(atUnits)
		after += size(moved)
		boundaries += len(moved) - 1
	}
	// A boundary is off by a quarter of a unit on average, and a symbol on the wrong side costs
	// some bits.
	if gain := before - after; boundaries < 60 || gain < boundaries*unitSymbols/8 {
		t.Errorf("moving %d boundaries saves %d bits", boundaries, gain)
	}
}

// TestRefineRandom checks the counts of blocks for random tokens.
func TestRefineRandom(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(19, 20))
	for range 40 {
		m := newMaker(r, 40)
		m.random(r, 1+r.IntN(3000))
		blocksOf(t, &e, m)
	}
}
