package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// compressTuned compresses src in blocks with a tuning and returns them and their size.
func compressTuned(
	t testing.TB, p *Pipeline, level int, tuning Tuning, blockSize int, src []byte,
) (blocks []encoded, size int) {
	t.Helper()
	cfg := Config{Pipeline: p, Op: Compress, Level: level, Tuning: tuning, Checks: true}
	r := NewScheduler(1).Start(cfg)
	defer r.Close()
	for at := 0; at < len(src); at += blockSize {
		b := r.Get()
		b.Window = min(at, windowOf(p))
		b.Src = src[at-b.Window : min(len(src), at+blockSize)]
		r.Submit(b)
		b, _ = r.Next(true)
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		blocks = append(blocks, encoded{bytes.Clone(b.Out()), b.Raw, b.Kind, b.Sum})
		size += len(b.Out())
		b.Src = nil
		r.Put(b)
	}
	return blocks, size
}

// decodesTo fails the test unless the blocks decode to src.
func decodesTo(t testing.TB, p *Pipeline, blocks []encoded, src []byte) {
	t.Helper()
	if p.Format != container.PZ {
		return // the root package's tests have whole files
	}
	ws := new(workspace)
	for _, e := range blocks {
		got, err := decodeOne(ws, p, e, true)
		if err != nil || !bytes.Equal(got, src[:e.raw]) {
			t.Fatalf("content differs, error %v", err)
		}
		src = src[e.raw:]
	}
}

// gains lists what tuning must save of some kinds of data, with pipelines of .pz.
var gains = []struct {
	what     string
	kind     string
	from, to int // levels
	percent  int
	dense    bool // needs a pipeline with layout Dense
}{
	{"literals alone", "dna", 1, 6, 5, false},
	{"five bytes", "exe", 1, 1, 1, false},
	{"context-coded streams", "image", 5, 5, 5, true},
}

// TestTuning: no kind of data becomes more than 1% larger by tuning, 2% if several kinds are mixed,
// since a sample shows less of them. Kinds with a gain to expect become smaller.
func TestTuning(t *testing.T) {
	oneGoroutine(t)
	size := 1 << 19
	if brief() {
		size = 1 << 18
	}
	for i := range table {
		p := &table[i]
		t.Run(p.Name, func(t *testing.T) {
			for _, level := range levels(1, 5) {
				if brief() && level == 5 && p.dense == 0 {
					level = 8
				}
				for _, k := range kinds("dna", "exe", "image", "text") {
					n := hardSize(p, level, size)
					if level > 6 {
						n = min(n, 1<<15)
					}
					tunedNoLarger(t, p, level, k.Name, k.Make(n))
				}
			}
		})
	}
}

func tunedNoLarger(t *testing.T, p *Pipeline, level int, kind string, src []byte) {
	t.Helper()
	blockSize, percent := len(src)/2, 1
	if kind == "mixed" {
		percent = 2
	}
	_, fixed := compressTuned(t, p, level, TuneFixed, blockSize, src)
	for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
		blocks, got := compressTuned(t, p, level, tuning, blockSize, src)
		decodesTo(t, p, blocks, src)
		if got > fixed+fixed*percent/100 {
			t.Errorf("level %d, %v: %s takes %d bytes, and %d without", level, tuning, kind, got, fixed)
		}
		for _, g := range gains {
			applies := g.kind == kind && g.from <= level && level <= g.to &&
				p.Format == container.PZ && (!g.dense || p.dense != 0)
			if applies && got > fixed-fixed*g.percent/100 {
				t.Errorf("level %d, %v: %s takes %d bytes, and %d without: %s would be better",
					level, tuning, kind, got, fixed, g.what)
			}
		}
	}
}

// TestTuningFar: repeats that are too far away for a sample keep a block from becoming literals
// alone.
func TestTuningFar(t *testing.T) {
	oneGoroutine(t)
	p := ByName("lzseqr")
	half := corpus.ByName("dna").Make(1 << 17)
	src := append(bytes.Clone(half), half...)
	for level := 1; level <= 6; level++ {
		_, fixed := compressTuned(t, p, level, TuneFixed, len(src), src)
		_, alone := compressTuned(t, p, level, TuneTrial, len(half), half)
		for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
			if _, got := compressTuned(t, p, level, tuning, len(src), src); got > fixed+fixed/100 {
				t.Errorf("level %d, %v: %d bytes, and %d without; half of it alone takes %d",
					level, tuning, got, fixed, alone)
			}
		}
		if _, lits := compressTuned(t, p, level, TuneFixed, len(half), half); alone > lits-lits/20 {
			t.Errorf("level %d: half of it takes %d bytes, %d without tuning: the test shows nothing",
				level, alone, lits)
		}
	}
}

