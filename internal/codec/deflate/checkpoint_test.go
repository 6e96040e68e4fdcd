package deflate

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// TestCheckpoint: checkpoints change no result, are frequent, and may abandon a call.
func TestCheckpoint(t *testing.T) {
	const size = 5 << 20
	limits := lz77.Limits{MinMatch: MinMatch, MinOffset: 1, MaxOffset: MaxOffset}
	params := &lz77.Params{Finder: lz77.SingleHash, HashLog: 14, HashBytes: 5, SkipLog: 7}
	var m lz77.Matcher
	next := corpus.ByName("exe").Make(100_000)
	nextSeqs := m.Parse(nil, next, params, limits)
	wantNext := new(Encoder).Append(nil, next, nextSeqs, true)
	for _, c := range []struct {
		kind  string
		least int // calls, by symbols or stored bytes
	}{{"text", 4}, {"random", size / (2 << 20)}, {"zeros", 1}, {"short", 8}} {
		src := corpus.ByName(c.kind).Make(size)
		seqs := m.Parse(nil, src, params, limits)
		want := new(Encoder).Append(nil, src, seqs, false)
		calls := 0
		e := Encoder{Checkpoint: func() { calls++ }}
		if !bytes.Equal(e.Append(nil, src, seqs, false), want) {
			t.Errorf("%s: the result differs", c.kind)
		}
		if calls < c.least {
			t.Errorf("%s: %d calls, want at least %d", c.kind, calls, c.least)
		}
		for left := 0; left < calls; left += 1 + calls/20 {
			e.Checkpoint = func() {
				left--
				if left < 0 {
					panic("enough")
				}
			}
			k := left
			abandon(t, func() { e.Append(nil, src, seqs, false) })
			left, e.Checkpoint = k, nil
			if !bytes.Equal(e.Append(nil, next, nextSeqs, true), wantNext) {
				t.Fatalf("%s: the next result differs after a panic at call %d", c.kind, left)
			}
		}
	}
}

// abandon runs f, which must panic in a checkpoint.
func abandon(t *testing.T, f func()) {
	defer func() {
		if v := recover(); v != "enough" {
			t.Fatalf("panic with %v, want enough", v)
		}
	}()
	f()
}
