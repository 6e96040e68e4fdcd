package plot

import (
	"math"
	"slices"
)

// axis maps values from lo to hi linearly to length pixels that begin at start. A negative length
// runs upwards.
type axis struct{ lo, hi, start, length float64 }

// newAxis returns an axis for values. At both ends it leaves a margin, a part of the range.
func newAxis(values []float64, margin, start, length float64) axis {
	lo, hi := slices.Min(values), slices.Max(values)
	more := max((hi-lo)*margin, 1e-3)
	return axis{lo - more, hi + more, start, length}
}

func (a axis) at(v float64) float64 { return a.start + (v-a.lo)/(a.hi-a.lo)*a.length }

// logTicks returns 1, 2 and 5 times the powers of ten, as far as their logarithms are in lo to hi.
// In a range with fewer than three of them, it returns multiples of a round number.
func logTicks(lo, hi float64) (ticks []float64) {
	for e := math.Floor(lo); e <= hi; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); math.Log10(v) >= lo && math.Log10(v) <= hi {
				ticks = append(ticks, v)
			}
		}
	}
	if len(ticks) < 3 {
		return linearTicks(math.Pow(10, lo), math.Pow(10, hi))
	}
	return ticks
}

// linearTicks returns at most about ten multiples of a round number in lo to hi.
func linearTicks(lo, hi float64) (ticks []float64) {
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	if (hi-lo)/step < 3 {
		step /= 4
	} else if (hi-lo)/step < 6 {
		step /= 2
	}
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}