// TestTuningWords: short words of a dictionary that repeat far away keep a block from becoming
// literals alone, and from settings that suit only the sample.
func TestTuningWords(t *testing.T) {
	oneGoroutine(t)
	size, alphabets := 1<<20, []string{"ACGT", "ACGTN", "01234567"}
	if brief() {
		size, alphabets = 1<<18, alphabets[1:2]
	}
	for _, letters := range alphabets {
		for _, each := range []int{2, 4} {
			src := dictionaryText(size, 30, size/30/each, letters)
			for _, name := range []string{"lzseqr", "lzf"} {
				for level := 1; level <= 6; level++ {
					_, fixed := compressTuned(t, ByName(name), level, TuneFixed, size, src)
					for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
						_, got := compressTuned(t, ByName(name), level, tuning, size, src)
						if got > fixed+fixed/100 {
							t.Errorf("%s, level %d, %v: %d bytes, and %d without; words of %q, %d times each",
								name, level, tuning, got, fixed, letters, each)
						}
					}
				}
			}
		}
	}
}

// dictionaryText returns size bytes of a dictionary's words of n letters each, in random order.
func dictionaryText(size, n, words int, letters string) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	dictionary := make([]byte, words*n)
	for i := range dictionary {
		dictionary[i] = letters[r.IntN(len(letters))]
	}
	src := make([]byte, 0, size+n)
	for len(src) < size {
		k := r.IntN(words)
		src = append(src, dictionary[k*n:k*n+n]...)
	}
	return src[:size]
}

// TestTuningMemory: tuning stays within Memory.
func TestTuningMemory(t *testing.T) {
	oneGoroutine(t)
	most := 1 << 18
	if brief() {
		most = 1 << 17
	}
	for i := range table {
		p := &table[i]
		for _, level := range levels(1, 5, 7) {
			size := hardSize(p, level, most)
			ws := new(workspace)
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level, Tuning: TuneTrial})
			for _, src := range [][]byte{
				words(size, 40, 4, 33), manyTables(size),
				corpus.ByName("skewed").Make(size), corpus.ByName("image").Make(size),
				corpus.ByName("short").Make(size), corpus.ByName("dna").Make(size),
			} {
				b := r.Get()
				b.Src = src
				if !execute(ws, b) || b.Err != nil {
					t.Fatal(b.Err)
				}
				b.Src = nil
				r.Put(b)
			}
			r.Close()
			cfg := Config{Pipeline: p, Op: Compress, Level: level, Tuning: TuneTrial, BlockSize: size}
			bound := cfg.memory(1, 1)
			if got := footprint(ws); got > bound {
				t.Errorf("%s, level %d: holds %d bytes, Memory says %d", p.Name, level, got, bound)
			}
		}
	}
}

// TestTuningAllocs: tuning a block allocates nothing.
func TestTuningAllocs(t *testing.T) {
	testenv.Measures(t)
	some := []int{1, 3, 5, 9}
	if brief() {
		some = []int{3, 5}
	}
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, level := range some {
			cfg := Config{Pipeline: p, Op: Compress, Level: level, Tuning: TuneTrial, InFlight: 1}
			r := NewScheduler(1).Start(cfg)
			var blocks [][]byte
			for _, name := range []string{"text", "dna", "image"} {
				blocks = append(blocks, corpus.ByName(name).Make(20_000))
			}
			cycle := func() {
				for _, src := range blocks {
					b := r.Get()
					copy(b.Grow(len(src)), src)
					r.Submit(b)
					b, _ = r.Next(true)
					r.Put(b)
				}
			}
			for range 3 {
				cycle()
			}
			if n := testing.AllocsPerRun(5, cycle); n != 0 {
				t.Errorf("level %d: %v allocations", level, n)
			}
			r.Close()
		}
	})
}

func TestTuningString(t *testing.T) {
	got := fmt.Sprint(TuneFixed, TuneAuto, TuneTrial, TuneLiterals, Tuning(9))
	if got != "fixed auto trial literals Tuning(9)" {
		t.Error(got)
	}
}
