package rans

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// checkpointStreams are streams whose segments are coded, stored and of one symbol.
func checkpointStreams(size int) [][]byte {
	return [][]byte{
		corpus.ByName("text").Make(size), corpus.ByName("random").Make(size),
		corpus.ByName("zeros").Make(size), corpus.ByName("skewed").Make(size + 77),
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

// abandoned runs f and reports whether it panicked.
func abandoned(f func()) (yes bool) {
	defer func() {
		if v := recover(); v != nil {
			if yes = v == "enough"; !yes {
				panic(v)
			}
		}
	}()
	f()
	return false
}

// TestCheckpoint: checkpoints change no result, are frequent, and may abandon a call.
func TestCheckpoint(t *testing.T) {
	const size = 3 << 20
	streams := checkpointStreams(size)
	next := corpus.ByName("exe").Make(1 << 20)
	want := new(Encoder).Append(nil, 1, streams...)
	wantNext := new(Encoder).Append(nil, 1, next, next[:1000])
	limits := []int{len(streams[0]), len(streams[1]), len(streams[2]), len(streams[3])}
	calls := 0
	count := func() { calls++ }
	e, d := Encoder{Checkpoint: count}, Decoder{Checkpoint: count}
	if got := e.Append(make([]byte, 0, 2*len(want)), 1, streams...); !bytes.Equal(got, want) {
		t.Error("the Encoder's result differs")
	}
	// Every stream is counted, and the first and third are coded.
	encodes := calls
	if least := 5 * size / (2 * checkpointBytes); encodes < least {
		t.Errorf("%d calls of the Encoder, want at least %d", encodes, least)
	}
	calls = 0
	outs := make([][]byte, len(streams))
	pointers := []*[]byte{&outs[0], &outs[1], &outs[2], &outs[3]}
	decode := func() {
		if _, err := d.Decode(want, limits, pointers...); err != nil {
			t.Fatal(err)
		}
	}
	decode()
	for i := range outs {
		if !bytes.Equal(outs[i], streams[i]) {
			t.Errorf("stream %d: the Decoder's result differs", i)
		}
	}
	decodes := calls
	if least := 3 * size / (2 << 20); decodes < least {
		t.Errorf("%d calls of the Decoder, want at least %d", decodes, least)
	}
	for left := range encodes {
		e.Checkpoint = after(left)
		if !abandoned(func() { e.Append(nil, 1, streams...) }) && left < encodes-4 {
			t.Errorf("the Encoder did not panic at call %d", left)
		}
		e.Checkpoint = nil
		if !bytes.Equal(e.Append(nil, 1, next, next[:1000]), wantNext) {
			t.Fatalf("the Encoder's next result differs after a panic at call %d", left)
		}
	}
	for left := range decodes {
		d.Checkpoint = after(left)
		if !abandoned(decode) {
			t.Errorf("the Decoder did not panic at call %d", left)
		}
		d.Checkpoint = nil
		var a, b []byte
		_, err := d.Decode(wantNext, []int{len(next), 1000}, &a, &b)
		if err != nil || !bytes.Equal(a, next) || !bytes.Equal(b, next[:1000]) {
			t.Fatalf("the Decoder's next result differs after a panic at call %d", left)
		}
	}
}

// TestContextCheckpoint is TestCheckpoint for context-coded streams.
func TestContextCheckpoint(t *testing.T) {
	const size = 1 << 20
	stream, next := corpus.ByName("exe").Make(size), corpus.ByName("text").Make(100_000)
	encode := func(e *ContextEncoder, stream []byte, fast bool) []byte {
		var c Contexts
		e.Learn(&c, stream, make([]byte, len(stream)))
		if fast {
			e.PrepareFast(stream, make([]byte, len(stream)))
		} else {
			e.Prepare(stream, make([]byte, len(stream)))
		}
		return e.Append(nil)
	}
	wantNext := encode(new(ContextEncoder), next, false)
	calls := 0
	count := func() { calls++ }
	e, d := ContextEncoder{Checkpoint: count}, ContextDecoder{Checkpoint: count}
	for _, fast := range []bool{false, true} {
		calls = 0
		want := encode(new(ContextEncoder), stream, fast)
		e.Checkpoint = count
		if !bytes.Equal(encode(&e, stream, fast), want) {
			t.Error("the encoder's result differs")
		}
		if calls < 8*size>>18 {
			t.Errorf("%d calls of the encoder, want at least %d", calls, 8*size>>18)
		}
		for left := 0; left < calls; left += 1 + calls/15 {
			e.Checkpoint = after(left)
			if !abandoned(func() { encode(&e, stream, fast) }) {
				t.Errorf("the encoder did not panic at call %d", left)
			}
			e.Checkpoint = nil
			if !bytes.Equal(encode(&e, next, false), wantNext) {
				t.Fatalf("the encoder's next result differs after a panic at call %d", left)
			}
		}
		calls = 0
		var out []byte
		d.Checkpoint = count
		if _, err := d.Decode(want, size, &out, nil); err != nil || !bytes.Equal(out, stream) {
			t.Error("the decoder's result differs:", err)
		}
		if calls < size>>18 {
			t.Errorf("%d calls of the decoder, want at least %d", calls, size>>18)
		}
		for left := range calls {
			d.Checkpoint = after(left)
			if !abandoned(func() { d.Decode(want, size, &out, nil) }) {
				t.Errorf("the decoder did not panic at call %d", left)
			}
			d.Checkpoint = nil
			if _, err := d.Decode(wantNext, size, &out, nil); err != nil || !bytes.Equal(out, next) {
				t.Fatalf("the decoder's next result differs after a panic at call %d", left)
			}
		}
	}
}
