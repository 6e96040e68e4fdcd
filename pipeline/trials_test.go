package pipeline

import (
	"fmt"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// TestSmallWays: of the ways to parse a small block the one that takes the fewest bytes is taken,
// and there is content for which each of them does.
func TestSmallWays(t *testing.T) {
	if testing.Short() {
		t.Skip("every way on every kind of data")
	}
	p := ByName("lzseqr")
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: MaxLevel})
	defer r.Close()
	ws, b := new(workspace), r.Get()
	var m lz77.Matcher
	alone := map[string]int{} // pieces for which there is no other way
	for _, k := range corpus.Kinds() {
		for _, size := range []int{700, 3000, 10_000, smallBlock + 1} {
			src := k.MakeSeed(size, 5)
			b.Src, b.Raw = src, size
			b.payload = ws.takePayload()
			b.payload.ranges = nil
			sizes := map[string]int{}
			try := func(name string, params *lz77.Params, contexts bool) {
				limits := *b.limits()
				if contexts {
					limits.Contexts = ws.contexts(src)
				}
				var seqs []lz77.Sequence
				if params != nil {
					seqs = m.ParseFrom(nil, src, 0, params, limits)
				}
				sizes[name] = ws.denseSize(b, seqs)
			}
			try("level's, contexts", &p.levels[MaxLevel], true)
			try("level's", &p.levels[MaxLevel], false)
			try("none", nil, false)
			try("ladder, contexts", &smallTrials[0], true)
			if size <= smallBlock {
				try("ladder", &smallTrials[0], false)
				for i := range smallTrials[1:] {
					try(fmt.Sprint("lazy ", smallTrials[1+i].HashBytes), &smallTrials[1+i], false)
				}
			}
			ws.matchDense(b)
			if len(b.payload.ranges) > 0 {
				continue // filtered; the sizes are of what is not
			}
			got := ws.denseSize(b, b.payload.seqs)
			least, second, by := size*2, size*2, ""
			for name, n := range sizes {
				if n < least {
					least, second, by = n, least, name
				} else {
					second = min(second, n)
				}
			}
			if got != least {
				t.Errorf("%s of %d bytes: %d, and %d by %s", k.Name, size, got, least, by)
			}
			if least < second {
				alone[by]++
			}
		}
	}
	b.payload = nil
	t.Log(alone)
	for _, name := range []string{"level's, contexts", "level's", "none", "ladder, contexts", "ladder", "lazy 4", "lazy 5", "lazy 6"} {
		if alone[name] == 0 {
			t.Errorf("%s: never the best way", name)
		}
	}
}

// TestSmallLevels: small blocks of any kind are about as small as at any lower level.
func TestSmallLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("every level on every kind of data")
	}
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

// TestMostlyLiterals: large blocks have no matches where that saves much, above level 7, and only
// there.
func TestMostlyLiterals(t *testing.T) {
	p := ByName("lzseqr")
	for _, c := range []struct {
		kind string
		size int
		lits bool
	}{{"image", trialBlock * 24, true}, {"text", trialBlock * 2, false}, {"runs", trialBlock * 2, false}, {"dna", trialBlock * 2, false}} {
		src := corpus.ByName(c.kind).Make(c.size)
		for level := p.dense; level <= MaxLevel; level++ {
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level})
			ws, b := new(workspace), r.Get()
			b.Src, b.Raw, b.Kind = src, len(src), Coded
			if !execute(ws, b) || b.Err != nil {
				t.Fatal(b.Err)
			}
			if seqs := len(ws.payload.seqs); seqs == 0 != (c.lits && level > 7) {
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
