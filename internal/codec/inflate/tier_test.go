package inflate

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// steps decodes src in chunks whose sizes depend on seed, with the given tier of kernels. The
// chunks, and the content with its room, lie at the beginning or at the end of input and room. log
// has what each call returned, and the state of the Decoder after it.
func steps(t *testing.T, tier string, src []byte, seed uint64, room, input []byte) (res result, log string) {
	defer simd.SetTier(simd.SetTier(tier))
	r := rand.New(rand.NewPCG(seed, 0))
	var d Decoder
	var b bytes.Buffer
	atOnce, front := r.IntN(2) == 0, r.IntN(4) == 0
	place := func(p []byte, n int) []byte {
		if front {
			return p[:n:n]
		}
		return p[len(p)-n:]
	}
	most := 1 + r.IntN(2000)
	for {
		chunk, space := min(len(src), len(input)), len(room)-WindowSize
		if !atOnce {
			chunk, space = min(chunk, 1+r.IntN(most)), 1+r.IntN(min(3*most, space))
		}
		at := min(len(res.content), WindowSize)
		dst := place(room, at+space)
		copy(dst, res.content[len(res.content)-at:])
		p := place(input, chunk)
		copy(p, src)
		n, used, err := d.Decode(dst, at, p)
		res.content = append(res.content, dst[at:at+n]...)
		res.used += used
		src = src[used:]
		fmt.Fprintln(&b, n, used, err, d.phase, d.bits, d.count)
		if err == nil && n < space && used < chunk {
			t.Fatalf("%s stops for no reason: %s\nstream %x", tier, b.String(), src)
		}
		if err == nil && n < space && len(src) == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			res.err = err
			if err == io.EOF {
				res.err = nil
			}
			return res, b.String()
		}
	}
}

// TestTiers decodes good and damaged streams with each tier of kernels. Results, errors, and the
// state after each call must be those of the portable code. The memory lies between guard pages.
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
	room, input := testenv.Guarded(t, 128<<10), testenv.Guarded(t, 128<<10)
	for i := range rounds {
		src := streams[r.IntN(len(streams))]
		if i >= 2*len(streams) {
			src = mutate(r, bytes.Clone(src))
		} else {
			src = streams[i/2]
		}
		want, log := steps(t, tiers[0], src, uint64(i), room, input)
		for _, tier := range tiers[1:] {
			got, l := steps(t, tier, src, uint64(i), room, input)
			if !bytes.Equal(got.content, want.content) || l != log {
				t.Fatalf("%s: %d bytes of content, want %d or other ones; steps\n%s\nwant\n%s\nstream %x",
					tier, len(got.content), len(want.content), l, log, src)
			}
		}
	}
}
