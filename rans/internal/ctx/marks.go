package ctx

import "github.com/gopz/compress/simd"

// gather takes the marks of rounds from the bits of a stream: the pieces of the lanes go on at the given places of what begins at number from. Bits of lanes that there are
// not are 0. It reads 64 bits for each 64 rounds or less.
func gather(marks, bits []uint64, from int, at *[simd.CtxRound]int, width int) {
	var m [64]uint64
	for r := 0; r < len(marks); r += len(m) {
		for l := range at[:width] {
			i := from + at[l] + r
			pair := bits[i/64:][:2]
			m[l] = pair[0]>>(i%64) | pair[1]<<1<<(63-i%64)
		}
		clear(m[width:])
		transpose(&m)
		copy(marks[r:], m[:])
	}
}

// transpose makes bit i of number k bit k of number i: squares of 32 by 32 bits change places, then of 16 by 16, and so on (Warren, Hacker's Delight, section 7-3).
func transpose(m *[64]uint64) {
	mask := ^uint64(0)
	for n := uint(32); n > 0; n >>= 1 {
		mask ^= mask << n
		for k := uint(0); k < 64; k = (k + n + 1) &^ n {
			a, b := &m[k&63], &m[(k+n)&63]
			t := (*a>>(n&63) ^ *b) & mask
			*a ^= t << (n & 63)
			*b ^= t
		}
	}
}
