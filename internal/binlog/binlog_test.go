package binlog

import (
	"math"
	"testing"
)

func TestFraction(t *testing.T) {
	for _, b := range []uint{0, 1, 8, 10, 11} {
		n := 1 << b
		for i := range n {
			want := Unit * math.Log2(1+(float64(i)+0.5)/float64(n))
			// Squaring rounds down each time, which may cost a unit.
			if got := float64(Fraction(i, b)); got > want || got < want-2 {
				t.Errorf("Fraction(%d, %d) = %v, want %v", i, b, got, want)
			}
		}
	}
}
