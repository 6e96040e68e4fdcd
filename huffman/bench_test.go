package huffman

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
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
