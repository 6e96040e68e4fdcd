package fse

import (
	"bytes"
	"errors"
	"testing"
	"time"

	kfse "github.com/klauspost/compress/fse"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// The benchmarks of klauspost's fse include counting, describing and building tables.

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
	b.Run("klauspost", func(b *testing.B) {
		var s kfse.Scratch
		var dst []byte
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			var err error
			if dst, err = kfse.Compress(src, &s); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(dst)), "size")
	})
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
	b.Run("klauspost", func(b *testing.B) {
		var s kfse.Scratch
		code, err := kfse.Compress(src, &s)
		if err != nil {
			b.Fatal(err)
		}
		code = bytes.Clone(code)
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			if _, err := kfse.Decompress(code, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPeer runs this package with two states and klauspost's fse by turns and reports the
// shortest times. "×peer" is the speed relative to klauspost's.
func BenchmarkPeer(b *testing.B) {
	src := benchData()
	var counts [MaxSymbols]uint32
	var e Encoder
	var d Distribution
	var dec DecTable
	var peer, peerDec kfse.Scratch
	var code, peerCode []byte
	back := make([]byte, len(src))
	run := func(name string, ours, theirs func() error) {
		b.Run(name, func(b *testing.B) {
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, f := range []func() error{ours, theirs} {
					start := time.Now()
					if err := f(); err != nil {
						b.Fatal(err)
					}
					best[i] = min(best[i], time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op") // of both
			b.ReportMetric(float64(len(src))/1e6/best[0].Seconds(), "MB/s")
			b.ReportMetric(best[1].Seconds()/best[0].Seconds(), "×peer")
		})
	}
	encode := func() error {
		clear(counts[:])
		simd.Histogram(&counts, src)
		d.Normalize(counts[:], 11, false)
		e.Table.Build(&d)
		code = e.Append(d.Append(code[:0]), src, 2)
		return nil
	}
	peerEncode := func() (err error) { peerCode, err = kfse.Compress(src, &peer); return err }
	if err := errors.Join(encode(), peerEncode()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes, klauspost's %d", len(code), len(peerCode))
	run("encode", encode, peerEncode)
	run("decode",
		func() error {
			n, err := d.Read(code, MaxLog, MaxSymbols)
			if err != nil {
				return err
			}
			dec.Build(&d)
			return dec.Decode(back, code[n:], 2)
		},
		func() error { _, err := kfse.Decompress(peerCode, &peerDec); return err })
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
