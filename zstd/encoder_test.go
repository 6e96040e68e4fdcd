package zstd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/zstfile"
)

// newEncoder and newDecoder fail the test on an error of an option.
func newEncoder(t testing.TB, w io.Writer, opts ...EOption) *Encoder {
	t.Helper()
	e, err := NewWriter(w, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newDecoder(t testing.TB, r io.Reader, opts ...DOption) *Decoder {
	t.Helper()
	d, err := NewReader(r, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mixed returns n bytes of content of all kinds.
func mixed(n int) []byte { return corpus.ByName("mixed").MakeSeed(n, 5) }

// stream returns content as the frame of a stream.
func stream(t testing.TB, e *Encoder, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	e.Reset(&b)
	if _, err := e.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// frames returns the number of frames in p. It fails the test if p is not made of them.
func frames(t testing.TB, p []byte) (n int) {
	t.Helper()
	_, err := compress.ReadInfo(bytes.NewReader(p), int64(len(p)), func(compress.BlockInfo) error {
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// content decodes p in both ways, and by the root package.
func content(t testing.TB, p []byte, opts ...DOption) []byte {
	t.Helper()
	d := newDecoder(t, nil, opts...)
	defer d.Close()
	all, err := d.DecodeAll(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Reset(struct{ io.Reader }{bytes.NewReader(p)}); err != nil {
		t.Fatal(err)
	}
	read, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(all, read) {
		t.Fatal("DecodeAll and Read differ")
	}
	if len(opts) == 0 {
		root, err := compress.AppendDecode(nil, p)
		if err != nil || !bytes.Equal(all, root) {
			t.Fatalf("the root package differs: %v", err)
		}
	}
	return all
}

// TestEncoder compresses content of many sizes with all windows and levels, as a stream and at
// once. Each result is one frame, no larger than MaxEncodedSize.
func TestEncoder(t *testing.T) {
	all := mixed(300 << 10)
	sizes := []int{1, 255, 256, 1 << 10, 1<<10 + 1, 64<<10 - 1, 128 << 10, 300 << 10}
	for level := SpeedFastest; level <= SpeedBestCompression; level++ {
		for _, window := range []int{MinWindowSize, 4 << 10, 64 << 10, 128 << 10, MaxWindowSize} {
			e := newEncoder(t, nil, WithEncoderLevel(level), WithWindowSize(window))
			for _, n := range sizes {
				for i, p := range [][]byte{e.EncodeAll(all[:n], nil), stream(t, e, all[:n])} {
					name := fmt.Sprintf("%v, window %d, %d bytes, %d", level, window, n, i)
					if !bytes.Equal(content(t, p), all[:n]) {
						t.Fatalf("%s: other content", name)
					}
					if frames(t, p) != 1 {
						t.Errorf("%s: %d frames", name, frames(t, p))
					}
					if most := e.MaxEncodedSize(n); len(p) > most {
						t.Errorf("%s: %d bytes, more than %d", name, len(p), most)
					}
					var h Header
					if err := h.Decode(p); err != nil {
						t.Fatal(err)
					}
					if i == 0 && (!h.HasFCS || h.FrameContentSize != uint64(n)) {
						t.Errorf("%s: content size %d, %v", name, h.FrameContentSize, h.HasFCS)
					}
					if !h.SingleSegment && h.WindowSize > uint64(min(window, engineWindow)) {
						t.Errorf("%s: window of %d bytes in the header", name, h.WindowSize)
					}
				}
			}
		}
	}
}

// TestWindow checks that no match reaches further than the window, and that all reach half of it.
func TestWindow(t *testing.T) {
	const window = 64 << 10
	random := corpus.ByName("random").Make(window)
	near := bytes.Repeat(random[:window/2], 20)
	far := bytes.Repeat(random[:window-window/8], 20)
	for _, c := range []struct {
		name    string
		content []byte
		most    int
	}{{"near", near, len(near) / 10}, {"far", far, len(far) * 4 / 5}} {
		e := newEncoder(t, nil, WithWindowSize(window))
		for _, p := range [][]byte{e.EncodeAll(c.content, nil), stream(t, e, c.content)} {
			// The codec rejects offsets beyond the window.
			if !bytes.Equal(content(t, p), c.content) {
				t.Errorf("%s: other content", c.name)
			}
			if len(p) > c.most {
				t.Errorf("%s: %d bytes of %d, more than %d", c.name, len(p), len(c.content), c.most)
			}
		}
	}
}

// TestFlush reads what has been written so far behind each Flush.
func TestFlush(t *testing.T) {
	for _, opts := range [][]EOption{
		nil, {WithWindowSize(MinWindowSize)}, {WithEncoderDictRaw(7, mixed(20<<10))},
	} {
		r, w := io.Pipe()
		e := newEncoder(t, w, opts...)
		d := newDecoder(t, r, WithDecoderDictRaw(7, mixed(20<<10)))
		lines := bytes.SplitAfter(corpus.ByName("log").Make(20<<10), []byte("\n"))
		done := make(chan error, 1)
		asked := make(chan int)
		go func() {
			for n := range asked {
				p := make([]byte, n)
				_, err := io.ReadFull(d, p)
				done <- err
			}
		}()
		for i, line := range lines {
			if len(line) == 0 {
				continue
			}
			asked <- len(line)
			if _, err := e.Write(line); err != nil {
				t.Fatal(err)
			}
			if err := e.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
		}
		close(asked)
		go io.Copy(io.Discard, r)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
}

// TestOneWrite checks that a short stream is one Write of the destination.
func TestOneWrite(t *testing.T) {
	var w counter
	e := newEncoder(t, &w)
	io.WriteString(e, "hello")
	if err := e.Close(); err != nil || w.writes != 1 {
		t.Errorf("%d writes, %v", w.writes, err)
	}
}

type counter struct{ writes, bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

// TestHeaders checks the headers that options ask for.
func TestHeaders(t *testing.T) {
	all := mixed(100 << 10)
	for _, c := range []struct {
		name   string
		opts   []EOption
		n      int
		single bool
		window uint64
		size   bool
		sum    bool
		id     uint32
	}{
		{"default", nil, 100, true, 0, true, true, 0},
		{"no checksum", []EOption{WithEncoderCRC(false)}, 5000, true, 0, true, false, 0},
		{"large", []EOption{WithWindowSize(64 << 10)}, 100 << 10, false, 64 << 10, true, true, 0},
		{"single", []EOption{WithWindowSize(64 << 10), WithSingleSegment(true)}, 100 << 10,
			true, 0, true, true, 0},
		{"not single", []EOption{WithSingleSegment(false)}, 5000, false, 8 << 10, true, true, 0},
		{"not single, small", []EOption{WithSingleSegment(false)}, 100, false, 1 << 10, false, true, 0},
		{"raw dictionary", []EOption{WithEncoderDictRaw(70_000, all[:999])}, 5000,
			true, 0, true, true, 70_000},
		{"raw dictionary 0", []EOption{WithEncoderDictRaw(0, all[:999])}, 5000, true, 0, true, true, 0},
		{"empty dictionary", []EOption{WithEncoderDictRaw(9, nil)}, 5000, true, 0, true, true, 9},
	} {
		e := newEncoder(t, nil, c.opts...)
		p := e.EncodeAll(all[:c.n], []byte("prefix"))
		if string(p[:6]) != "prefix" {
			t.Fatalf("%s: dst begins with %q", c.name, p[:6])
		}
		p = p[6:]
		var h Header
		if err := h.Decode(p); err != nil {
			t.Fatal(err)
		}
		if h.SingleSegment != c.single || h.WindowSize != c.window || h.HasFCS != c.size ||
			h.HasCheckSum != c.sum || h.DictionaryID != c.id {
			t.Errorf("%s: %+v", c.name, h)
		}
		got := content(t, p, WithDecoderDictRaw(c.id, all[:min(999, 999*len(c.opts))]))
		if c.name == "empty dictionary" {
			got = content(t, p, WithDecoderDictRaw(c.id, nil))
		}
		if !bytes.Equal(got, all[:c.n]) {
			t.Errorf("%s: other content", c.name)
		}
	}
}

// TestStreamHeaders checks the headers of streams.
func TestStreamHeaders(t *testing.T) {
	all := mixed(9 << 20)
	for _, c := range []struct {
		n, announced int
		window       uint64
		size         bool
	}{
		{100, 0, 1 << 10, false},
		{5000, 0, 8 << 10, true}, // one block, so the size is known
		{9 << 20, 0, 8 << 20, false},
		{9 << 20, 9 << 20, 8 << 20, true},
		{5 << 20, 5 << 20, 8 << 20, true},
	} {
		e := newEncoder(t, nil)
		var b bytes.Buffer
		e.ResetContentSize(&b, int64(c.announced))
		if n, err := e.ReadFrom(bytes.NewReader(all[:c.n])); err != nil || n != int64(c.n) {
			t.Fatal(n, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		var h Header
		if err := h.Decode(b.Bytes()); err != nil {
			t.Fatal(err)
		}
		if h.SingleSegment || h.WindowSize != c.window || h.HasFCS != c.size ||
			h.HasFCS && h.FrameContentSize != uint64(c.n) {
			t.Errorf("%d bytes: %+v", c.n, h)
		}
		if !bytes.Equal(content(t, b.Bytes()), all[:c.n]) {
			t.Errorf("%d bytes: other content", c.n)
		}
	}
}

// TestContentSize checks that a wrong size is an error of Close, and that the next stream has none.
func TestContentSize(t *testing.T) {
	var b bytes.Buffer
	e := newEncoder(t, nil)
	e.ResetContentSize(&b, 10)
	io.WriteString(e, "short")
	for range 2 {
		if e.Close() == nil {
			t.Error("a wrong size is no error")
		}
	}
	if got := content(t, stream(t, e, []byte("short"))); string(got) != "short" {
		t.Errorf("%q behind the error", got)
	}
}

// TestEmpty checks content of no bytes.
func TestEmpty(t *testing.T) {
	for _, zero := range []bool{true, false} {
		e := newEncoder(t, nil, WithZeroFrames(zero))
		for i, p := range [][]byte{e.EncodeAll(nil, nil), stream(t, e, nil)} {
			if (len(p) > 0) != zero {
				t.Errorf("zero frames %v: %d bytes (%d)", zero, len(p), i)
			}
			if zero && frames(t, p) != 1 {
				t.Error("no frame")
			}
			got, err := io.ReadAll(newDecoder(t, bytes.NewReader(p)))
			if err != nil || len(got) != 0 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
	}
}

// TestPadding checks sizes with padding, and what the padding is.
func TestPadding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		pad := 1 + rng.IntN(5000)
		e := newEncoder(t, nil, WithEncoderPadding(pad))
		all := mixed(rng.IntN(20_000))
		dst := make([]byte, rng.IntN(100))
		for i, p := range [][]byte{e.EncodeAll(all, dst), stream(t, e, all)} {
			if len(all) > 0 && len(p)%pad != 0 {
				t.Errorf("%d bytes with padding %d", len(p), pad)
			}
			if i == 0 {
				p = p[len(dst):]
			}
			if len(p) > e.MaxEncodedSize(len(all))+pad {
				t.Errorf("%d bytes, more than %d", len(p), e.MaxEncodedSize(len(all)))
			}
			if !bytes.Equal(content(t, p), all) {
				t.Errorf("other content with padding %d", pad)
			}
		}
	}
}

// TestStreamErrors checks what methods return without a writer, behind an error and behind Close.
func TestStreamErrors(t *testing.T) {
	e := newEncoder(t, nil)
	if _, err := e.Write([]byte("x")); err == nil {
		t.Error("Write without a writer")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	e.Reset(failing{broken})
	if _, err := e.Write(mixed(100)); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := e.Flush(); !errors.Is(err, broken) {
			t.Errorf("Flush: %v", err)
		}
	}
	if _, err := e.Write([]byte("x")); !errors.Is(err, broken) {
		t.Errorf("Write: %v", err)
	}
	if err := e.Close(); !errors.Is(err, broken) {
		t.Errorf("Close: %v", err)
	}
	if got := content(t, stream(t, e, []byte("again"))); string(got) != "again" {
		t.Errorf("%q behind Reset", got)
	}
	if _, err := e.Write([]byte("x")); err != ErrEncoderClosed {
		t.Errorf("Write behind Close: %v", err)
	}
	if _, err := e.ReadFrom(strings.NewReader("x")); err != ErrEncoderClosed {
		t.Errorf("ReadFrom behind Close: %v", err)
	}
	if err := errors.Join(e.Flush(), e.Close()); err != nil {
		t.Errorf("behind Close: %v", err)
	}
	var b bytes.Buffer
	e.Reset(&b)
	if _, err := e.ReadFrom(io.MultiReader(strings.NewReader("part"), failing{broken})); err != broken {
		t.Errorf("ReadFrom: %v", err)
	}
	if err := e.Close(); err != nil || string(content(t, b.Bytes())) != "part" {
		t.Errorf("behind an error of the source: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

// TestZeroEncoder checks that the zero value has the default options.
func TestZeroEncoder(t *testing.T) {
	var e Encoder
	all := mixed(10_000)
	want := newEncoder(t, nil).EncodeAll(all, nil)
	if !bytes.Equal(e.EncodeAll(all, nil), want) {
		t.Error("EncodeAll of the zero value differs")
	}
	var s Encoder
	if !bytes.Equal(content(t, stream(t, &s, all)), all) {
		t.Error("the stream of the zero value differs")
	}
}

// TestEncoderOptions checks the ranges of options, and those that must not change on Reset.
func TestEncoderOptions(t *testing.T) {
	for name, opt := range map[string]EOption{
		"concurrency": WithEncoderConcurrency(-1), "level 0": WithEncoderLevel(0),
		"level 5": WithEncoderLevel(SpeedBestCompression + 1), "window 512": WithWindowSize(512),
		"window 1 GiB": WithWindowSize(1 << 30), "window 3 KiB": WithWindowSize(3 << 10),
		"padding 0": WithEncoderPadding(0), "padding": WithEncoderPadding(1<<30 + 1),
		"dictionary": WithEncoderDict([]byte("no dictionary, but long enough")),
		"short":      WithEncoderDict(nil),
	} {
		if _, err := NewWriter(nil, opt); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	e := newEncoder(t, nil, WithEncoderConcurrency(3))
	same := []EOption{
		WithEncoderConcurrency(3), WithEncoderLevel(SpeedDefault), WithWindowSize(8 << 20),
		WithLowerEncoderMem(false), WithConcurrentBlocks(false),
	}
	other := []EOption{
		WithEncoderConcurrency(2), WithEncoderLevel(SpeedFastest), WithWindowSize(1 << 20),
		WithLowerEncoderMem(true), WithConcurrentBlocks(true),
	}
	for i := range same {
		if err := e.ResetWithOptions(nil, same[i]); err != nil {
			t.Error(err)
		}
		if err := e.ResetWithOptions(nil, other[i]); err == nil {
			t.Errorf("option %d may change", i)
		}
	}
	any := []EOption{
		WithEncoderCRC(false), WithEncoderPadding(1), WithZeroFrames(false), WithSingleSegment(false),
		WithAllLitEntropyCompression(true), WithNoEntropyCompression(true),
		WithEncoderDictRaw(3, []byte("abcdefgh")), WithEncoderDictDelete(),
	}
	var b bytes.Buffer
	if err := e.ResetWithOptions(&b, any...); err != nil {
		t.Fatal(err)
	}
	if p := stream(t, e, mixed(3000)); len(p) == 0 || p[4]&flagChecksum != 0 {
		t.Error("options do not count for the next stream")
	}
	if p := e.EncodeAll(mixed(3000), nil); p[4]&(flagChecksum|flagSingle) != 0 {
		t.Error("options do not count for EncodeAll")
	}
}

// TestConcurrency calls EncodeAll and DecodeAll from many goroutines, while streams are under way.
func TestConcurrency(t *testing.T) {
	all := mixed(200 << 10)
	for _, n := range []int{1, 2, 0} {
		e := newEncoder(t, io.Discard, WithEncoderConcurrency(n), WithEncoderLevel(SpeedFastest))
		d := newDecoder(t, nil, WithDecoderConcurrency(n))
		want := e.EncodeAll(all, nil)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(g), 1))
				for range 20 {
					part := all[:1+rng.IntN(len(all))]
					p := e.EncodeAll(part, nil)
					if got, err := d.DecodeAll(p, nil); err != nil || !bytes.Equal(got, part) {
						t.Errorf("%d bytes: %v", len(part), err)
					}
				}
			})
		}
		for range 3 {
			e.Write(all)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if !bytes.Equal(want, e.EncodeAll(all, nil)) {
			t.Errorf("concurrency %d: the output has changed", n)
		}
	}
}

// TestDeterministic checks that the output depends on content and options alone.
func TestDeterministic(t *testing.T) {
	all := mixed(3 << 20)
	e := newEncoder(t, nil, WithWindowSize(1<<20))
	whole := stream(t, e, all)
	one := newEncoder(t, nil, WithWindowSize(1<<20), WithEncoderConcurrency(1))
	var b bytes.Buffer
	one.Reset(&b)
	for p := all; len(p) > 0; {
		n := min(len(p), 7777)
		one.Write(p[:n])
		p = p[n:]
	}
	if err := one.Close(); err != nil || !bytes.Equal(b.Bytes(), whole) {
		t.Errorf("the output depends on the calls of Write or the workers: %v", err)
	}
	b.Reset()
	one.Reset(&b)
	one.ReadFrom(bytes.NewReader(all))
	if err := one.Close(); err != nil || !bytes.Equal(b.Bytes(), whole) {
		t.Errorf("ReadFrom makes other output: %v", err)
	}
}

// TestEncodeTo checks the functions without an Encoder and a Decoder.
func TestEncodeTo(t *testing.T) {
	all := mixed(50_000)
	p := EncodeTo([]byte("a"), all)
	got, err := DecodeTo([]byte("b"), p[1:])
	if err != nil || p[0] != 'a' || got[0] != 'b' || !bytes.Equal(got[1:], all) {
		t.Errorf("%v", err)
	}
	if !zstfile.IsFrame(p[1:]) {
		t.Error("no frame")
	}
}
