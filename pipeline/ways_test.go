package pipeline

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestSmallWays: small blocks of any kind are about as small as at any lower level, for which nothing but their ways is to thank.
func TestSmallWays(t *testing.T) {
	p := ByName("lzseqr")
	for _, k := range corpus.Kinds() {
		for _, size := range []int{500, 2000, 8000} {
			src := k.MakeSeed(size, 5)
			least, by := size, 0
			for level := 1; level <= MaxLevel; level++ {
				coded, err := compressAll(NewScheduler(1), p, level, size, src)
				if err != nil {
					t.Fatal(err)
				}
				n := len(coded[0].payload)
				if level >= p.dense && n > least+least/32+8 {
					t.Errorf("%s of %d bytes: level %d gives %d bytes, level %d %d", k.Name, size, level, n, by, least)
				}
				if n < least {
					least, by = n, level
				}
			}
		}
	}
}

// TestMostlyLiterals: large blocks have no matches where that saves much, and only there.
func TestMostlyLiterals(t *testing.T) {
	p := ByName("lzseqr")
	for _, c := range []struct {
		kind string
		size int
		lits bool
	}{{"image", trialBlock * 10, true}, {"text", trialBlock * 2, false}, {"runs", trialBlock * 2, false}, {"dna", trialBlock * 2, false}} {
		src := corpus.ByName(c.kind).Make(c.size)
		for level := p.dense; level <= MaxLevel; level++ {
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level})
			ws, b := new(workspace), r.Get()
			b.Src, b.Raw, b.Kind = src, len(src), Coded
			if !execute(ws, b) || b.Err != nil {
				t.Fatal(b.Err)
			}
			if seqs := len(ws.payload.seqs); seqs == 0 != c.lits {
				t.Errorf("%s, level %d: %d sequences", c.kind, level, seqs)
			}
			back, err := decodeOne(new(workspace), p, encoded{b.Out(), b.Raw, b.Kind, 0}, false)
			if err != nil || string(back) != string(src) {
				t.Errorf("%s, level %d: comes back differently, or %v", c.kind, level, err)
			}
			r.Put(b)
			r.Close()
		}
	}
}
