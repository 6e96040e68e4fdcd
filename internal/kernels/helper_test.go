package kernels

import (
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// scaled returns the number of rounds of a random test: n if PZ_TEST is "all", a third of it by
// default, a tenth in short mode.
func scaled(n int) int {
	switch {
	case testing.Short():
		return n / 10
	case testenv.All():
		return n
	}
	return n / 3
}

type sequence struct{ LitLen, MatchLen, Offset uint32 }

// Limits of one call of a kernel.
const (
	maxCallContent = 1 << 17 // bytes
	maxCallTokens  = 1 << 10 // sequences
)

// tokensStep is the most tokens that a step of a kernel takes.
const tokensStep = 16

// randomContent returns n bytes: noise, and copies of earlier pieces, near and far, short and long.
func randomContent(r *rand.Rand, n int) []byte {
	p := make([]byte, 0, n+400)
	symbols := []uint32{2, 4, 256}[r.IntN(3)]
	for len(p) < n {
		for range r.IntN(1 + r.IntN(30)) {
			p = append(p, byte(r.Uint32N(symbols)))
		}
		if len(p) > 0 {
			d := 1 + r.IntN(len(p))
			if r.IntN(3) == 0 {
				d = min(len(p), 1+r.IntN(40))
			}
			for range 4 + r.IntN([]int{4, 40, 300}[r.IntN(3)]) {
				p = append(p, p[len(p)-d])
			}
		}
	}
	return p[:n:n]
}
