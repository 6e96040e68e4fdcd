package peertest_test

import (
	"testing"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// sequencesOf makes valid sequences of any bytes, five for each. It also returns the number of
// literals behind the last.
func sequencesOf(p []byte) (seqs []lz77.Sequence, tail int) {
	at := 0
	for ; len(p) >= 5 && at < 3*zstd.MaxBlock; p = p[5:] {
		length := func(b byte) uint32 { return uint32(b&15) << (b >> 4 & 15) >> 2 } // up to 122,880
		q := lz77.Sequence{LitLen: length(p[0]), MatchLen: zstd.MinMatch + length(p[1]&0xEF)}
		if at == 0 {
			q.LitLen++
		}
		at += int(q.LitLen)
		q.Offset = 1 + (uint32(p[2])|uint32(p[3])<<8|uint32(p[4])<<16)%uint32(at)
		if n := len(seqs); n > 0 && p[4] >= 0xF0 { // the previous offset again, or one less
			q.Offset = max(1, seqs[max(0, n-int(p[4]&3)-1)].Offset-uint32(p[4]>>2&1))
		}
		at += int(q.MatchLen)
		seqs = append(seqs, q)
	}
	if len(p) > 0 {
		tail = int(p[0]) * int(p[0])
	}
	return seqs, tail
}

// expand executes sequences over lits and returns the content.
func expand(lits []byte, seqs []lz77.Sequence) (out []byte) {
	for _, q := range seqs {
		out = append(out, lits[:q.LitLen]...)
		lits = lits[q.LitLen:]
		for range q.MatchLen {
			out = append(out, out[len(out)-int(q.Offset)])
		}
	}
	return append(out, lits...)
}

// FuzzZstdSequences encodes and decodes any valid sequences over literals of low, medium and high
// entropy.
func FuzzZstdSequences(f *testing.F) {
	for _, k := range corpus.Kinds() {
		f.Add(k.Make(301), uint8(0))
		f.Add(k.Make(100), uint8(1))
	}
	kinds := [][]byte{
		corpus.ByName("zeros").Make(8 * zstd.MaxBlock), corpus.ByName("text").Make(8 * zstd.MaxBlock),
		corpus.ByName("random").Make(8 * zstd.MaxBlock), corpus.ByName("mixed").Make(8 * zstd.MaxBlock),
	}
	var e zstd.Encoder
	f.Fuzz(func(t *testing.T, p []byte, kind uint8) {
		seqs, tail := sequencesOf(p)
		n := tail
		for _, q := range seqs {
			n += int(q.LitLen)
		}
		lits := kinds[int(kind)%len(kinds)]
		src := expand(lits[:min(n, len(lits))], seqs)
		a := checkZstd(t, &e, src, seqs)
		// Earlier content must make no difference.
		var fresh zstd.Encoder
		if string(fresh.Append(nil, src, seqs)) != string(a) {
			t.Fatal("a fresh encoder writes something else")
		}
	})
}

// FuzzZstdContent encodes any content with matches of our match finders.
func FuzzZstdContent(f *testing.F) {
	for _, k := range corpus.Kinds() {
		f.Add(k.Make(500), uint16(1), uint8(1))
		f.Add(k.Make(50), uint16(2000), uint8(7))
	}
	var e zstd.Encoder
	var m lz77.Matcher
	f.Fuzz(func(t *testing.T, p []byte, times uint16, level uint8) {
		var src []byte
		for i := 0; i <= int(times) && len(src) < 2*zstd.MaxBlock; i++ {
			src = append(src, p...)
			if len(src) > 0 {
				src[len(src)-1] += byte(i >> 3)
			}
		}
		checkZstd(t, &e, src, greedy(src))
		checkZstd(t, &e, src, m.Parse(nil, src, &lz77.Levels[1+level%lz77.MaxLevel], zstd.Limits))
	})
}
