package pipeline

import (
	"fmt"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// trialSizes returns the size of src with each parse that a small block may have.
func trialSizes(ws *workspace, b *Block, m *match.Matcher) map[string]int {
	levels := b.run.cfg.Pipeline.levels
	sizes := map[string]int{}
	try := func(name string, params *match.Params, contexts bool) {
		form := *b.form()
		if contexts {
			form.Contexts = ws.contexts(b.src)
		}
		var seqs []lz77.Sequence
		if params != nil {
			seqs = m.ParseFrom(nil, b.src, 0, params, &form)
		}
		sizes[name] = ws.denseSize(b, seqs)
	}
	try("level's", &levels[MaxLevel], false)
	try("none", nil, false)
	if len(b.src) > tinyBlock {
		try("level's, contexts", &levels[MaxLevel], true)
		try("multi-hash, contexts", &smallTrials[0], true)
	}
	if len(b.src) <= smallBlock {
		if len(b.src) > tinyBlock {
			try("multi-hash", &smallTrials[0], false)
		}
		for i := range smallTrials[1:] {
			try(fmt.Sprint("lazy ", smallTrials[1+i].HashBytes), &smallTrials[1+i], false)
		}
	}
	return sizes
}

// TestSmallTrials: a small block gets the parse that takes the fewest bytes. For each parse there
// is content that needs it.
func TestSmallTrials(t *testing.T) {
	oneGoroutine(t)
	p := ByName("lzseqr")
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: MaxLevel})
	defer r.Close()
	ws, b := new(workspace), r.Get()
	var m match.Matcher
	sizes := []int{700, 3000, 10_000, smallBlock + 1}
	if brief() {
		sizes = []int{700, smallBlock + 1}
	}
	alone := map[string]int{} // blocks that have no other parse of that size
	for _, k := range kinds("text", "records") {
		for _, size := range sizes {
			src := k.MakeSeed(size, 5)
			b.src, b.raw = src, size
			b.payload = ws.takePayload()
			b.payload.ranges = nil
			sizes := trialSizes(ws, b, &m)
			ws.dense.marks = nil
			ws.matchPriced(b)
			if size <= tinyBlock && ws.dense.marks != nil {
				t.Errorf("%s of %d bytes: the worker looked for contexts", k.Name, size)
			}
			if len(b.payload.ranges) > 0 {
				continue // filtered; the sizes are of unfiltered content
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
	if brief() {
		return
	}
	for _, name := range []string{
		"level's, contexts", "level's", "none", "multi-hash, contexts", "multi-hash",
		"lazy 4", "lazy 5", "lazy 6",
	} {
		if alone[name] == 0 {
			t.Errorf("%s: never the best parse", name)
		}
	}
}

// TestSmallLevels: small blocks of any kind are about as small as at any lower level.
func TestSmallLevels(t *testing.T) {
	testenv.Long(t)
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
					t.Errorf("%s of %d bytes: level %d gives %d bytes, level %d %d",
						k.Name, size, level, n, by, least)
				}
				if n < least {
					least, by = n, level
				}
			}
		}
	}
}

// TestMostlyLiterals: at level 9, and only there, large blocks have no matches if that saves
// much.
func TestMostlyLiterals(t *testing.T) {
	oneGoroutine(t)
	p := ByName("lzseqr")
	for _, c := range []struct {
		kind string
		size int
		lits bool
	}{
		{"image", trialBlock * 24, true},
		{"text", trialBlock * 2, false},
		{"runs", trialBlock * 2, false},
		{"dna", trialBlock * 2, false},
	} {
		if brief() {
			c.size /= 2
		}
		src := corpus.ByName(c.kind).Make(c.size + 1)
		for level := p.dense; level <= MaxLevel; level++ {
			if brief() && level == 8 {
				continue
			}
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level})
			ws, b := new(workspace), r.Get()
			b.Src = src
			if !execute(ws, b) || b.Err != nil {
				t.Fatal(b.Err)
			}
			if seqs := len(ws.payload.seqs); seqs == 0 != (c.lits && level > 8) {
				t.Errorf("%s, level %d: %d sequences", c.kind, level, seqs)
			}
			back, err := decodeOne(new(workspace), p, encoded{b.Out(), b.Raw, b.Kind, 0}, false)
			if err != nil || string(back) != string(src) {
				t.Errorf("%s, level %d: content differs, error %v", c.kind, level, err)
			}
			r.Put(b)
			r.Close()
		}
	}
}
