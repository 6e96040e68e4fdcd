package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// steps decodes src in chunks whose sizes depend on seed, with the given tier of kernels. The
// content is at the end of room, the chunks are at the end of input. It returns the content and
// what each call returned, and the state of the Decoder after it.
func steps(tier string, src []byte, seed uint64, room, input []byte) (content []byte, log string) {
	defer simd.SetTier(simd.SetTier(tier))
	r := rand.New(rand.NewPCG(seed, 0))
	var d Decoder
	var b bytes.Buffer
	whole := r.IntN(2) == 0
	for calls := 0; calls < 1000; calls++ {
		chunk, space := min(len(src), len(input)), len(room)-WindowSize
		if !whole {
			chunk, space = min(chunk, 1+r.IntN(2000)), 1+r.IntN(min(5000, space))
		}
		at := min(len(content), WindowSize)
		dst := room[len(room)-at-space:]
		copy(dst, content[len(content)-at:])
		p := input[len(input)-chunk:]
		copy(p, src)
		n, used, err := d.Decode(dst, at, p)
		content = append(content, dst[at:at+n]...)
		src = src[used:]
		fmt.Fprintln(&b, n, used, err, d.phase, d.bits, d.count)
		if err != nil || len(src) == 0 && n < space {
			break
		}
	}
	return content, b.String()
}

// TestTiers decodes good and damaged streams with each tier of kernels. Results, errors, and the
// state after each call must be those of the portable code. The memory lies at guard pages.
func TestTiers(t *testing.T) {
	rounds := 3000
	switch {
	case testenv.All():
		rounds = 100_000
	case testing.Short() || testenv.Race || testenv.Emulated():
		rounds = 300
	}
	r := rand.New(rand.NewPCG(7, 8))
	var streams [][]byte
	for _, k := range corpus.Kinds() {
		for _, level := range []int{1, 9, -2} {
			streams = append(streams, standard(t, k.Make(30_000), level))
		}
	}
	for n := range 30 {
		streams = append(streams, random(r, 100*n+1))
	}
	tiers := simd.Tiers()
	room, input := guarded(t, WindowSize+100_000), guarded(t, 100_000)
	for i := range rounds {
		src := streams[r.IntN(len(streams))]
		if i >= 2*len(streams) {
			src = mutate(r, bytes.Clone(src))
		} else {
			src = streams[i/2]
		}
		content, log := steps(tiers[0], src, uint64(i), room, input)
		for _, tier := range tiers[1:] {
			p, l := steps(tier, src, uint64(i), room, input)
			if !bytes.Equal(p, content) || l != log {
				t.Fatalf("%s: %d bytes of content, want %d or other ones; steps\n%s\nwant\n%s\nstream %x",
					tier, len(p), len(content), l, log, src)
			}
		}
	}
}
