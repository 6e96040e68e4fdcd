package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchBytes returns n random bytes with about 5 bits of entropy each.
func benchBytes(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(r.ExpFloat64() * 11)
	}
	return p
}

// benchTiers runs f on every tier.
func benchTiers(b *testing.B, f func(b *testing.B)) {
	for _, tier := range Tiers() {
		b.Run(tier, func(b *testing.B) {
			defer SetTier(SetTier(tier))
			f(b)
		})
	}
}

func BenchmarkHistogram(b *testing.B) {
	for _, n := range []int{512, 8192} {
		p := benchBytes(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				var counts [256]uint32
				b.SetBytes(int64(n))
				for b.Loop() {
					Histogram(&counts, p)
				}
			})
		})
	}
}

// BenchmarkMatchLen compares slices with varying lengths, so that branches are hard to predict.
func BenchmarkMatchLen(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, mean := range []int{8, 40, 1000} {
		a, c := make([]byte, 8*mean+100), make([]byte, 8*mean+100)
		ends := make([]int, 256)
		for i := range ends {
			ends[i] = min(int(r.ExpFloat64()*float64(mean)), 8*mean)
		}
		b.Run(fmt.Sprint(mean), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					n := ends[i%len(ends)]
					c[n] = 1
					if MatchLen(a, c) != n {
						b.Fatal("MatchLen returned a wrong length")
					}
					c[n] = 0
				}
			})
		})
	}
}

func BenchmarkCRC32C(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 12, 1 << 16, 1 << 20} {
		p := benchBytes(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					CRC32C(0, p)
				}
			})
		})
	}
}
