package peertest_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	kfse "github.com/klauspost/compress/fse"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// TestFSE exchanges descriptions and strings of two states with klauspost's fse, both ways.
func TestFSE(t *testing.T) {
	var e fse.Encoder
	var dec fse.DecTable
	both := 0
	for _, k := range corpus.Kinds() {
		for _, n := range []int{100, 101, 1000, 20_001} {
			src := k.Make(n)
			counts, used := histogram(src)
			var d fse.Distribution
			for log := fse.MinLog; log <= fse.MaxLog; log++ {
				if used < 2 || used > 1<<log {
					continue
				}
				d.Normalize(counts[:], log, log%2 == 0)
				e.Table.Build(&d)
				var s kfse.Scratch
				got, err := kfse.Decompress(e.Append(d.Append(nil), src, 2), &s)
				if err != nil || !bytes.Equal(got, src) {
					t.Errorf("%s, %d bytes, log %d: klauspost reads %d bytes, %v",
						k.Name, n, log, len(got), err)
				}
			}
			var s kfse.Scratch
			code, err := kfse.Compress(src, &s)
			if err != nil {
				continue // nothing to gain
			}
			both++
			size, err := d.Read(code, fse.MaxLog, fse.MaxSymbols)
			if err != nil {
				t.Errorf("%s, %d bytes: %v", k.Name, n, err)
				continue
			}
			dec.Build(&d)
			got := make([]byte, n)
			if err := dec.Decode(got, code[size:], 2); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s, %d bytes of klauspost's: %v", k.Name, n, err)
			}
		}
	}
	if both < 20 {
		t.Errorf("only %d codes of klauspost's", both)
	}
}

// BenchmarkFSE runs package fse with two states and the peer's fse by turns, and reports the
// shortest times. Both include counting, describing and building tables. "×peer" is the speed
// relative to the peer's.
func BenchmarkFSE(b *testing.B) {
	src := corpus.ByName("skewed").Make(64 << 10)
	var counts [fse.MaxSymbols]uint32
	var e fse.Encoder
	var d fse.Distribution
	var dec fse.DecTable
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
			n, err := d.Read(code, fse.MaxLog, fse.MaxSymbols)
			if err != nil {
				return err
			}
			dec.Build(&d)
			return dec.Decode(back, code[n:], 2)
		},
		func() error { _, err := kfse.Decompress(peerCode, &peerDec); return err })
}
