package deflate

import (
	"bytes"
	"testing"

	kflate "github.com/klauspost/compress/flate"

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

// BenchmarkLiterals encodes literals alone, as the peer can, too.
func BenchmarkLiterals(b *testing.B) {
	for _, name := range []string{"text", "exe", "skewed"} {
		data := corpus.ByName(name).Make(1 << 20)
		benchmark(b, name+"/ours", data, nil)
		b.Run(name+"/klauspost", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var out bytes.Buffer
			w, err := kflate.NewWriter(&out, kflate.HuffmanOnly)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				out.Reset()
				w.Reset(&out)
				_, _ = w.Write(data)
				_ = w.Close()
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}
