package match

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// testSizes returns sizes around the bounds of the code: the tail where no match begins, loads of
// 8 bytes, the smallest tables, and the reach of 16 bits.
func testSizes() (sizes []int) {
	for n := range 41 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, 63, 64, 65, 80, 81, 255, 256, 257, 511, 513, 4095, 4096, 4097)
	if !tiny() {
		sizes = append(sizes, 1<<16-1, 1<<16, 1<<16+1, 1<<16+15, 1<<16+16, 1<<16+17)
	}
	return sizes
}

// TestParse: for every kind of content, sequences keep to the limits and give the content again.
// Earlier blocks of a Matcher, with other settings, make no difference.
func TestParse(t *testing.T) {
	sizes := testSizes()
	data := map[string][]byte{}
	for _, k := range corpus.Kinds() {
		data[k.Name] = k.Make(sizes[len(sizes)-1])
	}
	var used Matcher
	r := rand.New(rand.NewPCG(1, 2))
	other := corpus.ByName("mixed").MakeSeed(20_000, 9)
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		for _, k := range corpus.Kinds() {
			for _, n := range sizes {
				// Large sizes differ in the end of the block only, which a few kinds show.
				if n > 1<<15 && k.Name != "mixed" && k.Name != "runs" && k.Name != "far" && n != 1<<16+1 {
					continue
				}
				// The optimal parser is slow.
				if n > 1<<15 && p.Optimal() && (small() ||
					k.Name != "mixed" && (p != &Levels[MaxLevel] || form.Repeats == 0 || n != 1<<16+1)) {
					continue
				}
				src := data[k.Name][:n:n]
				var m Matcher
				seqs := m.ParseFrom(nil, src, 0, p, form)
				if err := valid(src, seqs, form); err != nil {
					t.Fatalf("%s, %d bytes: %v", k.Name, n, err)
				}
				if n < 16 && len(seqs) != 0 {
					t.Fatalf("%d sequences in %d bytes", len(seqs), n)
				}
				before := &Levels[1+r.IntN(MaxLevel)]
				what := other[:r.IntN(len(other))]
				if before.Optimal() {
					what = what[:len(what)/16] // slow
				}
				used.ParseFrom(nil, what, 0, before, testForms[r.IntN(2)])
				if again := used.ParseFrom(nil, src, 0, p, form); !slices.Equal(again, seqs) {
					t.Fatalf("%s, %d bytes: a used Matcher: %s", k.Name, n, differ(again, seqs))
				}
			}
		}
	})
}

// TestParseReused: a Matcher that has parsed large blocks finds in small ones what a new one finds.
// The content, random bytes of few symbols, has more candidates than there is room for.
func TestParseReused(t *testing.T) {
	forms := append([]*optimal.Form{otherForm(3, 1, 1<<15)}, testForms...)
	sizes := []int{3000, 8000, 20_000, 40_000}
	if small() {
		sizes, forms = sizes[:2], forms[:1]
	}
	r := rand.New(rand.NewPCG(3, 4))
	for level := 1; level <= MaxLevel; level++ {
		for _, form := range forms {
			var used Matcher
			used.ParseFrom(nil, make([]byte, 1<<17), 0, &Levels[level], form)
			for _, size := range sizes {
				for _, symbols := range []uint32{2, 3} {
					src := make([]byte, size)
					for i := range src {
						src[i] = byte(r.Uint32N(symbols))
					}
					var m Matcher
					want := m.ParseFrom(nil, src, 0, &Levels[level], form)
					if got := used.ParseFrom(nil, src, 0, &Levels[level], form); !slices.Equal(got, want) {
						t.Errorf("level %d, %d bytes of %d symbols: a used Matcher: %s",
							level, size, symbols, differ(got, want))
					}
				}
			}
		}
	}
}

// TestParseAppends: Parse keeps the sequences in dst.
func TestParseAppends(t *testing.T) {
	src := corpus.ByName("text").Make(5000)
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		var m Matcher
		want := m.ParseFrom(nil, src, 0, p, form)
		head := []lz77.Sequence{{LitLen: 1, MatchLen: 2, Offset: 3}, {LitLen: 4, MatchLen: 5, Offset: 6}}
		got := m.ParseFrom(slices.Clip(slices.Clone(head)), src, 0, p, form)
		if len(want) == 0 || !slices.Equal(got, append(head, want...)) {
			t.Errorf("behind two sequences: %s", differ(got, append(head, want...)))
		}
	})
}

