package ctx

import (
	"math/bits"

	"github.com/gopz/compress/rans/internal/model"
)

// tally summarises the counts of a table, from which its cost follows.
type tally struct {
	total uint32
	logs  uint64    // the sum of n·log₂ n over all counts n, in units of 1/CostBit bit
	used  [4]uint64 // set of symbols that occur
}

// tallyOf returns the tally of counts.
func tallyOf(counts *[256]uint32) (t tally) {
	for s, n := range counts {
		if n != 0 {
			t.total += n
			t.logs += product(n)
			t.used[s/64] |= 1 << (s % 64)
		}
	}
	return t
}

// product returns n·log₂ n in units of 1/CostBit bit. n must not be 0.
func product(n uint32) uint64 { return uint64(n) * model.Log2(n) }

// cost returns the size of the symbols and of their table, in units of 1/CostBit bit: the sum of
// model.Entropy and model.TableCost.
func (t *tally) cost() uint64 {
	if t.total == 0 {
		return 0
	}
	used := 0
	for _, u := range t.used {
		used += bits.OnesCount64(u)
	}
	return product(t.total) - t.logs + model.DescriptionCost(uint64(used))
}

// with returns the tally of the sum of two sets of counts, whose own tallies are t and u. Its time
// depends on the number of symbols that both have, which is small for most tables.
func (t *tally) with(u *tally, counts, others *[256]uint32) (sum tally) {
	sum = tally{total: t.total + u.total, logs: t.logs + u.logs}
	for k := range sum.used {
		sum.used[k] = t.used[k] | u.used[k]
		for both := t.used[k] & u.used[k]; both != 0; both &= both - 1 {
			s := (64*k + bits.TrailingZeros64(both)) % 256
			sum.logs += product(counts[s]+others[s]) - product(counts[s]) - product(others[s])
		}
	}
	return sum
}
