package zstd

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// TestContinue encodes the content of frames in parts. Each part must be decodable as soon as it is
// there, and a frame of one part must be what Append makes.
func TestContinue(t *testing.T) {
	var e Encoder
	for i, name := range []string{"json", "random", "sparse", "text"} {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		content := corpus.ByName(name).Make(400_000)
		whole := greedy(content)
		want := e.Append(nil, content, whole)
		e.BeginFrame()
		if got := e.Continue(nil, content, whole, true); !bytes.Equal(got, want) {
			t.Errorf("%s: a frame of one part differs", name)
		}
		e.BeginFrame()
		var blocks []byte
		d := NewDecoder()
		d.Reset(int64(len(content)), nil)
		out := make([]byte, len(content)+DecodeSlack)
		for at, end := 0, 0; at < len(content); {
			part := min(len(content)-at, 1+r.IntN([]int{5, 300, 200_000}[r.IntN(3)]))
			seqs := partOf(whole, at, at+part)
			from := len(blocks)
			blocks = e.Continue(blocks, content[at:at+part], seqs, at+part == len(content))
			at += part
			for src := blocks[from:]; len(src) > 0; {
				var used int
				var last bool
				var err error
				end, used, last, err = d.Block(out, end, src)
				if err != nil {
					t.Fatalf("%s: at %d: %v", name, end, err)
				}
				src = src[used:]
				if last != (at == len(content) && len(src) == 0) {
					t.Fatalf("%s: at %d: last is %v", name, end, last)
				}
			}
			if end != at || !bytes.Equal(out[:end], content[:at]) {
				t.Fatalf("%s: %d bytes decoded of %d", name, end, at)
			}
		}
		check(t, &e, content, whole) // a frame behind it is independent
	}
}

// partOf returns the sequences of content[from:to], of those of the whole. A match that crosses an
// edge becomes literals.
func partOf(seqs []lz77.Sequence, from, to int) (part []lz77.Sequence) {
	at, done := 0, from
	for _, s := range seqs {
		match := at + int(s.LitLen)
		at = match + int(s.MatchLen)
		if match >= from && at <= to {
			s.LitLen = uint32(match - done)
			part = append(part, s)
			done = at
		}
	}
	return part
}

// TestParts encodes the parts of frames apart, from the last one to the first. Some are encoded in
// two calls. Only the first one uses the tables of the dictionary.
func TestParts(t *testing.T) {
	trained, err := ParseDictionary(trainedDictionary(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"json", "random", "sparse", "text", "zeros"} {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		content := corpus.ByName(name).Make(400_000)
		whole := greedy(content)
		for _, d := range []*Dictionary{nil, trained} {
			var parts [][]byte
			e := Encoder{Dictionary: d}
			for end := len(content); end > 0; {
				n := min(end, 1+r.IntN([]int{5, 300, 200_000}[r.IntN(3)]))
				from, last := end-n, end == len(content)
				e.BeginPart(from == 0)
				var part []byte
				if n > 1 && r.IntN(3) == 0 {
					middle := from + n/2
					part = e.Continue(nil, content[from:middle], partOf(whole, from, middle), false)
					part = e.Continue(part, content[middle:end], partOf(whole, middle, end), last)
				} else {
					part = e.AppendPart(nil, content[from:end], partOf(whole, from, end), last)
				}
				parts = append(parts, part)
				end = from
			}
			slices.Reverse(parts)
			got := make([]byte, len(content)+DecodeSlack)
			n, err := NewDecoder().DecodeFrame(got, frame(len(content), slices.Concat(parts...)), d, false)
			if err != nil || !bytes.Equal(got[:n], content) {
				t.Errorf("%s, dictionary %v: %d bytes decoded, %v", name, d != nil, n, err)
			}
		}
	}
}

// TestLearn encodes lines of a log, each in a block of its own. Tables from past blocks must save
// more than they take.
func TestLearn(t *testing.T) {
	content := corpus.ByName("log").Make(200_000)
	whole := greedy(content)
	size := func(next uint32) int {
		var e Encoder
		e.BeginFrame()
		e.learner().next = next
		var blocks []byte
		at := 0
		for line := range bytes.SplitAfterSeq(content, []byte("\n")) {
			seqs := partOf(whole, at, at+len(line))
			at += len(line)
			blocks = e.Continue(blocks, line, seqs, at == len(content))
		}
		got := make([]byte, len(content)+DecodeSlack)
		n, err := NewDecoder().DecodeFrame(got, frame(len(content), blocks), nil, false)
		if err != nil || !bytes.Equal(got[:n], content) {
			t.Fatalf("%d bytes decoded, %v", n, err)
		}
		return len(blocks)
	}
	with, without := size(firstTraining), size(1<<31)
	t.Logf("%d bytes, %d without tables of past blocks", with, without)
	if with > without*9/10 {
		t.Errorf("%d bytes, %d without tables of past blocks", with, without)
	}
}
