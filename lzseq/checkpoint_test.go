package lzseq

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// TestCheckpoint: checkpoints change no result, are frequent, and may abandon a call.
func TestCheckpoint(t *testing.T) {
	const size = 6 << 20
	random := corpus.ByName("random").Make(5 << 20)
	contents := map[string][]byte{
		"short": corpus.ByName("short").Make(size),                               // many sequences
		"runs":  append(bytes.Repeat(random[:200], size/200), random...),         // a long match
		"lits":  append(append(bytes.Clone(random), "0123456789"...), random...), // both
	}
	next := corpus.ByName("text").Make(100_000)
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for name, src := range contents {
			for _, l := range []*Layout{Plain, Repeat, Dense} {
				var m lz77.Matcher
				seqs := m.Parse(nil, src, &lz77.Levels[2], l.Limits)
				nextSeqs := m.Parse(nil, next, &lz77.Levels[2], l.Limits)
				testCheckpoint(t, name, l, src, seqs, next, nextSeqs)
			}
		}
	}
}

func testCheckpoint(
	t *testing.T, name string, l *Layout, src []byte, seqs []lz77.Sequence,
	next []byte, nextSeqs []lz77.Sequence,
) {
	var want, wantNext, used Streams
	want.Encode(l, src, seqs)
	wantNext.Encode(l, next, nextSeqs)
	calls := 0
	count := func() { calls++ }
	used.Checkpoint = count
	used.Encode(l, src, seqs)
	for i, s := range used.All() {
		if !bytes.Equal(*s, *want.All()[i]) {
			t.Errorf("%s, layout %d: stream %d differs", name, l.ID, i)
		}
	}
	encodes := calls
	if least := max(len(want.Lits)/(2<<20)-1, 2*(len(seqs)/checkpointSequences)-1); calls < least {
		t.Errorf("%s, layout %d: Encode of %d sequences, %d literals has %d calls, want %d",
			name, l.ID, len(seqs), len(want.Lits), calls, least)
	}
	calls = 0
	dst := make([]byte, len(src), len(src)+lz77.Slack)
	if err := used.Decode(l, dst, 0); err != nil || !bytes.Equal(dst, src) {
		t.Fatalf("%s, layout %d: Decode: %v, or the content differs", name, l.ID, err)
	}
	decodes := calls
	if calls < len(src)>>21-1 {
		t.Errorf("%s, layout %d: Decode has %d calls, want %d", name, l.ID, calls, len(src)>>21-1)
	}
	if l != Plain {
		n := len(want.Lits)
		bits, wantBits := make([]uint64, n/64+1), make([]uint64, n/64+1)
		if used.Marks(bits, n) != nil || want.Marks(wantBits, n) != nil {
			t.Fatalf("%s, layout %d: Marks fails", name, l.ID)
		}
		for i := range bits {
			if bits[i] != wantBits[i] {
				t.Fatalf("%s, layout %d: Marks differ", name, l.ID)
			}
		}
	}
	small := make([]byte, len(next), len(next)+lz77.Slack)
	for left := range max(encodes, decodes) {
		used.Checkpoint = after(left)
		abandon(func() { used.Encode(l, src, seqs) })
		used.Checkpoint = nil
		used.Encode(l, next, nextSeqs)
		for i, s := range used.All() {
			if !bytes.Equal(*s, *wantNext.All()[i]) {
				t.Fatalf("%s, layout %d: stream %d differs after a panic", name, l.ID, i)
			}
		}
		want.Checkpoint = after(left)
		abandon(func() { want.Decode(l, dst, 0) })
		if err := used.Decode(l, small, 0); err != nil || !bytes.Equal(small, next) {
			t.Fatalf("%s, layout %d: Decode after a panic: %v", name, l.ID, err)
		}
	}
}

// after returns a checkpoint that panics after so many calls.
func after(left int) func() {
	return func() {
		left--
		if left < 0 {
			panic("enough")
		}
	}
}

// abandon runs f, which may panic in a checkpoint.
func abandon(f func()) {
	defer func() {
		if v := recover(); v != nil && v != "enough" {
			panic(v)
		}
	}()
	f()
}
