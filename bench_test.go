package compress

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/internal/corpus"
)

// fileContent is the file that PZ_BENCH_FILE names, or generated data.
func fileContent(b *testing.B) []byte {
	name := os.Getenv("PZ_BENCH_FILE")
	if name == "" {
		return corpus.ByName("mixed").Make(64 << 20)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// BenchmarkThreads measures how much faster two workers are than one, by turns in one run: the median of the ratios of neighbours.
func BenchmarkThreads(b *testing.B) {
	content := fileContent(b)
	file := encode(b, content)
	var readers [2]*Reader
	var writers [2]*Writer
	for i := range readers {
		readers[i] = newReader(b, nil, WithConcurrency(i+1))
		writers[i] = newWriter(b, nil, WithConcurrency(i+1))
	}
	measure := func(b *testing.B, f func(i int) error) {
		var ratios []float64
		for b.Loop() {
			var took [2]time.Duration
			for i := range took {
				start := time.Now()
				if err := f(i); err != nil {
					b.Fatal(err)
				}
				took[i] = time.Since(start)
			}
			ratios = append(ratios, float64(took[0])/float64(took[1]))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "two/one")
	}
	b.Run("encode", func(b *testing.B) {
		measure(b, func(i int) error {
			writers[i].Reset(io.Discard)
			if _, err := writers[i].ReadFrom(bytes.NewReader(content)); err != nil {
				return err
			}
			return writers[i].Close()
		})
	})
	b.Run("decode", func(b *testing.B) {
		measure(b, func(i int) error {
			readers[i].Reset(bytes.NewReader(file))
			_, err := readers[i].WriteTo(io.Discard)
			return err
		})
	})
}
