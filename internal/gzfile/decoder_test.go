package gzfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// words returns n bytes that compress well.
func words(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	p := make([]byte, 0, n+10)
	for len(p) < n {
		p = append(p, "abcdefgh "[r.IntN(6):]...)
	}
	return p[:n]
}

// flushedMember returns content as a member, with a flush behind every part bytes.
func flushedMember(t *testing.T, content []byte, part int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name = "name"
	for p := content; len(p) > 0; p = p[min(part, len(p)):] {
		w.Write(p[:min(part, len(p))])
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// testDecoder returns a decoder that has begun a file.
func testDecoder() *decoder {
	d := newDecoder()
	d.reset(&container.Limits{MaxDecoded: -1, Checks: true})
	return d
}

// decodeUnit takes a unit through all steps.
func decodeUnit(d *decoder, s *container.Serial) {
	d.Prepare(s)
	d.Decode(s)
	d.FinishContent(s)
	d.Verify(s)
	s.Unit++
}

// decodeParts decodes a file in parts of the sizes that next returns, 0 for a unit without input.
func decodeParts(d *decoder, file []byte, end error, next func() int) (content []byte, err error) {
	var s container.Serial
	for s.Stop == nil {
		data := bytes.Clone(file[:min(next(), len(file))])
		var behind error
		if file = file[len(data):]; len(file) == 0 {
			behind = end
		}
		d.input.addPart(data, true, s.Unit, false, behind)
		decodeUnit(d, &s)
		content = append(content, s.Content()...)
		if s.Total != int64(len(content)) || s.Used != d.walker.at {
			return content, errors.New("wrong count")
		}
	}
	return content, s.Stop
}

// TestDecoderParts decodes a file of several members in parts of any size, and cut short anywhere.
func TestDecoderParts(t *testing.T) {
	a, b := words(3*pieceSize, 1), words(70_000, 2)
	var file []byte
	for _, p := range [][]byte{a, nil, b, b[:1]} {
		file = append(file, flushedMember(t, p, 1<<20)...)
	}
	content := append(append(append([]byte{}, a...), b...), b[0])
	complete := len(file)
	file = append(file, make([]byte, 1000)...)
	r := rand.New(rand.NewPCG(1, 2))
	for most := 500; most <= 1<<18; most *= 8 {
		got, err := decodeParts(testDecoder(), file, io.EOF, func() int { return r.IntN(most + 1) })
		if err != io.EOF || !bytes.Equal(got, content) {
			t.Errorf("parts of up to %d: %d bytes, %v", most, len(got), err)
		}
	}
	broken := errors.New("broken")
	for n := 0; n < complete-30; n += 1 + r.IntN(20_000) {
		all := func() int { return 1 << 30 }
		got, err := decodeParts(testDecoder(), file[:n], io.EOF, all)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Truncated || e.Offset != int64(n) ||
			!bytes.HasPrefix(content, got) {
			t.Errorf("cut at %d: %d bytes, %v", n, len(got), err)
		}
		again, err := decodeParts(testDecoder(), file[:n], broken, func() int { return r.IntN(5000) })
		if err != broken || !bytes.Equal(got, again) {
			t.Errorf("error at %d: %d bytes, %v; want %d", n, len(again), err, len(got))
		}
	}
	d := testDecoder()
	for _, c := range []struct {
		junk string
		at   int
	}{{"\x00\x00x", 0}, {"x", 0}, {"\x1fx", 0}} {
		d.reset(&container.Limits{MaxDecoded: -1})
		_, err := decodeParts(d, append(file[:complete:complete], c.junk...), io.EOF,
			func() int { return r.IntN(100) })
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Trailing || e.Offset != int64(complete+c.at) {
			t.Errorf("%q behind the file: %v", c.junk, err)
		}
	}
}

// TestDecoderPanic checks that a decoder is not used after a panic, until the next file.
func TestDecoderPanic(t *testing.T) {
	d := testDecoder()
	good := d.walker.inflater
	d.walker.inflater = nil
	file := flushedMember(t, words(1000, 1), 1000)
	d.input.addPart(file, false, 0, false, io.EOF)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		d.Decode(new(container.Serial))
	}()
	var s container.Serial
	d.Decode(&s)
	if !errors.Is(s.Stop, errs.Internal) {
		t.Errorf("after the panic: %v", s.Stop)
	}
	d.walker.inflater = good
	d.reset(&container.Limits{MaxDecoded: -1, Checks: true})
	got, err := decodeParts(d, file, io.EOF, func() int { return 100 })
	if err != io.EOF || !bytes.Equal(got, words(1000, 1)) {
		t.Errorf("the next file: %d bytes, %v", len(got), err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestScannerWaits checks that a Scanner whose input may block does not read before the decoder has
// decoded what was flushed.
func TestScannerWaits(t *testing.T) {
	content := words(900_000, 1)
	for _, part := range []int{1000, 64 << 10, 300_000} {
		file := flushedMember(t, content, part)
		got, sent, asked := 0, 0, false
		src := readerFunc(func(p []byte) (int, error) {
			if len(file) == 0 {
				return 0, io.EOF
			}
			asked = true
			n := copy(p, file[:min(len(file), 3000)])
			file, sent = file[n:], sent+n
			return n, nil
		})
		var head [container.DetectSize]byte
		in := container.ReadStart(src, &head, false)
		var s Scanner
		s.Reset(&in, &container.Limits{MaxDecoded: -1, Checks: true})
		var u container.Unit
		var piece container.Serial
		for piece.Stop == nil {
			asked = false
			if s.Next(&u) != nil {
				continue
			}
			if _, err := s.Payload(&u, nil); err != nil {
				t.Fatal(err)
			}
			if asked && (s.dec.used.Load() < int64(sent-u.Raw) || s.dec.full.Load()) {
				t.Fatalf("parts of %d: read on with %d of %d bytes used", part, s.dec.used.Load(), sent)
			}
			decodeUnit(s.dec, &piece)
			got += len(piece.Content())
		}
		if piece.Stop != io.EOF || got != len(content) {
			t.Errorf("parts of %d: %d bytes, %v", part, got, piece.Stop)
		}
	}
}