// TestParseFrom: matches reach into the bytes in front of a block, and no sequence covers these.
func TestParseFrom(t *testing.T) {
	forms := append([]*optimal.Form{otherForm(4, 0, 1<<15)}, testForms...)
	for level := 1; level <= MaxLevel; level++ {
		for i, form := range forms {
			for _, kind := range []string{"text", "runs", "mixed"} {
				if small() && Levels[level].Optimal() && (kind == "runs" || i != level%len(forms)) {
					continue
				}
				src := corpus.ByName(kind).Make(60_000)
				starts := []int{1, 15, 16, 17, 30_000, 32 << 10}
				starts = append(starts, len(src)-17, len(src)-16, len(src)-15, len(src))
				if small() && Levels[level].Optimal() {
					starts = []int{1, 30_000, len(src) - 16, len(src)}
				}
				for _, start := range starts {
					var m Matcher
					seqs := m.ParseFrom(nil, src, start, &Levels[level], form)
					if !lz77.Valid(seqs, src, start, form.Limits, nil) {
						t.Fatalf("level %d, %s from %d: the sequences are not valid", level, kind, start)
					}
					if kind != "text" || start != 30_000 {
						continue
					}
					lits := uncovered(len(src)-start, seqs)
					seqs = m.ParseFrom(seqs[:0], src[start:], 0, &Levels[level], form)
					if alone := uncovered(len(src)-start, seqs); lits >= alone {
						t.Errorf("level %d: %d literals with 30,000 bytes in front, %d without",
							level, lits, alone)
					}
				}
			}
		}
	}
}

// TestFinds: at all levels a block whose halves are equal is half matches, nearly.
func TestFinds(t *testing.T) {
	half := corpus.ByName("random").Make(20_000)
	src := append(bytes.Clone(half), half...)
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		var m Matcher
		seqs := m.ParseFrom(nil, src, 0, p, form)
		if n := uncovered(len(src), seqs); n > len(half)*3/2 {
			t.Errorf("%d literals, want about %d", n, len(half))
		}
	})
}

// TestPeriods: few sequences cover content of any period, though offsets below 16 are not allowed.
func TestPeriods(t *testing.T) {
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		var m Matcher
		for period := 1; period <= 70; period++ {
			src := bytes.Repeat(corpus.ByName("random").Make(period), 4000/period)
			seqs := m.ParseFrom(nil, src, 0, p, form)
			if err := valid(src, seqs, form); err != nil {
				t.Fatalf("period %d: %v", period, err)
			}
			if n := uncovered(len(src), seqs); len(seqs) > 3 || n > 4*period+40 {
				t.Errorf("period %d: %d sequences, %d literals", period, len(seqs), n)
			}
		}
	})
}

// TestMaxOffset: a match is found if it is as far back as the limit allows, and not one byte
// farther.
func TestMaxOffset(t *testing.T) {
	piece := corpus.ByName("random").Make(400)
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		for _, limit := range []int{500, 4096, 1<<16 - 1} {
			for _, d := range []int{limit - 1, limit, limit + 1} {
				// Zeros between the copies are one match, which hardly changes the hash tables.
				src := append(bytes.Clone(piece), make([]byte, d-len(piece))...)
				src = append(src, piece...)
				src = append(src, make([]byte, 64)...)
				limited := *form
				limited.MaxOffset = limit
				var m Matcher
				seqs := m.ParseFrom(nil, src, 0, p, &limited)
				if err := valid(src, seqs, &limited); err != nil {
					t.Fatalf("distance %d, limit %d: %v", d, limit, err)
				}
				found := slices.ContainsFunc(seqs, func(s lz77.Sequence) bool { return int(s.Offset) == d })
				if found != (d <= limit) {
					t.Errorf("distance %d, limit %d: found %v, want %v", d, limit, found, d <= limit)
				}
			}
		}
	})
}

func TestParseAllocs(t *testing.T) {
	testenv.Measures(t)
	src := corpus.ByName("mixed").Make(100_000)
	forEachLevel(t, func(t *testing.T, p *Params, form *optimal.Form) {
		var m Matcher
		seqs := m.ParseFrom(nil, src, 0, p, form)
		if n := testing.AllocsPerRun(2, func() { seqs = m.ParseFrom(seqs[:0], src, 0, p, form) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, k := range corpus.Kinds() {
		f.Add(k.Make(300), uint8(len(k.Name)))
	}
	f.Fuzz(func(t *testing.T, src []byte, level uint8) {
		var m Matcher
		for _, form := range testForms {
			seqs := m.ParseFrom(nil, src, 0, &Levels[1+level%MaxLevel], form)
			if err := valid(src, seqs, form); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestFirstPosition: position 0 is a candidate like any other, although its table entry may equal
// an empty one.
func TestFirstPosition(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 100 {
		p := make([]byte, 64)
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			clear(p[:4]) // the tag is 0
		}
		src := slices.Concat(p, p, p[:32])
		forEachLevel(t, func(t *testing.T, params *Params, form *optimal.Form) {
			var m Matcher
			seqs := m.ParseFrom(nil, src, 0, params, form)
			if err := valid(src, seqs, form); err != nil {
				t.Fatal(err)
			}
			if len(seqs) == 0 || seqs[0].LitLen > 65 || seqs[0].Offset != 64 {
				t.Fatalf("%+v: got %v, want an offset of 64 first", params, seqs)
			}
		})
	}
}
