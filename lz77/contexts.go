package lz77

import (
	"fmt"
	"slices"
)

// Contexts say what is known of a literal before it is coded, by the two bytes before it, if those are literals of the same run too.
type Contexts struct {
	// A context is First of the byte before and Second of the one before that, added; no sum is above 255. The second literal of a run has Second of 0.
	First, Second [256]uint8
	// Class is the number of each context's class, below Classes. Literals of one class are taken to be alike.
	Class   [256]uint8
	Classes int // 1 … MaxClasses
}

// check panics if a literal would have no context, or a context no class.
func (c *Contexts) check() {
	first, second, class := slices.Max(c.First[:]), slices.Max(c.Second[:]), slices.Max(c.Class[:])
	if int(first)+int(second) >= len(c.Class) || c.Classes < 1 || c.Classes > MaxContextClasses || int(class) >= c.Classes {
		panic(fmt.Sprintf("lz77: impossible contexts: up to %d and %d added, in classes up to %d of %d", first, second, class, c.Classes))
	}
}

// MaxClasses is how many classes of literals there may be, besides that of the first of each run.
const MaxContextClasses = 32

// Where in a run a literal is, as far as its context is concerned.
const (
	firstOfRun = iota
	secondOfRun
	otherOfRun
	runPositions
)

// classCounts says how often literals come in each class; the one behind the last is of the first literals of runs.
type classCounts [MaxContextClasses + 1][256]uint32

func (c *classCounts) decay(shift uint) {
	for k := range c {
		for s := range &c[k] {
			c[k][s] >>= shift & 31
		}
	}
}

// add adds those of d.
func (c *classCounts) add(d *classCounts) { c.setSum(c, d) }

// setSum makes c those of a and b together. See Counts.set for why nothing of this size is assigned.
func (c *classCounts) setSum(a, b *classCounts) {
	for k := range c {
		own, a, b := &c[k], &a[k], &b[k]
		for s := range own {
			own[s] = min(a[s]+b[s], maxCount)
		}
	}
}

func (c *classCounts) clear() { clear(c[:]) }

// contextual is what optimal needs where literals have contexts.
type contextState struct {
	*Contexts
	classes      [runPositions][]uint8 // of a literal at each position of the piece
	literals     [runPositions][]int32 // what it costs
	literalPaths paths                 // the cheapest way to each position that ends with a literal

	counts, past, sum classCounts // as in optimal
	prices            [MaxContextClasses + 1][256]int32
}

// contextualItself is what a contextual takes, in bytes, with what the runtime rounds up, and contextualBytes what a position takes in it.
const (
	contextStateBytes    = 4*(MaxContextClasses+1)<<10 + 128<<10
	contextPositionBytes = 5*runPositions + pathBytes
)

func (c *contextState) grow(n int) {
	if cap(c.classes[0]) >= n {
		return
	}
	for k := range c.classes {
		c.classes[k], c.literals[k] = make([]uint8, n), make([]int32, n)
	}
	c.literalPaths.grow(n)
}

// classify finds the classes of the positions of a piece.
func (c *contextState) classify(src []byte, s chunk) {
	n := s.to - s.from
	first, second, other := c.classes[firstOfRun][:n], c.classes[secondOfRun][:n], c.classes[otherOfRun][:n]
	var a, b byte
	if s.from > 0 {
		a = src[s.from-1]
	}
	if s.from > 1 {
		b = src[s.from-2]
	}
	for i, x := range src[s.from:s.to] {
		first[i] = uint8(c.Classes)
		second[i] = c.Class[c.First[a]+c.Second[0]]
		other[i] = c.Class[c.First[a]+c.Second[b]]
		a, b = x, a
	}
}

// count counts a literal at position i of the piece, behind run others.
func (c *contextState) count(i int, run uint32, literal byte) {
	c.counts[c.classes[min(run, otherOfRun)][i]][literal]++
}

// backoff is how many literals of a class weigh as much as what is known of all literals: there are few in a piece of most classes.
const backoff = 32

// dearestLiteral is the most that a literal costs: the least frequency there is, and its description.
const maxLiteralPrice = 14 * PriceBit

// price sets the prices of all classes by what sum says of each, and counts of all of them.
func (c *contextState) price(counts *[256]uint32) {
	const unit = 16 // fractions of a literal
	total := uint64(0)
	for _, n := range counts {
		total += 2*uint64(n) + 1
	}
	var share [256]uint32 // of the backoff, in units
	for s, n := range counts {
		share[s] = uint32(((2*uint64(n)+1)*backoff*unit + total/2) / total)
	}
	for k := range c.Classes + 1 {
		own, prices, all := &c.sum[k], &c.prices[k], uint32(0)
		for s, n := range own {
			all += unit*min(n, maxCount/256) + share[s]
		}
		for s, n := range own {
			prices[s] = min(log2Price(all)-log2Price(max(unit*min(n, maxCount/256)+share[s], 1)), maxLiteralPrice)
		}
	}
}
