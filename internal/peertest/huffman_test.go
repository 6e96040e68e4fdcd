package peertest_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/huff0"

	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// histogram returns the counts of all bytes in p and the number of different ones.
func histogram(p []byte) (counts [256]uint32, distinct int) {
	simd.Histogram(&counts, p)
	for _, c := range counts {
		if c != 0 {
			distinct++
		}
	}
	return counts, distinct
}

// rounds returns n, or a tenth of it in short mode.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// forHuff0 calls f with data that huff0 accepts: at most the size of a zstd block.
func forHuff0(f func(name string, p []byte)) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, k := range corpus.Kinds() {
		for range rounds(40) / 4 {
			f(k.Name, k.MakeSeed(6+r.IntN(1<<(4+r.IntN(14))), r.Uint64()))
		}
	}
}

// TestHuffmanWrite checks that huff0 reads our trees and streams.
func TestHuffmanWrite(t *testing.T) {
	var b huffman.Builder
	read := 0
	forHuff0(func(name string, p []byte) {
		counts, distinct := histogram(p)
		var table huffman.Table
		if distinct < 2 {
			return
		}
		b.Table(&table, &counts, huffman.MaxTableBits)
		tree, ok := b.AppendTree(nil, &table)
		if !ok {
			return
		}
		one, four := table.Append1(slices.Clip(tree), p), table.Append4(tree, p)
		s, rest, err := huff0.ReadTable(one, nil)
		if err != nil || len(rest) != len(one)-len(tree) {
			t.Fatalf("%s: tree: %v", name, err)
		}
		got, err := s.Decoder().Decompress1X(make([]byte, 0, len(p)), rest)
		if err != nil || !bytes.Equal(got, p) {
			t.Fatalf("%s, %d bytes in one stream: %v", name, len(p), err)
		}
		got, err = s.Decoder().Decompress4X(make([]byte, len(p)), four[len(tree):])
		if err != nil || !bytes.Equal(got, p) {
			t.Fatalf("%s, %d bytes in four streams: %v", name, len(p), err)
		}
		read++
	})
	if read < rounds(60) {
		t.Errorf("%d pieces only", read)
	}
}

// TestHuffmanRead checks that we read the trees and streams of huff0, and that ours are not larger.
func TestHuffmanRead(t *testing.T) {
	var b huffman.Builder
	var d huffman.LiteralDecoder
	read := 0
	forHuff0(func(name string, p []byte) {
		for _, four := range []bool{false, true} {
			s := &huff0.Scratch{TableLog: huffman.MaxTableBits}
			compress := huff0.Compress1X
			if four {
				compress = huff0.Compress4X
			}
			code, _, err := compress(p, s)
			if err != nil {
				continue // it rejects data with little to gain
			}
			n, err := d.Read(code)
			if err != nil {
				t.Fatal(name, err)
			}
			got := make([]byte, len(p))
			if four {
				err = d.Decode4(got, code[n:])
			} else {
				err = d.Decode1(got, code[n:])
			}
			if err != nil || !bytes.Equal(got, p) {
				t.Fatalf("%s, %d bytes: %v", name, len(p), err)
			}
			read++

			counts, _ := histogram(p)
			var table huffman.Table
			ours, _, ok := b.AppendBest(nil, &table, &counts, true)
			if four {
				ours = table.Append4(ours, p)
			} else {
				ours = table.Append1(ours, p)
			}
			// the implementations round distributions differently
			if !ok || len(ours) > len(code)+4 {
				t.Errorf("%s: %d bytes become %d (%v), the peer's are %d",
					name, len(p), len(ours), ok, len(code))
			}
		}
	})
	if read < rounds(100) {
		t.Errorf("%d pieces only", read)
	}
}

// BenchmarkHuffman encodes literals in one stream and in four.
func BenchmarkHuffman(b *testing.B) {
	for _, name := range []string{"text", "exe", "skewed"} {
		p := corpus.ByName(name).Make(128 << 10)
		counts, _ := histogram(p)
		dst := make([]byte, 0, 2*len(p))
		for _, streams := range []int{1, 4} {
			x := map[int]string{1: "1", 4: "4"}[streams]
			b.Run(name+"/ours"+x, func(b *testing.B) {
				var h huffman.Builder
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					var table huffman.Table
					counts, _ = histogram(p)
					h.Table(&table, &counts, huffman.MaxTableBits)
					dst, _ = h.AppendTree(dst[:0], &table)
					if streams == 1 {
						dst = table.Append1(dst, p)
					} else {
						dst = table.Append4(dst, p)
					}
				}
				b.ReportMetric(float64(len(dst)), "bytes")
			})
			b.Run(name+"/huff0"+x, func(b *testing.B) {
				s := &huff0.Scratch{TableLog: huffman.MaxTableBits, Reuse: huff0.ReusePolicyNone}
				compress := huff0.Compress1X
				if streams == 4 {
					compress = huff0.Compress4X
				}
				b.SetBytes(int64(len(p)))
				n := 0
				for b.Loop() {
					out, _, err := compress(p, s)
					if err != nil {
						b.Fatal(err)
					}
					n = len(out)
				}
				b.ReportMetric(float64(n), "bytes")
			})
		}
	}
}
