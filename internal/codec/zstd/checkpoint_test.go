package zstd

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

// TestCheckpoint: checkpoints change no result, come after each block, and may abandon a call.
func TestCheckpoint(t *testing.T) {
	const size = 1 << 20
	var m lz77.Matcher
	next := corpus.ByName("exe").Make(300_000)
	nextSeqs := m.Parse(nil, next, &lz77.Levels[3], Limits)
	wantNext := new(Encoder).Append(nil, next, nextSeqs)
	nextFrame := testFrame(wantNext, len(next))
	for _, kind := range []string{"text", "random", "zeros", "mixed"} {
		src := corpus.ByName(kind).Make(size)
		seqs := m.Parse(nil, src, &lz77.Levels[3], Limits)
		want := new(Encoder).Append(nil, src, seqs)
		frame := testFrame(want, size)
		calls := 0
		count := func() { calls++ }
		e, d := Encoder{Checkpoint: count}, NewDecoder()
		if !bytes.Equal(e.Append(nil, src, seqs), want) {
			t.Errorf("%s: the encoder's result differs", kind)
		}
		encodes := calls
		calls, d.Checkpoint = 0, count
		out := make([]byte, size+DecodeSlack)
		if n, err := d.DecodeFrame(out, frame, nil, false); err != nil || !bytes.Equal(out[:n], src) {
			t.Fatalf("%s: the decoder's result differs: %v", kind, err)
		}
		if encodes < size/MaxBlock || calls != encodes {
			t.Errorf("%s: %d and %d calls for at least %d blocks", kind, encodes, calls, size/MaxBlock)
		}
		for left := range calls {
			e.Checkpoint, d.Checkpoint = after(left), after(left)
			abandon(t, func() { e.Append(nil, src, seqs) })
			abandon(t, func() { d.DecodeFrame(out, frame, nil, false) })
			e.Checkpoint, d.Checkpoint = nil, nil
			if !bytes.Equal(e.Append(nil, next, nextSeqs), wantNext) {
				t.Fatalf("%s: the encoder's next result differs after a panic at call %d", kind, left)
			}
			n, err := d.DecodeFrame(out, nextFrame, nil, false)
			if err != nil || !bytes.Equal(out[:n], next) {
				t.Fatalf("%s: the decoder's next result differs after a panic at call %d", kind, left)
			}
		}
	}
}

// testFrame returns a frame of blocks: a single segment with its size in four bytes.
func testFrame(blocks []byte, size int) []byte {
	head := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0,
		byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}
	return append(head, blocks...)
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

// abandon runs f, which must panic in a checkpoint.
func abandon(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if v := recover(); v != "enough" {
			t.Fatalf("panic with %v, want enough", v)
		}
	}()
	f()
}
