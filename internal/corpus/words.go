package corpus

import "sync"

const (
	vocabulary = 6000    // words; a novel has about as many that occur more than once
	zipfSlots  = 1 << 14 // the probability of a word is its share of the slots
)

// lexicon is the invented language of the text-like kinds.
type lexicon struct {
	words []string
	slots [zipfSlots]uint16 // indices of words
}

// english returns the lexicon, which is the same for all seeds of a kind.
var english = sync.OnceValue(func() *lexicon {
	l := &lexicon{words: make([]string, vocabulary)}
	r := newRNG(0x7465787420)
	onset := []string{
		"", "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w",
		"th", "st", "pr", "tr", "ch", "gr", "sh",
	}
	vowel := []string{"a", "e", "i", "o", "u", "e", "a", "ea", "ou", "io"}
	coda := []string{"", "", "n", "r", "s", "t", "d", "l", "nd", "ng", "st", "ll"}
	for i := range l.words {
		syllables := 1
		for m := i; m >= 60; m /= 12 { // common words are short
			syllables++
		}
		var w []byte
		for range syllables {
			w = append(w, onset[r.below(len(onset))]...)
			w = append(w, vowel[r.below(len(vowel))]...)
			w = append(w, coda[r.below(len(coda))]...)
		}
		l.words[i] = string(w)
	}
	// Zipf's law in integers: the word of rank k gets a share of the slots proportional to 1/(k+2).
	var total uint64
	for k := range vocabulary {
		total += 1 << 32 / uint64(k+2)
	}
	var sum uint64
	at := 0
	for k := range vocabulary {
		sum += 1 << 32 / uint64(k+2)
		for end := int(sum * zipfSlots / total); at < end; at++ {
			l.slots[at] = uint16(k)
		}
	}
	return l
})

// word draws a word to follow the word prev. With probability 1/2 it is one of eight words that
// depend on prev.
func (l *lexicon) word(r *rng, prev int) int {
	x := r.next()
	if x&1 == 0 {
		return int(l.slots[x>>1%zipfSlots])
	}
	successor := uint64(prev)*8 + min(x>>1&7, x>>4&7)
	return int(l.slots[successor*0x9e3779b97f4a7c15>>32%zipfSlots])
}

// text appends a paragraph.
func text(g *gen) {
	l := english()
	col, prev := 0, 0
	for s := g.between(2, 9); s > 0; s-- {
		for n := g.between(4, 24); n > 0; n-- {
			start := len(g.out)
			prev = l.word(&g.rng, prev)
			g.string(l.words[prev])
			switch {
			case n == 1:
				g.pick(".", ".", ".", "?", "!")
			case g.oneIn(9):
				g.bytes(',')
			}
			if col += len(g.out) - start; col > 68 {
				g.bytes('\n')
				col = 0
			} else {
				g.bytes(' ')
				col++
			}
		}
	}
	g.string("\n\n")
}

// name appends an identifier, often one of the last eight.
func (g *gen) name() {
	l := english()
	slot := g.below(len(g.vars))
	if g.vars[slot] == 0 || g.oneIn(4) {
		g.vars[slot] = g.next()
	}
	v := g.vars[slot]
	g.string(l.words[v%512])
	if v>>40&3 == 0 {
		g.bytes('_')
		g.string(l.words[v>>16%512])
	}
}
