package refdec

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/mutants"
)

// maxBase is the size of the largest file to mutate, in bytes.
const maxBase = 1 << 13

// bases returns small files that have all layouts, all kinds of blocks and all kinds of streams.
func bases(t testing.TB) (list [][]byte) {
	files := goldenFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if len(files[name]) <= maxBase {
			list = append(list, files[name])
		}
	}
	dict := jsonDictionary().option()
	for _, kind := range []string{"text", "log", "json", "records", "exe", "mixed"} {
		content := corpus.ByName(kind).Make(3000)
		for _, level := range []int{1, 5, 9} {
			list = append(list,
				encode(t, content, compress.WithLevel(level)),
				encode(t, content[:600], compress.WithLevel(level), bridge.Pipeline("lzr")))
		}
		list = append(list,
			encode(t, slices.Concat(content, content, make([]byte, 5000)), compress.WithBlockSize(1<<12)),
			encode(t, content, dict, compress.WithLevel(1+len(list)%9)),
			encode(t, slices.Concat(content, make([]byte, 5000), content), compress.WithBlockSize(1<<12),
				compress.WithLongDistance(compress.MinWindow), compress.WithLevel(1+len(list)%9)))
	}
	for _, kind := range []string{"skewed", "text", "records"} { // lane groups of 32 lanes
		content := corpus.ByName(kind).Make(20_000)
		list = append(list, encode(t, content[:9000]), encode(t, content, compress.WithLevel(9)))
	}
	return append(list,
		encodeFlushed(t, []byte(house), make([]byte, 99), []byte(house)),
		encode(t, entries(), compress.WithChecksum(false)),
		encode(t, entries(), compress.WithContentSize(1<<10), compress.WithLevel(9)),
		slices.Concat(files["flushed.pz"], files["tiny.pz"], files["unchecked.pz"]),
	)
}

// check compares what decoders make of a file.
func (c comparer) check(file []byte, large bool, seed uint64) (fault string, v mutants.Verdict) {
	if large {
		return c.Bounded(file, mutants.ContentLimit, true), mutants.Large
	}
	fault, err := c.compare(rand.New(rand.NewPCG(seed, 1)), file)
	switch {
	case err == nil:
		v = mutants.Valid
	case strings.HasPrefix(err.Error(), "block "):
		v = mutants.Inside
	}
	return fault, v
}

// isLarge reports whether the content of a file may be too large for the reference decoder.
func isLarge(file []byte) bool {
	_, large := parseTree(file).bytes()
	return large
}

// FuzzMutants changes the parts of a file as a script says, computes all checks anew, and compares
// all decoders. Without a script it takes the file as it is.
func FuzzMutants(f *testing.F) {
	var donors []tree
	for i, file := range bases(f) {
		donors = append(donors, parseTree(file))
		f.Add(file, []byte{byte(i), 1, 2, 3, byte(5 * i)}, uint64(i))
	}
	c := newComparer(f)
	var w mutants.Watchdog
	w.Start(f)
	f.Fuzz(func(t *testing.T, file, script []byte, seed uint64) {
		if len(file) > 4*maxBase || len(script) > 1<<10 {
			return
		}
		w.Do(func() {
			large := false
			if len(script) > 0 {
				file, large = mutate(mutants.Script(script), parseTree(bytes.Clone(file)), donors)
			} else {
				large = isLarge(file)
			}
			if fault, _ := c.check(file, large, seed); fault != "" {
				t.Fatalf("%s\n%s", fault, dump(file))
			}
		})
	})
}

// TestMutants tries mutants of all files.
func TestMutants(t *testing.T) {
	var donors []tree
	for _, file := range bases(t) {
		donors = append(donors, parseTree(file))
	}
	c := newComparer(t)
	x := mutants.Trial{Check: c.check, Rounds: 2000}
	x.Make = func(r *rand.Rand) (file []byte, large bool) {
		return mutate(r, donors[r.IntN(len(donors))], donors)
	}
	x.Run(t)
}
