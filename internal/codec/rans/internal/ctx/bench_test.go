package ctx

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	stream, marks := linked(rand.New(rand.NewPCG(1, 2)), 1<<18, 90)
	var e Encoder
	var code []byte
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		e.Prepare(stream, bytes.Clone(marks))
		code = e.Append(code[:0])
	}
}

func BenchmarkDecode(b *testing.B) {
	stream, marks := linked(rand.New(rand.NewPCG(1, 2)), 1<<18, 90)
	var e Encoder
	var d Decoder
	e.Prepare(stream, bytes.Clone(marks))
	code := e.Append(nil)
	var out []byte
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		if _, err := d.Decode(code, len(stream), &out, marker{marks, nil}); err != nil {
			b.Fatal(err)
		}
	}
}
