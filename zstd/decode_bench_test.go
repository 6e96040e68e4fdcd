package zstd

import (
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
)

// BenchmarkDecode decodes frames of klauspost's encoder with both decoders.
func BenchmarkDecode(b *testing.B) {
	const size = 1 << 20
	enc, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range corpus.Kinds() {
		p := enc.EncodeAll(k.Make(size), nil)
		dst := make([]byte, size+DecodeSlack)
		b.Run(k.Name+"/ours", func(b *testing.B) {
			d := NewDecoder()
			b.SetBytes(size)
			for b.Loop() {
				if _, err := d.DecodeFrame(dst, p, true); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(k.Name+"/klauspost", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := decoder.DecodeAll(p, dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
