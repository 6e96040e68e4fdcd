package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// result is what decoding a stream leads to.
type result struct {
	content []byte
	used    int   // bytes of the source
	err     error // nil at the end of the stream, io.ErrUnexpectedEOF if the source ends before it
	stops   []stop
}

// A stop is a place where a Decoder has returned ErrBlock.
type stop struct {
	bit     int64 // in the stream
	content int   // bytes before it
}

// byStandard decodes with compress/flate.
func byStandard(src []byte) result {
	r := bytes.NewReader(src)
	if err := standardReader.(flate.Resetter).Reset(r, nil); err != nil {
		return result{err: err}
	}
	p, err := io.ReadAll(standardReader)
	return result{content: p, used: len(src) - r.Len(), err: err}
}

var standardReader = flate.NewReader(nil)

const canaries = 16 // bytes behind the room

var scratch = make([]byte, 2*WindowSize) // of byChunks

// byChunks decodes with d. nextInput and nextRoom return the sizes of the next chunks of input and
// room. It checks that d writes nothing behind the room.
func byChunks(t testing.TB, d *Decoder, src []byte, nextInput, nextRoom func() int) result {
	t.Helper()
	d.Reset()
	return onChunks(t, d, nil, src, nextInput, nextRoom)
}

// onChunks is byChunks behind a Reset, with the content before src.
func onChunks(t testing.TB, d *Decoder, before, src []byte, nextInput, nextRoom func() int) result {
	t.Helper()
	var res result
	buf := scratch
	at, from, to := copy(buf, before), 0, 0
	for {
		room := nextRoom()
		if at+room+canaries > len(buf) {
			if at > WindowSize {
				copy(buf, buf[at-WindowSize:at])
				at = WindowSize
			}
			if at+room+canaries > len(buf) {
				buf = append(buf[:at], make([]byte, room+WindowSize)...)
				scratch = buf
			}
		}
		dst := buf[:at+room]
		guard := buf[at+room : at+room+canaries]
		for i := range guard {
			guard[i] = byte(0xa5 + i)
		}
		n, used, err := d.Decode(dst, at, src[from:to:to])
		for i, c := range guard {
			if c != byte(0xa5+i) {
				t.Fatalf("overwrites byte %d behind the room", i)
			}
		}
		if n < 0 || n > room || used < 0 || used > to-from {
			t.Fatalf("%d of %d bytes, used %d of %d", n, room, used, to-from)
		}
		res.content = append(res.content, buf[at:at+n]...)
		at += n
		from += used
		switch {
		case err == io.EOF:
			res.used = from
			return res
		case err == ErrBlock:
			res.stops = append(res.stops, stop{d.Position(), len(res.content)})
		case err != nil:
			res.used, res.err = from, err
			return res
		case n < room && from < to:
			t.Fatalf("stops with %d bytes of room and %d bytes of input", room-n, to-from)
		case n < room && to == len(src):
			res.used, res.err = from, io.ErrUnexpectedEOF
			return res
		case from == to:
			to = min(len(src), to+nextInput())
		}
	}
}

// between returns random chunk sizes for byChunks.
func between(r *rand.Rand, low, high int) func() int {
	return func() int { return low + r.IntN(high-low+1) }
}

// always returns a chunk size for byChunks.
func always(n int) func() int { return func() int { return n } }

// whole decodes a stream at once.
func whole(t testing.TB, d *Decoder, src []byte) result {
	t.Helper()
	return byChunks(t, d, src, always(max(1, len(src))), always(256<<10))
}

// differs says how a result differs from that of compress/flate, "" if it does not. Before it
// decodes a symbol, compress/flate waits for as many bits as the end of the block has. So this
// package may decode a few more symbols of a source that ends too early, or find damage among them.
func differs(src []byte, got, want result) string {
	var corrupt *CorruptError
	isCorrupt := errors.As(got.err, &corrupt)
	if isCorrupt && (corrupt.Bit < 0 || corrupt.Bit > int64(len(src))*8) {
		return fmt.Sprintf("error at bit %d of %d bytes", corrupt.Bit, len(src))
	}
	if want.err == io.ErrUnexpectedEOF {
		switch {
		case got.err == nil:
			return "accepted, but cut short"
		case isCorrupt && corrupt.Bit < int64(len(src))*8-48:
			return fmt.Sprintf("%v, but the source only ends early", got.err)
		case !bytes.HasPrefix(got.content, want.content):
			return fmt.Sprintf("%d bytes of content, want other %d", len(got.content), len(want.content))
		}
		return ""
	}
	switch {
	case want.err == nil && got.err != nil, want.err != nil && !isCorrupt:
		return fmt.Sprintf("%v, want %v", got.err, want.err)
	case !bytes.Equal(got.content, want.content):
		return fmt.Sprintf("%d bytes of content, want other %d", len(got.content), len(want.content))
	case want.err == nil && got.used != want.used:
		return fmt.Sprintf("used %d bytes, want %d", got.used, want.used)
	}
	return ""
}

// standard makes a stream with compress/flate.
func standard(t testing.TB, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// flushed makes a stream with a flush every n bytes.
func flushed(t testing.TB, content []byte, level, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for len(content) > 0 {
		k := min(n, len(content))
		w.Write(content[:k])
		w.Flush()
		content = content[k:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// random makes a stream with package deflate, from n random runs of literals and matches with all
// kinds of offsets and lengths.
func random(r *rand.Rand, n int) []byte { return randomBehind(r, n, nil) }

// randomBehind makes such a stream with a window in front of it.
func randomBehind(r *rand.Rand, n int, window []byte) []byte {
	content := bytes.Clone(window)
	var seqs []lz77.Sequence
	run := 0
	spread := 1 + r.IntN(256)
	for range n {
		if r.IntN(200) == 0 {
			spread = 1 + r.IntN(256)
		}
		if most := min(len(content), WindowSize); most > 0 && r.IntN(2) == 0 {
			offset := 1 + r.IntN(most)
			if r.IntN(2) > 0 {
				offset = 1 + r.IntN(min(most, 40))
			}
			length := 3 + r.IntN(1+r.IntN(256))
			for range length {
				content = append(content, content[len(content)-offset])
			}
			seqs = append(seqs, lz77.Sequence{
				LitLen: uint32(run), MatchLen: uint32(length), Offset: uint32(offset),
			})
			run = 0
			continue
		}
		for range 1 + r.IntN(1+r.IntN(12)) {
			content = append(content, byte(r.IntN(spread)))
			run++
		}
	}
	var e deflate.Encoder
	return e.Append(nil, content[len(window):], seqs, true)
}

// byTool makes a stream with a program that writes .gz.
func byTool(t testing.TB, content []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	cmd.Stdin = bytes.NewReader(content)
	p, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return p[10 : len(p)-8] // these programs write a header without optional fields
}

// text returns content that compresses.
func text(n int) []byte { return corpus.ByName("text").Make(n) }
