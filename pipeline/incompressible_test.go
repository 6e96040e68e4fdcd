package pipeline

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// kindOf returns the kind that a block gets.
func kindOf(t *testing.T, p *Pipeline, src []byte) uint8 {
	t.Helper()
	coded, err := compressAll(NewScheduler(1), p, 5, len(src), src)
	if err != nil {
		t.Fatal(err)
	}
	return coded[0].kind
}

func TestFillDetection(t *testing.T) {
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, n := range []int{1, 2, 3, 8, 9, 100, 4097} {
			for _, c := range []byte{0, 1, 0xff} {
				src := bytes.Repeat([]byte{c}, n)
				if k := kindOf(t, p, src); k != fillKind {
					t.Errorf("%d times %d: kind %d", n, c, k)
				}
				for _, at := range []int{0, n / 2, n - 1} {
					// One byte differs, anywhere.
					if n > 1 {
						src[at] ^= 0x40
						if k := kindOf(t, p, src); k == fillKind {
							t.Errorf("%d bytes, another one at %d: taken for a fill", n, at)
						}
						src[at] ^= 0x40
					}
				}
			}
		}
	})
}

func TestIncompressible(t *testing.T) {
	const size = 1 << 18
	random := corpus.ByName("random").Make(size)
	twice := func(piece, from, to int) []byte {
		p := slices.Clone(random)
		copy(p[to:to+piece], p[from:])
		return p
	}
	for _, c := range []struct {
		name   string
		src    []byte
		stored bool
	}{
		{"random", random, true},
		{"random, least size", random[:2*sampleSize], true},
		{"4 KiB twice, far apart", twice(4096, 1000, size-5000), false},
		{"4 KiB twice, at the ends", twice(4096, 0, size-4096), false},
		{"4 KiB twice, side by side", twice(4096, size/2, size/2+4096), false},
		{"second half equal to the first", twice(size/2, 0, size/2), false},
		{"text", corpus.ByName("text").Make(size), false},
		{"image", corpus.ByName("image").Make(size), false},
		{"short", corpus.ByName("short").Make(size), false},
		{"seven bits", sevenBits(random), false},
		{"too small to tell", random[:2*sampleSize-1], false},
	} {
		ws := new(workspace)
		for range 2 { // what an earlier block left must not matter
			if got := ws.incompressible(c.src, 0); got != c.stored {
				t.Errorf("%s: incompressible says %v", c.name, got)
			}
		}
		if c.name == "too small to tell" {
			continue
		}
		// The offsets of lzr are smaller than the distances of some repeats.
		if k := kindOf(t, ByName("lzseqr"), c.src); (k == storedKind) != c.stored {
			t.Errorf("%s: kind %d", c.name, k)
		}
	}
}

func sevenBits(p []byte) []byte {
	p = slices.Clone(p)
	for i := range p {
		p[i] &= 0x7f
	}
	return p
}
