package kernels

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gopz/compress/internal/cpu"
	"github.com/gopz/compress/simd"
)

// benchBytes returns the first n bytes of the file that PZ_BENCH_FILE names, or random bytes with
// about 5 bits of entropy each.
func benchBytes(b *testing.B, n int) []byte {
	p := make([]byte, n)
	if name := os.Getenv("PZ_BENCH_FILE"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		if _, err := f.ReadAt(p, 0); err != nil {
			b.Fatal(err)
		}
		return p
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(r.ExpFloat64() * 11)
	}
	return p
}

// benchTiers runs f on every tier.
func benchTiers(b *testing.B, f func(b *testing.B)) {
	for _, tier := range cpu.Tiers() {
		b.Run(tier, func(b *testing.B) {
			defer cpu.SetTier(cpu.SetTier(tier))
			f(b)
		})
	}
}

// BenchmarkLanes encodes and decodes 64 KiB, and decodes two groups of that size in step.
func BenchmarkLanes(b *testing.B) {
	const n = 1 << 16
	p := benchBytes(b, n)
	var counts [256]uint32
	simd.Histogram(&counts, p)
	var f [256]uint16
	sum, most := 0, 0
	for i, c := range counts {
		if c > 0 {
			f[i] = uint16(max(1, uint64(c)*(slots-256)/n))
			sum += int(f[i])
			if f[i] > f[most] {
				most = i
			}
		}
	}
	f[most] += uint16(slots - sum)
	var enc EncodeTable
	dec := [2]*DecodeTable{new(DecodeTable), new(DecodeTable)}
	enc.Build(&f)
	dec[0].Build(&f)
	dec[1].Build(&f)
	var first, states [Lanes]uint32
	for i := range first {
		first[i] = StateMin
	}
	words := make([]byte, 2*n+RoundBytes+WordSlack)
	out := [2][]byte{make([]byte, n), make([]byte, n)}
	at := 0
	b.Run("encode", func(b *testing.B) {
		benchTiers(b, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				states = first
				at = EncodeLanes(&states, &enc, p, words, 2*n)
			}
		})
	})
	states = first
	at = EncodeLanes(&states, &enc, p, words, 2*n)
	for groups := 1; groups <= 2; groups++ {
		b.Run(fmt.Sprintf("decode%d", groups), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				b.SetBytes(int64(groups * n))
				for b.Loop() {
					var g [2]DecodeGroup
					for i := range g {
						g[i] = DecodeGroup{
							States: states,
							Table:  dec[i],
							Dst:    out[i],
							Words:  words[at:],
						}
					}
					if groups == 1 {
						DecodeLanes(&g[0])
					} else {
						DecodeLanes2(&g[0], &g[1])
					}
					if len(g[0].Dst) != 0 || g[0].States != first {
						b.Fatal("decoded lanes differ from the run")
					}
				}
			})
		})
	}
}

// BenchmarkBuild makes decoding tables for 60 symbols and for 256.
func BenchmarkBuild(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, used := range []int{60, 256} {
		var f [256]uint16
		for i, sym := range r.Perm(256)[:used] {
			f[sym] = uint16(1 + 1200/used/(i%7+1))
		}
		sum := 0
		for _, n := range f {
			sum += int(n)
		}
		f[r.Perm(256)[0]] += uint16(slots - sum)
		b.Run(fmt.Sprint(used), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				var t DecodeTable
				for b.Loop() {
					t.Build(&f)
				}
			})
		})
	}
}
