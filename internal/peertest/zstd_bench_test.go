package peertest_test

import (
	"os"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
)

// BenchmarkZstdEncode runs the peer's encoder with its match finder, on the file that PZ_BENCH_FILE
// names or on prose. BenchmarkAppend of package zstd measures our encoder on the same content.
func BenchmarkZstdEncode(b *testing.B) {
	src := corpus.ByName("text").Make(8 << 20)
	if name := os.Getenv("PZ_BENCH_FILE"); name != "" {
		var err error
		src, err = os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, level := range []kzstd.EncoderLevel{
		kzstd.SpeedFastest, kzstd.SpeedDefault, kzstd.SpeedBetterCompression,
	} {
		b.Run(level.String(), func(b *testing.B) {
			e := zstdEncoder(b, level)
			var dst []byte
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = e.EncodeAll(src, dst[:0])
			}
			b.ReportMetric(float64(len(dst)), "size")
		})
	}
}

// BenchmarkZstdDecode decodes frames of the peer with both decoders.
func BenchmarkZstdDecode(b *testing.B) {
	const size = 1 << 20
	enc := zstdEncoder(b, kzstd.SpeedDefault)
	for _, k := range corpus.Kinds() {
		p := enc.EncodeAll(k.Make(size), nil)
		dst := make([]byte, size+zstd.DecodeSlack)
		b.Run(k.Name+"/ours", func(b *testing.B) {
			d := zstd.NewDecoder()
			b.SetBytes(size)
			for b.Loop() {
				if _, err := d.DecodeFrame(dst, p, nil, true); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(k.Name+"/klauspost", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := zstdDecoder.DecodeAll(p, dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
