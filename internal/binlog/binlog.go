// Package binlog computes binary logarithms for tables with integers only, so that every machine
// has the same tables and makes the same choices.
package binlog

// Unit is the logarithm of 2.
const Unit = 1 << 16

// Fraction returns log₂(1 + (i+½)/2ᵇ) in 1/Unit, rounded down, for i < 2ᵇ and b ≤ 20. The result is
// below Unit. It may be 1 too small.
func Fraction(i int, b uint) (v uint32) {
	// Repeated squaring of a 1.31 fixed-point number gives one bit each time.
	x := uint64(1)<<31 + (uint64(i)*2+1)<<(30-b)
	for bit := uint32(Unit / 2); bit > 0; bit >>= 1 {
		x = x * x >> 31
		if x >= 1<<32 {
			x >>= 1
			v += bit
		}
	}
	return v
}
