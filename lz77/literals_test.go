package lz77

import (
	"bytes"
	"testing"
)

// TestAppendLiterals tries runs around literalStep and up to the end of the content.
func TestAppendLiterals(t *testing.T) {
	for _, matches := range []uint32{0, 4, 40} {
		for run := range uint32(2*literalStep + 2) {
			src := make([]byte, 0, 1000)
			want := []byte("before")
			var seqs []Sequence
			for i := range uint32(5) {
				q := Sequence{LitLen: run + i%2, MatchLen: matches, Offset: 16}
				seqs = append(seqs, q)
				for range q.LitLen {
					src = append(src, byte(len(src)))
				}
				want = append(want, src[len(src)-int(q.LitLen):]...)
				for range q.MatchLen {
					src = append(src, 0xEE)
				}
			}
			for _, behind := range []int{0, 1, literalStep, 100} {
				src := append(src, make([]byte, behind)...)
				dst, intact := guarded(len(want), Slack)
				dst = dst[: len("before") : len(want)+Slack]
				copy(dst, "before")
				got, rest := AppendLiterals(dst, src[:len(src):len(src)], seqs, nil)
				if !bytes.Equal(got, want) || len(rest) != behind || !intact() {
					t.Fatalf("runs of %d, matches of %d: got %q, want %q, %d bytes behind, want %d",
						run, matches, got, want, len(rest), behind)
				}
			}
		}
	}
}
