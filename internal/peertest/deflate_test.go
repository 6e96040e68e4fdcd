package peertest_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	kflate "github.com/klauspost/compress/flate"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// deflateLimits bounds the sequences of Deflate.
var deflateLimits = lz77.Limits{MinMatch: 4, MaxOffset: deflate.MaxOffset}

// checkDeflate decodes a Deflate stream with the peer. The window of the stream is the end of
// before.
func checkDeflate(t testing.TB, code, before, want []byte) {
	t.Helper()
	before = before[max(0, len(before)-deflate.MaxOffset):]
	got, err := io.ReadAll(kflate.NewReaderDict(bytes.NewReader(code), before))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("stream of %d bytes: %d bytes of content, want %d; %v",
			len(code), len(got), len(want), err)
	}
}

// TestDeflate encodes all kinds of data, with and without matches, whole and in pieces. Each piece
// has the content before it as its window.
func TestDeflate(t *testing.T) {
	var e deflate.Encoder
	var m lz77.Matcher
	r := rand.New(rand.NewPCG(9, 10))
	levels, most := []int{1, 7}, 1<<18
	switch {
	case testenv.All():
		levels, most = []int{1, 4, 7}, 1<<20
	case testing.Short():
		levels = levels[:1]
	}
	for _, f := range corpus.Files(t) {
		t.Run(f.Name, func(t *testing.T) {
			data := f.Data(t)
			data = data[:min(len(data), most)]
			checkDeflate(t, e.Append(nil, data, nil, true), nil, data)
			for _, level := range levels {
				var code []byte
				for at := 0; at < len(data); {
					end := min(len(data), at+1+r.IntN(1<<r.IntN(18)))
					from := max(0, at-deflate.MaxOffset)
					seqs := m.ParseFrom(nil, data[from:end], at-from, &lz77.Levels[level],
						deflateLimits)
					piece := e.Append(nil, data[at:end], seqs, true)
					checkDeflate(t, piece, data[:at], data[at:end])
					code = e.Append(code, data[at:end], seqs, end == len(data))
					at = end
				}
				checkDeflate(t, code, nil, data)
			}
		})
	}
}

// deflateRandom returns content behind before, and sequences that produce it: random steps whose
// statistics change.
func deflateRandom(r *rand.Rand, before []byte, steps int) (content []byte, seqs []lz77.Sequence) {
	data := bytes.Clone(before)
	run := 0
	literals := func(n, spread int) {
		for range n {
			data = append(data, byte(r.IntN(spread)))
		}
		run += n
	}
	spread, matches := 1+r.IntN(256), r.IntN(4)
	for range steps {
		if r.IntN(200) == 0 {
			spread, matches = 1+r.IntN(256), r.IntN(4)
		}
		most := min(len(data), deflate.MaxOffset)
		if most == 0 || r.IntN(4) >= matches {
			literals(1+r.IntN(1+r.IntN(12)), spread)
			if r.IntN(500) == 0 {
				literals(r.IntN(5000), 256)
			}
			continue
		}
		offset := 1 + r.IntN(1+r.IntN(most))
		if r.IntN(3) == 0 {
			offset = 1 + r.IntN(most)
		}
		length := deflate.MinMatch + r.IntN(1+r.IntN(30))
		if r.IntN(40) == 0 {
			length = deflate.MinMatch + r.IntN(1000)
		}
		for range length {
			data = append(data, data[len(data)-offset])
		}
		seqs = append(seqs, lz77.Sequence{
			LitLen: uint32(run), MatchLen: uint32(length), Offset: uint32(offset),
		})
		run = 0
	}
	return data[len(before):], seqs
}

// TestDeflateRandom encodes random sequences as a last piece and as a piece in the middle.
func TestDeflateRandom(t *testing.T) {
	var e deflate.Encoder
	r := rand.New(rand.NewPCG(7, 8))
	n := 400
	if testing.Short() || testenv.Race {
		n = 80
	}
	for range n {
		before := corpus.ByName("random").MakeSeed(r.IntN(3)*r.IntN(40_000), r.Uint64())
		content, seqs := deflateRandom(r, before, r.IntN(1<<r.IntN(14)))
		checkDeflate(t, e.Append(nil, content, seqs, true), before, content)
		open := e.Append(nil, content, seqs, false)
		checkDeflate(t, e.Append(open, nil, nil, true), before, content)
	}
}

// TestDeflateLengths encodes every length at the smallest, the largest and another offset, and
// lengths that are split.
func TestDeflateLengths(t *testing.T) {
	var e deflate.Encoder
	r := rand.New(rand.NewPCG(3, 4))
	before := corpus.ByName("random").Make(deflate.MaxOffset)
	for length := deflate.MinMatch; length <= 1100; length++ {
		if testing.Short() && length > 2*deflate.MaxMatch+deflate.MinMatch+5 {
			break
		}
		data := bytes.Clone(before)
		var seqs []lz77.Sequence
		for _, offset := range []int{1, deflate.MaxOffset, 1 + r.IntN(deflate.MaxOffset)} {
			data = append(data, 5)
			for range length {
				data = append(data, data[len(data)-offset])
			}
			seqs = append(seqs, lz77.Sequence{
				LitLen: 1, MatchLen: uint32(length), Offset: uint32(offset),
			})
		}
		content := data[len(before):]
		checkDeflate(t, e.Append(nil, content, seqs, true), before, content)
	}
}

// BenchmarkDeflateLiterals encodes literals alone, which the peer does in its mode HuffmanOnly.
func BenchmarkDeflateLiterals(b *testing.B) {
	for _, name := range []string{"text", "exe", "skewed"} {
		data := corpus.ByName(name).Make(1 << 20)
		b.Run(name+"/ours", func(b *testing.B) {
			var e deflate.Encoder
			var out []byte
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				out = e.Append(out[:0], data, nil, true)
			}
			b.ReportMetric(float64(len(out)), "bytes")
		})
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
