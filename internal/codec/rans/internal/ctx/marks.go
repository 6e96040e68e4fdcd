package ctx

import (
	"github.com/gopz/compress/internal/kernels"
)

// marksByRound sets bit l of marks[r] to the mark of lane l in round r. Lane l continues at symbol
// from + pos[l] of the stream whose marks are in bits. The bits of lanes from width on are 0. It
// reads up to 64 bits behind the last symbol.
func marksByRound(marks, bits []uint64, from int, pos *[kernels.CtxRound]int, width int) {
	var m [64]uint64
	for r := 0; r < len(marks); r += len(m) {
		for l := range pos[:width] {
			i := from + pos[l] + r
			pair := bits[i/64:][:2]
			m[l] = pair[0]>>(i%64) | pair[1]<<1<<(63-i%64)
		}
		clear(m[width:])
		transpose(&m)
		copy(marks[r:], m[:])
	}
}

// transpose transposes a matrix of 64 by 64 bits: bit i of m[k] becomes bit k of m[i]. It swaps
// quadrants of 32 by 32 bits, then of 16 by 16, and so on (Warren, Hacker's Delight, section 7-3).
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
