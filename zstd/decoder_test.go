package zstd

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	codec "github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// head returns the header of a frame.
func head(h zstframe.Header) []byte { return h.Append(nil) }

// block returns a block with its header.
func block(kind, size int, last bool, body ...byte) []byte {
	v := kind<<1 | size<<3
	if last {
		v |= 1
	}
	return append([]byte{byte(v), byte(v >> 8), byte(v >> 16)}, body...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestErrors checks that DecodeAll and Read return the errors that klauspost/compress returns.
func TestErrors(t *testing.T) {
	const rle, coded = zstframe.RLEBlock, zstframe.CompressedBlock
	single := func(n int64) []byte { return head(zstframe.Header{ContentSize: n, SingleSegment: true}) }
	window := func(w int64) []byte { return head(zstframe.Header{ContentSize: -1, Window: w}) }
	sized := func(n int64) []byte { return head(zstframe.Header{ContentSize: n, Window: 1 << 20}) }
	raw := func(n int, last bool) []byte { return block(zstframe.RawBlock, n, last, make([]byte, n)...) }
	hello := newEncoder(t, nil).EncodeAll([]byte("hello hello hello"), nil)
	wrongSum := bytes.Clone(hello)
	wrongSum[len(wrongSum)-1]++
	reserved := bytes.Clone(hello)
	reserved[4] |= flagReserved
	other := head(zstframe.Header{ContentSize: 5, SingleSegment: true, Dictionary: 9})
	for _, c := range []struct {
		name string
		in   []byte
		want error
		opts []DOption
	}{
		{"magic", []byte("no frame at all"), ErrMagicMismatch, nil},
		{"magic behind a frame", join(hello, []byte("stray")), ErrMagicMismatch, nil},
		{"gzip", []byte{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0}, ErrMagicMismatch, nil},
		{"3 bytes", hello[:3], io.ErrUnexpectedEOF, nil},
		{"half a header", hello[:5], io.ErrUnexpectedEOF, nil},
		{"half a frame", hello[:len(hello)/2], io.ErrUnexpectedEOF, nil},
		{"half a checksum", hello[:len(hello)-2], io.ErrUnexpectedEOF, nil},
		{"half a skippable frame", []byte{0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 1}, io.ErrUnexpectedEOF, nil},
		{"half its header", []byte{0x50, 0x2A, 0x4D, 0x18, 9, 0}, io.ErrUnexpectedEOF, nil},
		{"checksum", wrongSum, ErrCRCMismatch, nil},
		{"checksum ignored", wrongSum, nil, []DOption{IgnoreChecksum(true)}},
		{"reserved bit", reserved, compress.ErrCorrupt, nil},
		{"reserved block", join(window(1<<10), block(3, 4, true, 1, 2, 3, 4)), ErrReservedBlockType, nil},
		{"large raw block", join(window(1<<10), raw(1<<10+1, true)), ErrWindowSizeExceeded, nil},
		{"large RLE block", join(window(1<<10), block(rle, 1<<10+1, true, 7)), ErrWindowSizeExceeded, nil},
		{"large block", join(window(1<<10), block(coded, 1<<10+1, true, make([]byte, 1<<11)...)),
			ErrCompressedSizeTooBig, nil},
		{"small block", join(window(1<<10), block(coded, 1, true, 0)), ErrBlockTooSmall, nil},
		{"literals cut", join(window(1<<10), block(coded, 2, true, 2, 0)), ErrBlockTooSmall, nil},
		{"bytes behind", join(window(1<<10), block(coded, 4, true, 8, 'x', 0, 1)),
			ErrUnexpectedBlockSize, nil},
		{"more than stated", join(sized(300), raw(301, true)), ErrFrameSizeExceeded, nil},
		{"less than stated", join(sized(300), raw(299, true)), ErrFrameSizeMismatch, nil},
		{"window", join(window(1<<20), raw(5, true)), ErrWindowSizeExceeded,
			[]DOption{WithDecoderMaxWindow(1 << 19)}},
		{"default window", join(window(1<<30), raw(5, true)), ErrWindowSizeExceeded, nil},
		{"window by memory", join(window(1<<20), raw(5, true)), ErrWindowSizeExceeded,
			[]DOption{WithDecoderMaxMemory(1 << 19)}},
		{"single segment", join(single(5000), raw(5, true)), ErrDecoderSizeExceeded,
			[]DOption{WithDecoderMaxMemory(4999)}},
		{"dictionary", join(other, raw(5, true)), ErrUnknownDictionary, nil},
		{"dictionary there", join(other, raw(5, true)), nil, []DOption{WithDecoderDictRaw(9, nil)}},
		{"huge size", join(single(1<<62), raw(5, true)), ErrDecoderSizeExceeded, nil},
	} {
		d := newDecoder(t, nil, c.opts...)
		for range 2 { // also behind an error
			if _, err := d.DecodeAll(c.in, nil); !errors.Is(err, c.want) {
				t.Errorf("%s: DecodeAll: %v, want %v", c.name, err, c.want)
			}
			d.Reset(iotest.OneByteReader(bytes.NewReader(c.in)))
			if _, err := io.ReadAll(d); !errors.Is(err, c.want) {
				t.Errorf("%s: Read: %v, want %v", c.name, err, c.want)
			}
			if c.want != nil {
				if _, err := d.Read(make([]byte, 1)); !errors.Is(err, c.want) {
					t.Errorf("%s: second Read: %v, want %v", c.name, err, c.want)
				}
			}
		}
		d.Reset(bytes.NewReader(hello))
		if got, err := io.ReadAll(d); err != nil || string(got) != "hello hello hello" {
			t.Errorf("%s: behind Reset: %q, %v", c.name, got, err)
		}
	}
}

// TestLimits checks limits of the content.
func TestLimits(t *testing.T) {
	all := mixed(300 << 10)
	e := newEncoder(t, nil, WithWindowSize(64<<10))
	for i, p := range [][]byte{e.EncodeAll(all, nil), stream(t, e, all)} {
		for _, c := range []struct {
			limit uint64
			want  error
		}{{300 << 10, nil}, {300<<10 - 1, ErrDecoderSizeExceeded}, {64 << 10, ErrDecoderSizeExceeded}} {
			d := newDecoder(t, nil, WithDecoderMaxMemory(c.limit))
			if _, err := d.DecodeAll(p, make([]byte, 10)); !errors.Is(err, c.want) {
				t.Errorf("%d, limit %d: %v", i, c.limit, err)
			}
			d.Reset(bytes.NewReader(p)) // the limit is one of the window there
			if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, all) {
				t.Errorf("%d, limit %d: Read: %v", i, c.limit, err)
			}
			if _, err := d.DecodeAll(join(p, p), nil); !errors.Is(err, ErrDecoderSizeExceeded) {
				t.Errorf("%d, limit %d: two frames: %v", i, c.limit, err)
			}
		}
		d := newDecoder(t, nil, WithDecodeAllCapLimit(true))
		for _, c := range []struct {
			room int
			want error
		}{{len(all), nil}, {len(all) - 1, ErrDecoderSizeExceeded}, {0, ErrDecoderSizeExceeded}} {
			dst := make([]byte, 7, 7+c.room)
			got, err := d.DecodeAll(p, dst)
			if !errors.Is(err, c.want) {
				t.Errorf("%d, room of %d: %v", i, c.room, err)
			}
			if err == nil && (&got[0] != &dst[0] || !bytes.Equal(got[7:], all)) {
				t.Errorf("%d: other content or memory", i)
			}
		}
	}
}

// flushed returns content as the frame of a stream with a flush in the middle, so that its header
// does not state the size.
func flushed(t *testing.T, e *Encoder, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	e.Reset(&b)
	half := len(content) / 2
	_, err := e.Write(content[:half])
	if err := errors.Join(err, e.Flush()); err != nil {
		t.Fatal(err)
	}
	_, err = e.Write(content[half:])
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoom decodes frames that do not state their size to memory of many capacities. If the content
// fits, it stays in the caller's memory.
func TestRoom(t *testing.T) {
	all := mixed(295_000)
	d := newDecoder(t, nil, WithDecoderDictRaw(5, all[:40_000]))
	for name, opts := range map[string][]EOption{
		"default": nil, "window": {WithWindowSize(32 << 10)},
		"dictionary": {WithEncoderDictRaw(5, all[:40_000])},
	} {
		p := flushed(t, newEncoder(t, nil, opts...), all)
		for room := 1; room < len(all)+8000; room += 1999 {
			if room > len(all) && room < len(all)+1999 {
				room = len(all)
			}
			dst := make([]byte, 7, 7+room)
			got, err := d.DecodeAll(p, dst)
			if err != nil || !bytes.Equal(got[7:], all) {
				t.Fatalf("%s, room of %d: %d bytes, %v", name, room, len(got)-7, err)
			}
			if same := &got[0] == &dst[0]; same != (room >= len(all)) {
				t.Errorf("%s, room of %d: in the caller's memory: %v", name, room, same)
			}
		}
	}
}

// TestParallel reads streams that are large enough for workers, from memory and from files, intact
// and damaged. What Read and WriteTo return is what a Decoder without workers returns.
func TestParallel(t *testing.T) {
	all := mixed(6 << 20)
	e := newEncoder(t, nil)
	whole := stream(t, e, all)
	several := join(e.EncodeAll(all[:3<<20], nil), e.EncodeAll(all[3<<20:], nil))
	flip := func(p []byte, at int) []byte {
		p = bytes.Clone(p)
		p[at] ^= 0x55
		return p
	}
	cases := map[string][]byte{
		"one frame": whole, "frames": several, "in the middle": flip(whole, len(whole)*3/4),
		"checksum": flip(whole, len(whole)-1), "first frame": flip(several, len(several)/4),
		"cut": whole[:len(whole)-100], "stray": join(several, []byte("stray")),
		"gzip": append([]byte{0x1F, 0x8B, 8, 0}, make([]byte, 2<<20)...),
	}
	for name, p := range cases {
		one := newDecoder(t, bytes.NewReader(p), WithDecoderConcurrency(1))
		want, werr := io.ReadAll(one)
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, append([]byte("offset"), p...), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := newDecoder(t, nil, WithDecoderConcurrency(3))
		for i := range 4 {
			f.Seek(6, io.SeekStart)
			src := io.Reader(f)
			if i%2 == 1 {
				src = bytes.NewReader(p)
			}
			d.Reset(src)
			if !d.useWorkers() && len(p) >= parallelFrom {
				t.Fatalf("%s: no workers", name)
			}
			var b bytes.Buffer
			if i < 2 {
				_, err = io.Copy(&b, struct{ io.Reader }{d})
			} else {
				_, err = d.WriteTo(&b)
			}
			if werr != err || !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s, %d: %d bytes, %v; want %d, %v", name, i, b.Len(), err, len(want), werr)
			}
			if rest, _ := src.Read(make([]byte, 1)); err == nil && rest > 0 {
				t.Errorf("%s: the source is not at its end", name)
			}
		}
		d.Reset(f)
		d.Close()
	}
	// The window is limited as without workers.
	d := newDecoder(t, bytes.NewReader(whole), WithDecoderMaxWindow(1<<20))
	if _, err := io.ReadAll(d); err != ErrWindowSizeExceeded {
		t.Errorf("window: %v", err)
	}
	broken := errors.New("broken")
	for range 2 {
		d = newDecoder(t, bytes.NewReader(whole))
		if _, err := d.WriteTo(failing{broken}); err != broken {
			t.Errorf("destination: %v", err)
		}
	}
	if n := permits.Load(); n != 0 {
		t.Errorf("%d permits in use", n)
	}
}

// TestExactCapacity checks that content goes to dst if that has just the room.
func TestExactCapacity(t *testing.T) {
	e, d := newEncoder(t, nil), newDecoder(t, nil)
	for _, n := range []int{1, 100, 128 << 10, 200 << 10} {
		all := mixed(n)
		dst := make([]byte, 0, n)
		got, err := d.DecodeAll(e.EncodeAll(all, nil), dst)
		if err != nil || !bytes.Equal(got, all) || &got[0] != &dst[:1][0] {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestHostileSize checks that a header alone does not make DecodeAll allocate.
func TestHostileSize(t *testing.T) {
	p := head(zstframe.Header{ContentSize: 1 << 35, Window: 1 << 20})
	p = append(p, block(zstframe.RawBlock, 1, false, 'x')...)
	got, err := newDecoder(t, nil).DecodeAll(p, nil)
	if err != io.ErrUnexpectedEOF || string(got) != "x" || cap(got) > 1<<20 {
		t.Errorf("%d bytes, capacity %d: %v", len(got), cap(got), err)
	}
}

// TestSkippable passes over skippable frames.
func TestSkippable(t *testing.T) {
	h := Header{Skippable: true, SkippableID: 3, SkippableSize: 70_000}
	skip, _ := h.AppendTo(nil)
	skip = append(skip, make([]byte, 70_000)...)
	hello := EncodeTo(nil, []byte("hello"))
	p := join(skip, hello, skip, skip, hello, skip)
	if got := content(t, p); string(got) != "hellohello" {
		t.Errorf("%q", got)
	}
}

// TestMutants decodes damaged frames. Both ways return the same error, or the same content, and
// neither panics.
func TestMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dict := mixed(2000)
	var seeds [][]byte
	for _, opts := range [][]EOption{
		nil, {WithEncoderCRC(false), WithWindowSize(4 << 10)}, {WithEncoderDictRaw(3, dict)},
	} {
		e := newEncoder(t, nil, opts...)
		for _, n := range []int{20, 3000, 40_000} {
			seeds = append(seeds, e.EncodeAll(mixed(n), nil), stream(t, e, mixed(n)))
		}
	}
	d := newDecoder(t, nil, WithDecoderDictRaw(3, dict), WithDecoderMaxMemory(1<<20))
	for i := range 4000 {
		p := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(p))
			if rng.IntN(3) == 0 {
				at = rng.IntN(min(len(p), 20))
			}
			p[at] ^= 1 << rng.IntN(8)
		}
		if rng.IntN(4) == 0 {
			p = p[:rng.IntN(len(p))]
		}
		all, err := d.DecodeAll(p, nil)
		d.Reset(bytes.NewReader(p))
		read, rerr := io.ReadAll(d)
		// Limits of content and of memory come first in DecodeAll.
		first := err == ErrDecoderSizeExceeded || err == ErrFrameSizeExceeded || err == ErrWindowSizeExceeded
		if err != rerr && !first {
			t.Fatalf("mutant %d: DecodeAll returns %v, Read %v", i, err, rerr)
		}
		if err == nil && !bytes.Equal(all, read) {
			t.Fatalf("mutant %d: DecodeAll and Read differ", i)
		}
	}
}

// TestDecoderCalls checks a Decoder without source, behind errors of source and destination, and
// behind Close.
func TestDecoderCalls(t *testing.T) {
	p := EncodeTo(nil, mixed(300<<10))
	d := newDecoder(t, nil)
	if _, err := d.Read(make([]byte, 1)); err != ErrDecoderNilInput {
		t.Errorf("no source: %v", err)
	}
	broken := errors.New("broken")
	d.Reset(io.MultiReader(bytes.NewReader(p[:len(p)/2]), failing{broken}))
	if got, err := io.ReadAll(d); err != broken || len(got) == 0 {
		t.Errorf("source: %d bytes, %v", len(got), err)
	}
	d.Reset(bytes.NewReader(p))
	for range 2 {
		if _, err := d.WriteTo(failing{broken}); err != broken {
			t.Errorf("destination: %v", err)
		}
	}
	d.Reset(bytes.NewReader(p))
	c := d.IOReadCloser()
	var b bytes.Buffer
	if _, err := io.Copy(&b, c); err != nil || b.Len() != 300<<10 {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Read(make([]byte, 1)); err != ErrDecoderClosed {
		t.Errorf("Read: %v", err)
	}
	if _, err := d.DecodeAll(p, nil); err != ErrDecoderClosed {
		t.Errorf("DecodeAll: %v", err)
	}
	if err := d.Reset(nil); err != ErrDecoderClosed {
		t.Errorf("Reset: %v", err)
	}
	if err := d.ResetWithOptions(nil); err != ErrDecoderClosed {
		t.Errorf("ResetWithOptions: %v", err)
	}
	d.Close()
}

// TestDecoderOptions checks the ranges of options, and those that must not change on Reset.
func TestDecoderOptions(t *testing.T) {
	for name, opt := range map[string]DOption{
		"concurrency": WithDecoderConcurrency(-1), "memory 0": WithDecoderMaxMemory(0),
		"memory": WithDecoderMaxMemory(1<<63 + 1), "window 1023": WithDecoderMaxWindow(1023),
		"window":     WithDecoderMaxWindow(1 << 42),
		"dictionary": WithDecoderDicts([]byte("no dictionary, but long enough")),
	} {
		if _, err := NewReader(nil, opt); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	d := newDecoder(t, nil, WithDecoderConcurrency(3))
	same := []DOption{WithDecoderConcurrency(3), WithDecoderLowmem(true), WithDecodeBuffersBelow(128 << 10)}
	other := []DOption{WithDecoderConcurrency(2), WithDecoderLowmem(false), WithDecodeBuffersBelow(1)}
	for i := range same {
		if err := d.ResetWithOptions(nil, same[i]); err != nil {
			t.Error(err)
		}
		if err := d.ResetWithOptions(nil, other[i]); err == nil {
			t.Errorf("option %d may change", i)
		}
	}
}

// TestHeader parses headers that AppendTo writes, and prefixes of them.
func TestHeader(t *testing.T) {
	for _, h := range []Header{
		{SingleSegment: true, HasFCS: true, FrameContentSize: 5}, {WindowSize: 1 << 10},
		{WindowSize: 9 << 20, HasCheckSum: true, DictionaryID: 300},
		{WindowSize: 8 << 20, HasFCS: true, FrameContentSize: 300, DictionaryID: 7},
		{WindowSize: 8 << 20, HasFCS: true, FrameContentSize: 1 << 33, DictionaryID: 1 << 20},
		{Skippable: true, SkippableID: 15, SkippableSize: 12345},
	} {
		p, err := h.AppendTo([]byte("x"))
		if err != nil || p[0] != 'x' {
			t.Fatal(err)
		}
		p = p[1:]
		h.HeaderSize = len(p)
		for n := range p {
			var got Header
			if err := got.Decode(p[:n]); err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes of a header: %v", n, err)
			}
		}
		var got Header
		rest, err := got.DecodeAndStrip(append(p, 'r', 's'))
		if err != nil || got != h || string(rest) != "rs" {
			t.Errorf("%+v becomes %+v, %v", h, got, err)
		}
	}
	var h Header
	if err := h.Decode([]byte("abcdefgh")); err != ErrMagicMismatch {
		t.Error(err)
	}
	p := append(head(zstframe.Header{ContentSize: 9, SingleSegment: true}), block(1, 9, true, 'x')...)
	err := h.Decode(p)
	b := h.FirstBlock
	if err != nil || !b.OK || !b.Last || !b.Compressed || b.DecompressedSize != 9 || b.CompressedSize != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestWindows reads frames with windows of all sizes in one stream, in both orders.
func TestWindows(t *testing.T) {
	all := mixed(2 << 20)
	var up, down, wantUp, wantDown []byte
	for window := MinWindowSize; window <= engineWindow; window *= 8 {
		body := all[min(window, 1<<20):]
		p := stream(t, newEncoder(t, nil, WithWindowSize(window)), body)
		up, down = append(up, p...), join(p, down)
		wantUp, wantDown = append(wantUp, body...), join(body, wantDown)
	}
	if !bytes.Equal(content(t, up), wantUp) || !bytes.Equal(content(t, down), wantDown) {
		t.Error("other content")
	}
}

// TestSentinels checks that the codec's errors are the keys of the map.
func TestSentinels(t *testing.T) {
	if blockError(codec.ErrShortBlock) != ErrBlockTooSmall ||
		!errors.Is(blockError(codec.ErrOffset), compress.ErrCorrupt) {
		t.Error("errors of the codec are not known")
	}
}

// TestZeroDecoder checks that a Decoder that NewReader has not made returns errors, as that of
// klauspost/compress does, and does not wait.
func TestZeroDecoder(t *testing.T) {
	d := new(Decoder)
	if _, err := d.DecodeAll([]byte("abc"), nil); err != ErrDecoderClosed {
		t.Errorf("DecodeAll: %v", err)
	}
	if _, err := d.Read(make([]byte, 1)); err != ErrDecoderNilInput {
		t.Errorf("Read: %v", err)
	}
	d = new(Decoder)
	if _, err := d.WriteTo(io.Discard); err != ErrDecoderNilInput {
		t.Errorf("WriteTo: %v", err)
	}
}

// FuzzDecoder decodes any input at once and as a stream. Both return the same content and error,
// but for limits of the content that hold for one of them.
func FuzzDecoder(f *testing.F) {
	dict := mixed(1000)
	for _, opts := range [][]EOption{
		nil, {WithWindowSize(1 << 10), WithEncoderPadding(64)}, {WithEncoderDictRaw(3, dict)},
	} {
		e := newEncoder(f, nil, opts...)
		f.Add(e.EncodeAll(mixed(5000), nil))
		f.Add(stream(f, e, mixed(3000)))
	}
	d := newDecoder(f, nil, WithDecoderDictRaw(3, dict), WithDecoderMaxMemory(1<<20))
	f.Fuzz(func(t *testing.T, p []byte) {
		all, err := d.DecodeAll(p, nil)
		d.Reset(struct{ io.Reader }{bytes.NewReader(p)})
		read, rerr := io.ReadAll(io.LimitReader(d, 4<<20))
		switch {
		case err == nil && (rerr != nil || !bytes.Equal(all, read)):
			t.Errorf("DecodeAll returns %d bytes, Read %d, %v", len(all), len(read), rerr)
		case errors.Is(err, ErrDecoderSizeExceeded), errors.Is(err, ErrFrameSizeExceeded),
			errors.Is(err, ErrWindowSizeExceeded): // these come first in DecodeAll
		case err != rerr && len(read) < 4<<20:
			t.Errorf("DecodeAll returns %v, Read %v", err, rerr)
		}
	})
}
