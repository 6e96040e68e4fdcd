package optimal

import (
	"fmt"
	"slices"
)

// Contexts defines the contexts of literals: what a coder knows from the two bytes in front of a
// literal, if those are literals of the same run.
type Contexts struct {
	// A context is First[byte before] + Second[byte before that]; no sum is above 255. The second
	// literal of a run has Second[0].
	First, Second [256]uint8
	// Class is the class of each context, below Classes. Literals of one class share a
	// distribution.
	Class   [256]uint8
	Classes int // 1 … MaxContextClasses
}

// check panics if a literal would have no context or a context no class.
func (c *Contexts) check() {
	first, second, class := slices.Max(c.First[:]), slices.Max(c.Second[:]), slices.Max(c.Class[:])
	if int(first)+int(second) >= len(c.Class) ||
		c.Classes < 1 || c.Classes > MaxContextClasses || int(class) >= c.Classes {
		panic(fmt.Sprintf(
			"optimal: contexts out of range: First up to %d, Second up to %d, Class up to %d, Classes %d",
			first, second, class, c.Classes))
	}
}

// MaxContextClasses is the greatest number of classes of literals. The first literals of runs have
// a class of their own besides.
const MaxContextClasses = 32

// Positions of a literal in its run, as far as its context depends on them.
const (
	firstOfRun = iota
	secondOfRun
	otherOfRun
	runPositions
)

// classCounts holds the frequencies of literals by class. The class behind the last one is that of
// the first literals of runs.
type classCounts [MaxContextClasses + 1][256]uint32

// addPast makes past the counts of all chunks so far, in which those before halve shift times.
func (c *contextState) addPast(shift uint) {
	for k := range c.Classes + 1 {
		for s := range &c.past[k] {
			c.past[k][s] >>= shift & 31
		}
	}
	c.past.setSum(&c.past, &c.counts, c.Classes+1)
}

// setSum sets c to a + b in the first n classes. It assigns no array of this size; see
// Counts.copyFrom.
func (c *classCounts) setSum(a, b *classCounts, n int) {
	for k := range c[:n] {
		own, a, b := &c[k], &a[k], &b[k]
		for s := range own {
			own[s] = min(a[s]+b[s], maxCount)
		}
	}
}

// contextState is the parser's additional state for literals with contexts.
type contextState struct {
	*Contexts
	classes      [][runPositions]uint8 // class of the literal at each position, by place in its run
	literalPaths paths                 // the cheapest path to each position that ends with a literal

	counts, past, sum classCounts // as in optimal
	prices            [MaxContextClasses + 1][256]int32
}

// contextStateBytes is the size of a contextState in bytes, rounded up as the runtime does.
// contextPositionBytes is the additional memory per position, in bytes.
const (
	contextStateBytes    = 4*(MaxContextClasses+1)<<10 + 128<<10
	contextPositionBytes = runPositions + pathBytes
)

// reset makes c ready for a block with contexts p, in chunks of up to n positions.
func (c *contextState) reset(p *Contexts, n int) {
	c.Contexts = p
	clear(c.past[:p.Classes+1])
	c.grow(n)
}

// clearCounts makes c ready to count the literals of a parse.
func (c *contextState) clearCounts() { clear(c.counts[:c.Classes+1]) }

func (c *contextState) grow(n int) {
	if cap(c.classes) >= n {
		return
	}
	c.classes = make([][runPositions]uint8, n)
	c.literalPaths.grow(n)
}

// classify sets the classes of the positions of a chunk.
func (c *contextState) classify(src []byte, s chunk) {
	classes := c.classes[:s.to-s.from]
	var a, b byte
	if s.from > 0 {
		a = src[s.from-1]
	}
	if s.from > 1 {
		b = src[s.from-2]
	}
	for i, x := range src[s.from:s.to] {
		classes[i] = [runPositions]uint8{
			firstOfRun:  uint8(c.Classes),
			secondOfRun: c.Class[c.First[a]+c.Second[0]],
			otherOfRun:  c.Class[c.First[a]+c.Second[b]],
		}
		a, b = x, a
	}
}

// countLiteral counts a literal at position i of the chunk, behind run other literals.
func (c *contextState) countLiteral(i int, run uint32, literal byte) {
	c.counts[c.classes[i][min(run, otherOfRun)]][literal]++
}

// backoff is the weight of the frequencies of all literals in a class, in literals. Most classes
// have few literals in a chunk.
const backoff = 32

// maxLiteralPrice bounds the price of a literal: the least frequency that a table holds, and the
// symbol's description.
const maxLiteralPrice = 14 * PriceBit

// price sets the prices of all classes from c.sum and the counts of all literals.
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
			own := max(unit*min(n, maxCount/256)+share[s], 1)
			prices[s] = min(log2Price(all)-log2Price(own), maxLiteralPrice)
		}
	}
}
