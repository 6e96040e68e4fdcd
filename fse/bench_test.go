package fse

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

func benchData() []byte { return corpus.ByName("skewed").Make(64 << 10) }

func BenchmarkEncode(b *testing.B) {
	src := benchData()
	var counts [MaxSymbols]uint32
	for _, states := range []int{1, 2} {
		b.Run([]string{"", "one", "two"}[states], func(b *testing.B) {
			var e Encoder
			var d Distribution
			var dst []byte
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				clear(counts[:])
				simd.Histogram(&counts, src)
				d.Normalize(counts[:], 11, false)
				e.Table.Build(&d)
				dst = e.Append(d.Append(dst[:0]), src, states)
			}
			b.ReportMetric(float64(len(dst)), "size")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	src := benchData()
	var e Encoder
	var d Distribution
	d.Normalize(histogram(src), 11, false)
	e.Table.Build(&d)
	dst := make([]byte, len(src))
	for _, states := range []int{1, 2} {
		code := e.Append(d.Append(nil), src, states)
		b.Run([]string{"", "one", "two"}[states], func(b *testing.B) {
			var dec DecTable
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				n, _ := d.Read(code, MaxLog, MaxSymbols)
				dec.Build(&d)
				if err := dec.Decode(dst, code[n:], states); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	src := corpus.ByName("text").Make(10_000)
	for _, log := range []int{6, 9, 12} {
		var d Distribution
		d.Normalize(histogram(src), log, true)
		b.Run("encoder", func(b *testing.B) {
			var t EncTable
			for b.Loop() {
				t.Build(&d)
			}
		})
		b.Run("decoder", func(b *testing.B) {
			var t DecTable
			for b.Loop() {
				t.Build(&d)
			}
		})
		b.Run("normalize", func(b *testing.B) {
			counts := histogram(src)
			for b.Loop() {
				d.Normalize(counts, log, true)
			}
		})
	}
}
