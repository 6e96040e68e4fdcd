package gzfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/inflate"
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

func newDecoder() *decoder {
	d := &decoder{inflater: new(inflate.Decoder)}
	d.begin(&container.Limits{MaxDecoded: -1, Checks: true})
	return d
}

// decodeParts decodes a file in parts of the sizes that next returns, 0 for a unit without input.
func decodeParts(d *decoder, file []byte, end error, next func() int) (content []byte, err error) {
	var s container.Serial
	var free []byte
	for s.Stop == nil {
		src := append(free[:0], file[:min(next(), len(file))]...)
		if file = file[len(src):]; len(file) == 0 {
			s.End = end
		}
		free = d.Decode(&s, src)
		content = append(content, s.Content()...)
		if s.Total != int64(len(content)) || s.Used != d.offsetAt {
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
		got, err := decodeParts(newDecoder(), file, io.EOF, func() int { return r.IntN(most + 1) })
		if err != io.EOF || !bytes.Equal(got, content) {
			t.Errorf("parts of up to %d: %d bytes, %v", most, len(got), err)
		}
	}
	broken := errors.New("broken")
	for n := 0; n < complete-30; n += 1 + r.IntN(20_000) {
		all := func() int { return 1 << 30 }
		got, err := decodeParts(newDecoder(), file[:n], io.EOF, all)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Truncated || e.Offset != int64(n) ||
			!bytes.HasPrefix(content, got) {
			t.Errorf("cut at %d: %d bytes, %v", n, len(got), err)
		}
		again, err := decodeParts(newDecoder(), file[:n], broken, func() int { return r.IntN(5000) })
		if err != broken || !bytes.Equal(got, again) {
			t.Errorf("error at %d: %d bytes, %v; want %d", n, len(again), err, len(got))
		}
	}
	d := newDecoder()
	for _, c := range []struct {
		junk string
		at   int
	}{{"\x00\x00x", 0}, {"x", 0}, {"\x1fx", 0}} {
		d.begin(&container.Limits{MaxDecoded: -1})
		_, err := decodeParts(d, append(file[:complete:complete], c.junk...), io.EOF,
			func() int { return r.IntN(100) })
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Trailing || e.Offset != int64(complete+c.at) {
			t.Errorf("%q behind the file: %v", c.junk, err)
		}
	}
}

// panicInflater panics in Decode.
type panicInflater struct{ inflate.Decoder }

func (*panicInflater) Decode([]byte, int, []byte) (n, used int, err error) { panic("test") }

// TestDecoderPanic checks that a decoder is not used after a panic, until the next file.
func TestDecoderPanic(t *testing.T) {
	d := newDecoder()
	good := d.inflater
	d.inflater = new(panicInflater)
	file := flushedMember(t, words(1000, 1), 1000)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		d.Decode(new(container.Serial), bytes.Clone(file))
	}()
	var s container.Serial
	if d.Decode(&s, nil); !errors.Is(s.Stop, errs.Internal) {
		t.Errorf("after the panic: %v", s.Stop)
	}
	d.inflater = good
	d.begin(&container.Limits{MaxDecoded: -1, Checks: true})
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
		in := container.Begin(src, &head, false)
		s := Scanner{NewInflater: func() Inflater { return new(inflate.Decoder) }}
		s.Begin(&in, &container.Limits{MaxDecoded: -1, Checks: true})
		var u container.Unit
		var piece container.Serial
		for piece.Stop == nil {
			if asked = false; s.Next(&u) != nil {
				continue
			}
			p, err := s.Payload(&u, nil)
			if err != nil {
				t.Fatal(err)
			}
			if asked && (s.dec.used.Load() < int64(sent-len(p)) || s.dec.full.Load()) {
				t.Fatalf("parts of %d: read on with %d of %d bytes used", part, s.dec.used.Load(), sent)
			}
			piece.End = u.End
			s.dec.Decode(&piece, p)
			got += len(piece.Content())
		}
		if piece.Stop != io.EOF || got != len(content) {
			t.Errorf("parts of %d: %d bytes, %v", part, got, piece.Stop)
		}
	}
}
