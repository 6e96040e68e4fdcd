package huffman

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// encoded returns the description of a code for src, and src as one stream and as four.
func encoded(t testing.TB, src []byte) (tree, one, four []byte) {
	t.Helper()
	var counts [256]uint32
	for _, c := range src {
		counts[c]++
	}
	var b Builder
	var table Table
	tree, _, ok := b.AppendBest(nil, &table, &counts, true)
	if !ok {
		return nil, nil, nil
	}
	if len(src) >= MinStreams4 {
		four = table.Append4(nil, src)
	}
	return tree, table.Append1(nil, src), four
}

// TestLiteralDecoder decodes content of all kinds and of many sizes.
func TestLiteralDecoder(t *testing.T) {
	var d LiteralDecoder
	sizes := []int{100, 1000, 4096, 30_001, 128 << 10}
	for n := 2; n < 64; n++ {
		sizes = append(sizes, n)
	}
	done := 0
	for _, k := range corpus.Kinds() {
		for _, n := range sizes {
			src := k.Make(n)
			if bytes.Count(src, src[:1]) == len(src) {
				continue
			}
			tree, one, four := encoded(t, src)
			if tree == nil {
				continue
			}
			if size, err := d.Read(tree); err != nil || size != len(tree) {
				t.Fatalf("%s, %d bytes: tree of %d bytes: %d, %v", k.Name, n, len(tree), size, err)
			}
			got := make([]byte, n)
			if err := d.Decode1(got, one); err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%s, %d bytes, one stream: %v", k.Name, n, err)
			}
			clear(got)
			if four != nil {
				if err := d.Decode4(got, four); err != nil || !bytes.Equal(got, src) {
					t.Fatalf("%s, %d bytes, four streams: %v", k.Name, n, err)
				}
			}
			done++
		}
	}
	if done < 500 {
		t.Errorf("only %d inputs have codes", done)
	}
}

// TestLiteralDecoderDamage changes streams and compares with reference.
func TestLiteralDecoderDamage(t *testing.T) {
	var d LiteralDecoder
	r := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for i := range 4000 {
		kinds := corpus.Kinds()
		src := kinds[i%len(kinds)].Make(6 + r.IntN(400))
		if bytes.Count(src, src[:1]) == len(src) {
			continue
		}
		tree, one, four := encoded(t, src)
		if tree == nil {
			continue
		}
		for _, code := range [][]byte{tree, one, four} {
			switch r.IntN(4) {
			case 0:
				code[r.IntN(len(code))] ^= 1 << r.IntN(8)
			case 1:
				code[len(code)-1] ^= 1 << r.IntN(8)
			case 2:
				code[r.IntN(min(6, len(code)))] = byte(r.Uint32())
			}
		}
		if _, err := d.Read(tree); err != nil {
			continue
		}
		if i%2 == 0 {
			d.build(MaxTableBits)
		}
		simple := newReference(&d.lens)
		one, four = one[:len(one)-r.IntN(2)], four[:len(four)-r.IntN(2)]
		size := max(0, len(src)+r.IntN(3)-1)
		a, b := make([]byte, size), make([]byte, size)
		for _, f := range []func() (error, error){
			func() (error, error) { return d.Decode1(a, one), simple.decode1(b, one) },
			func() (error, error) { return d.Decode4(a, four), simple.decode4(b, four) },
		} {
			err, wantErr := f()
			if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(a, b) {
				t.Fatalf("%d bytes: %v, want %v", size, err, wantErr)
			}
			if err == nil {
				accepted++
			}
		}
	}
	if accepted < 300 {
		t.Errorf("only %d streams accepted", accepted)
	}
}
