package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// tuned returns the blocks of src, compressed with a tuning, and their size.
func tuned(t testing.TB, p *Pipeline, level int, tuning Tuning, blockSize int, src []byte) (blocks []encoded, size int) {
	t.Helper()
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level, Tuning: tuning, Checks: true})
	defer r.Close()
	for at := 0; at < len(src); at += blockSize {
		b := r.Get()
		b.Window = min(at, p.Window)
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

// restored fails unless the blocks decode to src.
func restored(t testing.TB, p *Pipeline, blocks []encoded, src []byte) {
	t.Helper()
	if p.Format != PZ {
		return // the root package's tests have whole files
	}
	ws := new(workspace)
	for _, e := range blocks {
		got, err := decodeOne(ws, p, e, true)
		if err != nil || !bytes.Equal(got, src[:e.raw]) {
			t.Fatalf("restored: %v", err)
		}
		src = src[e.raw:]
	}
}

// TestTuning: whatever is chosen, no kind of data becomes more than 1% larger, and those that the
// choices are for become smaller.
func TestTuning(t *testing.T) {
	alone(t)
	size := 1 << 19
	if small() {
		size = 1 << 18
	}
	// What must be smaller with both tunings, from one level to another, and by how many percent.
	smaller := map[string]struct {
		kind           string
		from, to, part int
	}{
		"literals alone": {"dna", 1, 6, 5},
		"five bytes":     {"exe", 1, 1, 3},
		"chained":        {"image", 5, 6, 5},
	}
	for i := range table {
		p := &table[i]
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for level := 1; level <= MaxLevel; level++ {
				for _, k := range corpus.Kinds() {
					n := hardSize(p, level, size)
					if level > 6 {
						n = min(n, 1<<15)
					}
					src := k.Make(n)
					_, fixed := tuned(t, p, level, TuneFixed, n/2, src)
					for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
						blocks, got := tuned(t, p, level, tuning, n/2, src)
						restored(t, p, blocks, src)
						if got > fixed+fixed/100 {
							t.Errorf("level %d, %v: %s takes %d bytes, and %d without", level, tuning, k.Name, got, fixed)
						}
						for what, s := range smaller {
							if s.kind == k.Name && s.from <= level && level <= s.to && p.Format == PZ && (what != "chained" || p.dense != 0) && got > fixed-fixed*s.part/100 {
								t.Errorf("level %d, %v: %s takes %d bytes, and %d without: %s would be better", level, tuning, k.Name, got, fixed, what)
							}
						}
					}
				}
			}
		})
	}
}

// TestTuningFar: repeats that are too far away for a sample to show keep a block from being
// literals alone.
func TestTuningFar(t *testing.T) {
	alone(t)
	p := ByName("lzseqr")
	half := corpus.ByName("dna").Make(1 << 17)
	src := append(bytes.Clone(half), half...)
	for level := 1; level <= 6; level++ {
		_, fixed := tuned(t, p, level, TuneFixed, len(src), src)
		_, alone := tuned(t, p, level, TuneTrial, len(half), half)
		for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
			if _, got := tuned(t, p, level, tuning, len(src), src); got > fixed+fixed/100 {
				t.Errorf("level %d, %v: %d bytes, and %d without; half of it alone takes %d", level, tuning, got, fixed, alone)
			}
		}
		if _, plain := tuned(t, p, level, TuneFixed, len(half), half); alone > plain-plain/20 {
			t.Errorf("level %d: half of it alone takes %d bytes, %d without: the test shows nothing", level, alone, plain)
		}
	}
}

// TestTuningWords: nor do words of a dictionary that come again far away, short as they are, let a
// block be literals alone, or have settings that suit the sample.
func TestTuningWords(t *testing.T) {
	alone(t)
	size := 1 << 20
	if small() {
		size = 1 << 18
	}
	for _, letters := range []string{"ACGT", "ACGTN", "01234567"} {
		for _, each := range []int{2, 4} {
			src := dictionaryText(size, 30, size/30/each, letters)
			for _, name := range []string{"lzseqr", "lzf"} {
				for level := 1; level <= 6; level++ {
					_, fixed := tuned(t, ByName(name), level, TuneFixed, size, src)
					for _, tuning := range []Tuning{TuneAuto, TuneTrial} {
						if _, got := tuned(t, ByName(name), level, tuning, size, src); got > fixed+fixed/100 {
							t.Errorf("%s, level %d, %v: %d bytes, and %d without; words of %q, %d times each", name, level, tuning, got, fixed, letters, each)
						}
					}
				}
			}
		}
	}
}

// dictionaryText is size bytes of so many words of n letters each, in any order.
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

// TestTuningMemory: choosing, and what was chosen, stay within what Memory says.
func TestTuningMemory(t *testing.T) {
	alone(t)
	for i := range table {
		p := &table[i]
		for level := 1; level <= MaxLevel; level++ {
			size := hardSize(p, level, 1<<18)
			ws := new(workspace)
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level, Tuning: TuneTrial})
			for _, src := range [][]byte{words(size, 40, 4, 33), corpus.ByName("skewed").Make(size), corpus.ByName("image").Make(size), corpus.ByName("short").Make(size),
				corpus.ByName("dna").Make(size), manyTables(size)} {
				b := r.Get()
				b.Src, b.stage = src, 0
				if !execute(ws, b) || b.Err != nil {
					t.Fatal(b.Err)
				}
				b.Src = nil
				r.Put(b)
			}
			r.Close()
			if got, bound := footprint(ws), p.Memory(Compress, level, TuneTrial, size, 1, 0); got > bound {
				t.Errorf("%s, level %d: holds %d bytes, Memory says %d", p.Name, level, got, bound)
			}
		}
	}
}

// TestTuningAllocs: choosing allocates nothing for a block.
func TestTuningAllocs(t *testing.T) {
	alone(t)
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, level := range []int{1, 3, 5, 9} {
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level, Tuning: TuneTrial, InFlight: 1})
			var kinds [][]byte
			for _, name := range []string{"text", "dna", "image"} {
				kinds = append(kinds, corpus.ByName(name).Make(30_000))
			}
			cycle := func() {
				for _, src := range kinds {
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
			if n := testing.AllocsPerRun(10, cycle); n != 0 {
				t.Errorf("level %d: %v allocations", level, n)
			}
			r.Close()
		}
	})
}

func TestTuningString(t *testing.T) {
	if got := fmt.Sprint(TuneFixed, TuneAuto, TuneTrial, Tuning(9)); got != "fixed auto trial Tuning(9)" {
		t.Error(got)
	}
}
