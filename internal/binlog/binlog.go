// Package binlog makes tables of binary logarithms with integers alone, so that every machine has the same and makes the same choices by them.
package binlog

// Unit is one bit: logarithms are in 1/Unit.
const Unit = 1 << 16

// Fraction returns log₂(1 + (i+½)/2ᵇ), rounded down, for i < 2ᵇ and b at most 20: a number below Unit.
func Fraction(i int, b uint) (v uint32) {
	// By repeated squaring of a 1.31 fixed-point number.
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
