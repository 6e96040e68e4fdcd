package zstd

import (
	"os"
	"strconv"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// benchData returns the file that PZ_BENCH_FILE names, or prose.
func benchData(b *testing.B) []byte {
	name := os.Getenv("PZ_BENCH_FILE")
	if name == "" {
		return corpus.ByName("text").Make(8 << 20)
	}
	src, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return src
}

// BenchmarkAppend encodes pieces of 8 MiB without match finding.
func BenchmarkAppend(b *testing.B) {
	src := benchData(b)
	for _, level := range []int{2, 4, 7, 9} {
		b.Run(strconv.Itoa(level), func(b *testing.B) {
			var m match.Matcher
			form := &optimal.Form{Limits: Limits, Model: Model}
			var pieces [][]byte
			var seqs [][]lz77.Sequence
			for rest := src; len(rest) > 0; {
				piece := rest[:min(len(rest), 8<<20)]
				rest = rest[len(piece):]
				pieces = append(pieces, piece)
				seqs = append(seqs, m.ParseFrom(nil, piece, 0, &match.Levels[level], form))
			}
			var e Encoder
			var dst []byte
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				for i, p := range pieces {
					dst = e.Append(dst, p, seqs[i])
				}
			}
			n := 0
			for _, s := range seqs {
				n += len(s)
			}
			b.ReportMetric(float64(len(dst)), "size")
			b.ReportMetric(float64(len(src))/float64(n), "B/seq")
		})
	}
}
