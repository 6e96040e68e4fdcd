package rans

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// TestNothingBehind decodes input that ends with the last group, so that the words end before the
// symbols do. The decoder then continues from its padded buffer, in the middle of a round.
func TestNothingBehind(t *testing.T) {
	eachTier(t, testNothingBehind)
}

func testNothingBehind(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(15, 16))
	const small = model.SmallLimit
	for _, n := range []int{
		50, 51, 52, 53, 1000, 1001, 1002, 1003, small, small + 1, small + 17, small + 31, small + 95,
	} {
		failed := 0
		var first error
		for bits := 1; bits < 7; bits++ {
			p := skewed(r, n, bits)
			code := e.Append(nil, 0, p)
			for behind := range 4 {
				in := append(bytes.Clone(code), make([]byte, behind)...)
				var out []byte
				rest, err := d.Decode(in[:len(in):len(in)], same(n), &out)
				if err != nil || len(rest) != behind || !bytes.Equal(out, p) {
					failed++
					first = err
				}
			}
		}
		if failed != 0 {
			t.Errorf("%d symbols: %d of 24 decoded wrongly; last error: %v", n, failed, first)
		}
	}
}

// TestNoReference checks that an idle decoder does not keep its last input and output alive.
func TestNoReference(t *testing.T) {
	var e Encoder
	var d Decoder
	for _, n := range []int{1000, 2 * model.SmallLimit} {
		p := skewed(rand.New(rand.NewPCG(17, 18)), n, 4)
		code := append(e.Append(nil, 0, p), make([]byte, 100)...)
		var out []byte
		if _, err := d.Decode(code, []int{n}, &out); err != nil {
			t.Fatal(err)
		}
		for i := range d.groups {
			if g := &d.groups[i]; g.Words != nil || g.Dst != nil {
				t.Errorf("%d symbols: group %d still refers to the input or the output", n, i)
			}
		}
	}
}
