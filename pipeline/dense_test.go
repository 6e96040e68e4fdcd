package pipeline

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/lzseq"
)

// denseStreams are the streams of a block of the size returned, of which those are worth chaining that flags say: a symbol then has two that may follow it, and
// otherwise all. The literals' second half differs from the first.
func denseStreams(flags byte, lits, tokens int) (s *lzseq.Streams, size int) {
	r := rand.New(rand.NewPCG(3, uint64(flags)))
	s = &lzseq.Streams{Lits: make([]byte, lits), Tokens: make([]byte, tokens), LitLens: []byte{61}}
	last := 0
	for i := range s.Lits {
		switch {
		case flags&denseLits == 0:
			last = r.IntN(64)
		case i < lits/2:
			last = (last*5 + r.IntN(2)) % 64
		default:
			last = (last*13 + 7 + r.IntN(2)) % 64
		}
		s.Lits[i] = byte(last)
	}
	size, last = lits, 0
	for i := range s.Tokens {
		if flags&denseTokens == 0 {
			last = r.IntN(12)
		} else {
			last = (last*5 + r.IntN(2)) % 12
		}
		s.Tokens[i] = byte(last%3 | last/3<<2) // 0 to 2 literals, a match of 4 to 7, the last offset
		size += 4 + last/3
	}
	s.Tokens[0] |= 3 // the first literals are the 64 that the offset needs
	return s, size
}

// TestDenseFlags: chained are tokens, literals, both or none of them, as it pays.
func TestDenseFlags(t *testing.T) {
	ws := new(workspace)
	for flags := range byte(denseTokens | denseLits + 1) {
		s, size := denseStreams(flags, 50_000, 40_000)
		payload := ws.codeDense(nil, s)
		want := []byte{denseLayout, flags}
		if flags == 0 {
			want = []byte{lzseq.Repeat.ID}
		}
		if !bytes.HasPrefix(payload, want) {
			t.Errorf("flags %d: the payload begins with % x", flags, payload[:2])
		}
		var content []byte
		for _, p := range [][]byte{payload, ws.code(nil, lzseq.Repeat, s)} {
			var got lzseq.Streams
			l, err := ws.takeApart(p, size, &got)
			if err != nil || l != lzseq.Repeat || !bytes.Equal(got.Lits, s.Lits) || !bytes.Equal(got.Tokens, s.Tokens) || !bytes.Equal(got.LitLens, s.LitLens) {
				t.Fatalf("flags %d: other streams come out, or %v", flags, err)
			}
			out, err := decodeOne(ws, ByName("lzseqr"), encoded{p, size, Coded, 0}, false)
			if err != nil || content != nil && !bytes.Equal(out, content) {
				t.Fatalf("flags %d: other content than in layout Repeat, or %v", flags, err)
			}
			content = bytes.Clone(out)
			if len(p) < len(payload) {
				t.Errorf("flags %d: %d bytes, and %d in layout Repeat", flags, len(payload), len(p))
			}
		}
	}
}
