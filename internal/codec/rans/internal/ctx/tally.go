package ctx

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// tally summarises the counts of a table, from which its cost follows.
type tally struct {
	total    uint32
	logs     uint64 // the sum of products
	used     symbolSet
	products [256]uint64 // of the counts of symbols in used

	bins        [numBins]uint32 // the counts of groups of binSize symbols
	binProducts [numBins]uint64
}

// With half as many groups the merger computes up to 1.5 times as many losses.
const (
	numBins = 32
	binSize = 256 / numBins
)

// setCounts sets t to the tally of counts, of which those outside used are 0.
func (t *tally) setCounts(counts *[256]uint32, used *symbolSet) {
	t.total, t.logs, t.used = 0, 0, *used
	p := products()
	for k, set := range used {
		for ; set != 0; set &= set - 1 {
			s := (64*k + bits.TrailingZeros64(set)) % 256
			t.total += counts[s]
			t.products[s] = p.of(counts[s])
			t.logs += t.products[s]
		}
	}
}

// productTable has the products of small counts, which fit 32 bits.
type productTable [4096]uint32

var products = sync.OnceValue(func() *productTable {
	t := new(productTable)
	for n := 1; n < len(t); n++ {
		t[n] = uint32(uint64(n) * model.Log2(uint32(n)))
	}
	return t
})

// of returns n·log₂ n in units of 1/CostBit bit, 0 for n = 0.
func (t *productTable) of(n uint32) uint64 {
	if n < uint32(len(t)) {
		return uint64(t[n])
	}
	return uint64(n) * model.Log2(n)
}

// cost returns the size of the symbols and of their table, in units of 1/CostBit bit: the sum of
// model.Entropy and model.TableCost.
func (t *tally) cost() uint64 {
	if t.total == 0 {
		return 0
	}
	return products().of(t.total) - t.logs + model.DescriptionCost(uint64(t.used.size()))
}

// costWith returns the cost of the sum of two sets of counts, whose own tallies are t and u. Its
// time depends on the number of symbols that both have, which is small for most tables.
func (t *tally) costWith(u *tally, counts, others *[256]uint32) uint64 {
	total, logs := t.total+u.total, t.logs+u.logs
	if total == 0 {
		return 0
	}
	p := products()
	for k := range t.used {
		for both := t.used[k] & u.used[k]; both != 0; both &= both - 1 {
			s := (64*k + bits.TrailingZeros64(both)) % 256
			logs += p.of(counts[s]+others[s]) - t.products[s] - u.products[s]
		}
	}
	used := t.used.union(&u.used)
	return p.of(total) - logs + model.DescriptionCost(uint64(used.size()))
}

// common returns the number of symbols that both have.
func (t *tally) common(u *tally) (n int) {
	for k := range t.used {
		n += bits.OnesCount64(t.used[k] & u.used[k])
	}
	return n
}

// shared returns the size of the description that a common table saves, in units of 1/CostBit bit.
func (t *tally) shared(u *tally) int64 { return int64(model.DescriptionCost(uint64(t.common(u)))) }

// setBins counts groups of symbols that are neighbours.
func (t *tally) setBins(counts *[256]uint32) {
	p := products()
	for k := range t.bins {
		sum := uint32(0)
		for _, n := range counts[k*binSize:][:binSize] {
			sum += n
		}
		t.bins[k], t.binProducts[k] = sum, p.of(sum)
	}
}

// leastLoss returns a lower bound of the growth of the entropy by merging t and u: the growth for
// groups of symbols.
func (t *tally) leastLoss(u *tally) int64 {
	p := products()
	loss := p.of(t.total+u.total) - p.of(t.total) - p.of(u.total)
	for k := range t.bins {
		loss -= p.of(t.bins[k]+u.bins[k]) - t.binProducts[k] - u.binProducts[k]
	}
	return int64(loss)
}
