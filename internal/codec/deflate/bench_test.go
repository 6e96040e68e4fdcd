package deflate

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// BenchmarkAppend measures encoding without match finding, in bytes of content.
func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"text", "source", "exe", "records", "random"} {
		data := corpus.ByName(name).Make(1 << 20)
		benchmark(b, name, data, matcher{depth: 32, lazy: true, maxMatch: MaxMatch}.parse(data, 0))
	}
	for _, f := range corpus.Real(b) {
		data := f.Data(b)
		data = data[:min(len(data), 4<<20)]
		m := matcher{depth: 32, lazy: true, maxMatch: MaxMatch}
		benchmark(b, f.Name, data, m.parse(data, 0))
	}
}

func benchmark(b *testing.B, name string, data []byte, seqs []lz77.Sequence) {
	b.Run(name, func(b *testing.B) {
		var e Encoder
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		out := e.Append(nil, data, seqs, true)
		for b.Loop() {
			out = e.Append(out[:0], data, seqs, true)
		}
		b.ReportMetric(float64(len(seqs)), "seqs")
		b.ReportMetric(float64(len(out)), "bytes")
	})
}
