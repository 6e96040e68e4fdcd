package optimal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// TestKernel: every tier parses as portable code does, also in the middle of a block.
func TestKernel(t *testing.T) {
	defer simd.SetTier(simd.Tier())
	size := 1 << 18
	if small() {
		size = 1 << 16
	}
	r := rand.New(rand.NewPCG(61, 62))
	few := make([]byte, size/4)
	for i := range few {
		few[i] = byte(r.Uint32N(3))
	}
	contents := map[string][]byte{
		"few": few, "interleaved": interleaved(size / 2), "zeros": make([]byte, size),
	}
	for _, name := range []string{"text", "random"} {
		contents[name] = corpus.ByName(name).Make(size)
	}
	contents["repeated"] = slices.Concat(contents["random"][:3000], few, contents["random"][:3000])
	for name, src := range contents {
		for _, c := range formats[1:] {
			c = atLevel(7, c)
			c.Contexts = secondByte()
			for k, nice := range []int{32, 256, 32, 256} {
				c.Nice, c.KeepSecondPath = nice, k > 1
				for _, start := range []int{0, 1000} {
					var want []lz77.Sequence
					for k, tier := range simd.Tiers() {
						simd.SetTier(tier)
						var o Parser
						got := o.parseBlock(nil, src[:len(src):len(src)], start, c, nil, nil)
						if k == 0 {
							want = got
						} else if !slices.Equal(got, want) {
							t.Errorf("%s, MinNew %d, Nice %d, second path %v, from %d, %s: "+
								"%d sequences differ from %d",
								name, c.MinNew, nice, c.KeepSecondPath, start, tier, len(got), len(want))
						}
					}
				}
			}
		}
	}
}
