package match

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// eachSetting calls f for all levels and for settings that no level has.
func eachSetting(f func(name string, p *Params, form *optimal.Form)) {
	for level := 1; level <= MaxLevel; level++ {
		f(fmt.Sprint("level", level), &Levels[level], testForms[level%len(testForms)])
	}
	f("short matches", &Levels[MaxLevel], otherForm(3, 1, 1<<15))
	f("short periods", &Levels[3], blockForm)
	f("hash chains", hashChains(16, 32), blockForm)
	f("deep hash chains", hashChains(300, 258), blockForm)
	f("blocks", tree(128, 258, 1), blockForm)
	f("blocks, one parse", tree(32, 96, 0), blockForm)
}

// TestWorstCases: sequences of adverse content are valid. A finder whose work grew with the square
// of the size would take minutes; BenchmarkWorstCases measures the time.
func TestWorstCases(t *testing.T) {
	size := 1 << 17
	if small() {
		size = 1 << 14
	}
	cases := corpus.Adverse(size)
	eachSetting(func(name string, p *Params, form *optimal.Form) {
		t.Run(name, func(t *testing.T) {
			var m Matcher
			for content, src := range cases {
				if seqs := m.ParseFrom(nil, src, 0, p, form); !lz77.Valid(seqs, src, 0, form.Limits, nil) {
					t.Errorf("%s: sequences are not valid", content)
				}
			}
		})
	})
}

// BenchmarkWorstCases measures adverse content beside text. No content should take more than about
// ten times as long as text.
func BenchmarkWorstCases(b *testing.B) {
	const size = 1 << 18
	cases := corpus.Adverse(size)
	cases["text"] = corpus.ByName("text").Make(size)
	eachSetting(func(name string, p *Params, form *optimal.Form) {
		for _, content := range slices.Sorted(maps.Keys(cases)) {
			b.Run(name+"/"+content, func(b *testing.B) {
				var m Matcher
				var seqs []lz77.Sequence
				b.SetBytes(size)
				for b.Loop() {
					seqs = m.ParseFrom(seqs[:0], cases[content], 0, p, form)
				}
			})
		}
	})
}

// TestBlocksValid: sequences of a form in blocks are valid for any content, size and start. The
// content has candidates at the ends of windows and matches longer than windows.
func TestBlocksValid(t *testing.T) {
	const window = 1 << 17
	params := tree(16, 258, 2)
	contents := corpus.Adverse(window + 5000)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(3000)
	}
	half := corpus.ByName("random").Make(window + 100)
	contents["far"] = slices.Concat(half, half[len(half)-30_000:], bytes.Repeat(half[:3], window/2))
	var m Matcher
	for name, src := range contents {
		for _, start := range []int{0, min(1<<15, len(src)/2)} {
			if small() && start > 0 && len(src) > 1<<16 {
				continue
			}
			seqs := m.ParseFrom(nil, src, start, params, blockForm)
			if !lz77.Valid(seqs, src, start, blockForm.Limits, nil) {
				t.Errorf("%s from %d: sequences are not valid", name, start)
			}
		}
	}
}
