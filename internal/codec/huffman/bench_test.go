package huffman

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// BenchmarkLengths builds code lengths, with a limit that matters and with one that does not.
func BenchmarkLengths(b *testing.B) {
	p := corpus.ByName("text").Make(128 << 10)
	counts, _ := histogram(p)
	lens := make([]uint8, 256)
	for _, c := range []struct {
		name  string
		limit int
	}{{"free", 15}, {"limited", 8}} {
		b.Run(c.name, func(b *testing.B) {
			var h Builder
			b.ReportAllocs()
			for b.Loop() {
				h.Lengths(lens, counts[:], c.limit)
			}
		})
	}
}

// BenchmarkAppend4 encodes 64 KiB of prose, and of bytes with short codes.
func BenchmarkAppend4(b *testing.B) {
	for _, kind := range []string{"text", "skewed"} {
		src := corpus.ByName(kind).Make(64 << 10)
		counts, _ := histogram(src)
		var h Builder
		var t Table
		h.AppendBest(nil, &t, &counts, false)
		for _, tier := range simd.Tiers() {
			b.Run(kind+"/"+tier, func(b *testing.B) {
				defer simd.SetTier(simd.SetTier(tier))
				var dst []byte
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					dst = t.Append4(dst[:0], src)
				}
				b.ReportMetric(float64(t.max), "bits")
			})
		}
	}
}
