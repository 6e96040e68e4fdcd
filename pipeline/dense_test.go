package pipeline

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/lzseq"
)

// denseStreams returns streams of a block, and the size of the block. The streams that flags name
// gain by context coding: a symbol has two that may follow it. In the others any symbol may follow.
// The second half of the literals differs from the first.
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
	length := 0
	size, last = lits, 0
	for i := range s.Tokens {
		if flags&denseTokens == 0 {
			last = r.IntN(12)
		} else {
			last = (last*5 + r.IntN(2)) % 12
		}
		field := last / 3
		if field == 3 {
			field = 15
			if flags&denseMatches == 0 {
				length = r.IntN(8)
			} else {
				length = (length*5 + r.IntN(2)) % 8
			}
			s.MatchLens = append(s.MatchLens, byte(length))
			size += length
		}
		// 0 to 2 literals, a match of 2 to 4 or at least 17 bytes, the last offset.
		s.Tokens[i] = byte(last%3 | field<<2)
		size += 2 + field
	}
	s.Tokens[0] |= 3 // the first literals are the 64 that the offset needs
	s.Size = size
	return s, size
}

// rangesOf returns ranges that cover a block of size bytes, or nil if the flags have no filter.
func rangesOf(flags byte, size int) []byte {
	if flags&denseX86 == 0 {
		return nil
	}
	return binary.AppendUvarint([]byte{1, 0}, uint64(size))
}

// TestDenseFlags: tokens, literals and match lengths are context-coded where they gain by it,
// whether the content was filtered or not. The other streams are coded as in other layouts.
func TestDenseFlags(t *testing.T) {
	ws := new(workspace)
	for flags := range byte(denseTokens | denseLits | denseX86 | denseMatches + 1) {
		s, size := denseStreams(flags, 50_000, 40_000)
		payload := ws.encodeDense(nil, s, rangesOf(flags, size))
		want := []byte{lzseq.Dense.ID, flags}
		if !bytes.HasPrefix(payload, want) {
			t.Errorf("flags %d: the payload begins with % x", flags, payload[:2])
		}
		var content []byte
		plain := append([]byte{lzseq.Dense.ID, 0}, ws.encodePayload(nil, lzseq.Dense, s)[1:]...)
		for _, p := range [][]byte{payload, plain} {
			var got lzseq.Streams
			l, ranges, err := ws.decodePayload(p, size, &got)
			same := bytes.Equal(got.Lits, s.Lits) && bytes.Equal(got.Tokens, s.Tokens) &&
				bytes.Equal(got.LitLens, s.LitLens) && bytes.Equal(got.MatchLens, s.MatchLens)
			if err != nil || (ranges != nil) != (p[1]&denseX86 != 0) || l != lzseq.Dense || !same {
				t.Fatalf("flags %d: streams differ, error %v", flags, err)
			}
			out, err := decodeOne(ws, ByName("lzseqr"), encoded{p, size, codedKind, 0}, false)
			if err != nil || content != nil && !bytes.Equal(out, content) {
				t.Fatalf("flags %d: content differs from that without context coding, error %v", flags, err)
			}
			content = bytes.Clone(out)
			if flags != denseX86 && len(p) < len(payload) {
				t.Errorf("flags %d: %d bytes, and %d without context coding", flags, len(payload), len(p))
			}
		}
	}
}
