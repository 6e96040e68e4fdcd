package deflate

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/lz77"
)

// maker builds content and sequences that produce it.
type maker struct {
	data []byte // the bytes before the content, then the content
	from int    // where the content begins
	seqs []lz77.Sequence
	run  int
}

func (m *maker) literals(p ...byte) {
	m.data = append(m.data, p...)
	m.run += len(p)
}

func (m *maker) match(length, offset int) {
	for range length {
		m.data = append(m.data, m.data[len(m.data)-offset])
	}
	m.seqs = append(m.seqs, lz77.Sequence{
		LitLen: uint32(m.run), MatchLen: uint32(length), Offset: uint32(offset),
	})
	m.run = 0
}

func (m *maker) content() []byte { return m.data[m.from:] }

// random adds n random steps whose statistics change.
func (m *maker) random(r *rand.Rand, n int) {
	spread, shape := 1+r.IntN(256), r.IntN(4)
	for range n {
		if r.IntN(200) == 0 {
			spread, shape = 1+r.IntN(256), r.IntN(4)
		}
		if most := min(len(m.data), MaxOffset); most > 0 && r.IntN(4) < shape {
			offset := 1 + r.IntN(most)
			if r.IntN(3) > 0 {
				offset = 1 + r.IntN(1+r.IntN(most))
			}
			length := MinMatch + r.IntN(1+r.IntN(30))
			if r.IntN(40) == 0 {
				length = MinMatch + r.IntN(1000)
			}
			m.match(length, offset)
			continue
		}
		for range 1 + r.IntN(1+r.IntN(12)) {
			m.literals(byte(r.IntN(spread)))
		}
		if r.IntN(500) == 0 {
			for range r.IntN(5000) {
				m.literals(byte(r.Uint32()))
			}
		}
	}
}

// newMaker returns a maker with n random bytes before the content.
func newMaker(r *rand.Rand, n int) *maker {
	m := &maker{from: n}
	for range n {
		m.data = append(m.data, byte(r.Uint32()))
	}
	return m
}

// readAll decodes a Deflate stream with compress/flate and with inflate. The window of the stream
// is the end of before. readAll fails the test unless both return want.
func readAll(t testing.TB, code, before, want []byte) inflated {
	t.Helper()
	before = before[max(0, len(before)-MaxOffset):]
	got, err := io.ReadAll(flate.NewReaderDict(bytes.NewReader(code), before))
	if err != nil {
		t.Fatalf("compress/flate: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("compress/flate: wrong content of %d bytes, want %d", len(got), len(want))
	}
	in, err := inflate(code, before)
	if err != nil || !bytes.Equal(in.content, want) {
		t.Fatalf("inflate: %v, or wrong content", err)
	}
	if (in.bits+7)/8 != len(code) {
		t.Fatalf("stream of %d bits in %d bytes", in.bits, len(code))
	}
	return in
}

// check encodes the content as a last piece and as one in the middle, and decodes it.
func (m *maker) check(t testing.TB, e *Encoder) inflated {
	t.Helper()
	content := m.content()
	front := []byte("front")
	code := e.Append(front, content, m.seqs, true)
	if string(code[:5]) != "front" {
		t.Fatal("Append changed the bytes before its output")
	}
	code = code[5:]
	in := readAll(t, code, m.data[:m.from], content)
	if bound := len(content) + len(content)/maxStored*5 + 6; len(code) > bound {
		t.Fatalf("%d bytes become %d", len(content), len(code))
	}
	open := e.Append(nil, content, m.seqs, false)
	if !bytes.HasSuffix(open, []byte{0, 0, 0xff, 0xff}) {
		t.Fatalf("ends with % x", open[max(0, len(open)-4):])
	}
	readAll(t, e.Append(open, nil, nil, true), m.data[:m.from], content)
	if len(content) > 0 {
		readAll(t, e.AppendShort(nil, content, m.seqs, true), m.data[:m.from], content)
	}
	short := e.AppendShort(nil, content, m.seqs, false)
	if bound := len(content) + len(content)/maxStored*5 + 10; len(short) > bound {
		t.Fatalf("%d bytes become %d behind AppendShort", len(content), len(short))
	}
	readAll(t, e.Append(short, nil, nil, true), m.data[:m.from], content)
	return in
}
