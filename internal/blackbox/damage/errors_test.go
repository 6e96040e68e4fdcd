package damage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/pzfile"
)

// TestErrorText checks the text of errors with and without places.
func TestErrorText(t *testing.T) {
	_, badLevel := compress.NewWriter(io.Discard, compress.WithLevel(12))
	for want, err := range map[string]error{
		"compress: block 3 at byte 1234: checksum mismatch": &compress.Error{
			Kind: compress.ErrChecksum, Block: 3, Offset: 1234,
		},
		"compress: stream 2, block 0 at byte 7: corrupt input": &compress.Error{
			Kind: compress.ErrCorrupt, Stream: 2, Offset: 7,
		},
		"compress: at byte 10: input is cut short": &compress.Error{
			Kind: compress.ErrTruncated, Block: -1, Offset: 10,
		},
		"compress: stream 1: memory limit exceeded": &compress.Error{
			Kind: compress.ErrMemory, Stream: 1, Block: -1, Offset: -1,
		},
		"compress: invalid option": &compress.Error{
			Kind: compress.ErrOption, Block: -1, Offset: -1,
		},
		"compress: block 1: bad payload": &compress.Error{
			Kind: compress.ErrCorrupt, Block: 1, Offset: -1, Err: errors.New("bad payload"),
		},
		"compress: level 12 is not in 1 … 9":       badLevel,
		"compress: content is larger than allowed": compress.ErrTooLarge,
		"compress: block 1 at byte 0: reading: unexpected EOF": &compress.Error{
			Kind: compress.ErrCorrupt, Block: 1, Detail: "reading", Err: io.ErrUnexpectedEOF,
		},
		"compress: at byte 5: data after the end of the stream!": &compress.Error{
			Kind: compress.ErrCorrupt, Block: -1, Offset: 5, Detail: "data after the end of the stream!",
		},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// TestErrorPart damages each part of a .pz and a .zst file, and checks the part that the error
// names.
func TestErrorPart(t *testing.T) {
	content := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	pz := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	zst := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithSeekable(bbtest.BlockSize))
	gz := bbtest.Encode(t, content, compress.WithFormat(compress.Gzip))
	table := bbtest.FrameAt(t, zst, 3)
	for _, c := range []struct {
		name string
		file []byte
		at   int // byte that is damaged
		want compress.Part
	}{
		{"pz header", pz, 4, compress.PartHeader},
		{"pz block header", pz, pzfile.MinHeaderSize + 3, compress.PartBlock},
		{"pz payload", pz, pzfile.MinHeaderSize + pzfile.BlockHeaderSize + 9, compress.PartBlock},
		{"pz index", pz, len(pz) - pzfile.FooterSize - 1, compress.PartIndex},
		{"pz footer", pz, len(pz) - 5, compress.PartIndex},
		{"gz header", gz, 3, compress.PartHeader},
		{"zst frame header", zst, 4, compress.PartHeader},
		{"zst payload", zst, bbtest.FrameAt(t, zst, 1) + 40, compress.PartBlock},
		{"zst seek table", zst, table + 9, compress.PartIndex},
	} {
		bad := slices.Clone(c.file)
		bad[c.at] ^= 0xff
		_, err := bbtest.Decode(bad)
		var e *compress.Error
		if !errors.As(err, &e) || e.Part != c.want {
			t.Errorf("%s: %v with part %v, want part %v", c.name, err, bbtest.PartOf(err), c.want)
		}
	}
	small := []compress.ReaderOption{compress.WithMaxDecodedSize(bbtest.BlockSize)}
	skippable := append([]byte("\x50\x2a\x4d\x18\x64\x00\x00\x00"), make([]byte, 50)...)
	for _, c := range []struct {
		name string
		file []byte
		opts []compress.ReaderOption
		want compress.Part
	}{
		{"cut in a seek table", zst[:table+20], nil, compress.PartIndex},
		{"cut in the header of a seek table", zst[:table+6], nil, compress.PartIndex},
		{"cut in a skippable frame", append(slices.Clone(zst), skippable...), nil, compress.PartStray},
		{"gz too large", gz, small, compress.PartBlock},
		{"zst too large", zst, small, compress.PartBlock},
		{"pz too large", pz, small, compress.PartBlock},
	} {
		if _, err := bbtest.Decode(c.file, c.opts...); bbtest.PartOf(err) != c.want {
			t.Errorf("%s: %v with part %v, want part %v", c.name, err, bbtest.PartOf(err), c.want)
		}
	}
	stray := slices.Insert(slices.Clone(zst), bbtest.FrameAt(t, zst, 1), []byte("text")...)
	_, damage := bbtest.RecoverAll(t, stray)
	if len(damage) != 1 || bbtest.PartOf(damage[0].Err) != compress.PartStray {
		t.Errorf("bytes between frames: %+v, want part %v", damage, compress.PartStray)
	}
}

// TestErrorIs checks that errors match those of the standard library that callers know.
func TestErrorIs(t *testing.T) {
	w := bbtest.NewWriter(t, io.Discard)
	w.Close()
	_, err := w.Write([]byte("x"))
	if !errors.Is(err, compress.ErrClosed) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close: %v, want os.ErrClosed", err)
	}
	if _, err := bbtest.Decode(nil); !errors.Is(err, compress.ErrTruncated) ||
		!errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("empty input: %v, want io.ErrUnexpectedEOF", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(bbtest.ErrTest)
	_, err = compress.AppendEncode(nil, []byte("x"), compress.WithContext(ctx))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("canceled: %v, want context.Canceled and its cause", err)
	}
	if !errors.Is(compress.ErrChecksum, compress.ErrCorrupt) ||
		!errors.Is(compress.ErrTrailing, compress.ErrCorrupt) {
		t.Error("ErrChecksum and ErrTrailing must wrap ErrCorrupt")
	}
}

// TestWriterPanics lets the underlying writer panic. The Writer must say so until Reset, and work
// after it.
func TestWriterPanics(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(8 * bbtest.BlockSize)
	for _, p := range bridge.Pipelines() {
		for _, workers := range bbtest.WorkerCounts {
			opts := []compress.WriterOption{
				bridge.Pipeline(p.Name),
				compress.WithBlockSize(bbtest.BlockSize),
				compress.WithConcurrency(workers),
			}
			want := bbtest.Encode(t, content, opts...)
			w := bbtest.NewWriter(t, nil, opts...)
			for n := range 8 {
				w.Reset(&bbtest.PanicWriter{N: n})
				if v := bbtest.Panics(func() { w.Write(content); w.Close() }); v != "writer" {
					t.Fatalf("%s, call %d: panic %v, want that of the writer", p.Name, n, v)
				}
				bbtest.MustFinish(t, p.Name, func() {
					if _, err := w.Write(content); err != errs.Panicked &&
						err != compress.ErrClosed { // Close may panic too
						t.Errorf("%s, call %d: Write: %v", p.Name, n, err)
					}
					if err := w.Close(); err != errs.Panicked {
						t.Errorf("%s, call %d: Close: %v", p.Name, n, err)
					}
				})
			}
			var b bytes.Buffer
			bbtest.MustFinish(t, p.Name, func() {
				w.Reset(&b)
				if _, err := w.Write(content); err != nil {
					t.Error(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
			bbtest.Equal(t, b.Bytes(), want, p.Name)
		}
	}
}

// TestReaderPanics lets the underlying reader panic. The Reader must say so until Reset, and work
// after it.
func TestReaderPanics(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(8 * bbtest.BlockSize)
	files := map[string][]byte{
		"gzip": bbtest.GzipMember(t, content), "zstd": bbtest.ZstdStream(t, content, 1000),
	}
	for _, p := range bridge.Pipelines() {
		files[p.Name] = bbtest.Encode(t, content, bridge.Pipeline(p.Name),
			compress.WithBlockSize(bbtest.BlockSize))
	}
	for name, file := range files {
		for _, workers := range bbtest.WorkerCounts {
			r := bbtest.NewReader(t, nil, compress.WithConcurrency(workers))
			for i := range 12 {
				r.Reset(&bbtest.PanicReader{R: bytes.NewReader(file), N: i * len(file) / 12})
				if v := bbtest.Panics(func() { io.ReadAll(r) }); v != "reader" {
					t.Fatalf("%s, part %d: panic %v, want that of the reader", name, i, v)
				}
				bbtest.MustFinish(t, name, func() {
					if _, err := r.Read(make([]byte, 1)); err != errs.Panicked {
						t.Errorf("%s, part %d: Read: %v", name, i, err)
					}
				})
			}
			bbtest.MustFinish(t, name, func() {
				r.Reset(bytes.NewReader(file))
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, after Reset: %d bytes, %v", name, len(got), err)
				}
			})
		}
	}
}

// TestReaderPanicsInDecoder checks that a panic of the underlying reader passes through a decoder
// that reads from it.
func TestReaderPanicsInDecoder(t *testing.T) {
	for _, file := range [][]byte{
		bbtest.GzipMember(t, bbtest.RandomBytes(1<<18, 1)),
		bbtest.WindowFrame(1<<20, bbtest.RandomBytes(1<<18, 1)),
	} {
		r := bbtest.NewReader(t, &bbtest.PanicReader{R: bytes.NewReader(file), N: 1 << 17})
		func() {
			defer func() {
				if v := recover(); v != "reader" {
					t.Errorf("panic %v, want that of the reader", v)
				}
			}()
			io.Copy(io.Discard, r)
		}()
	}
}

// TestReaderAtPanics lets the underlying ReaderAt panic. A ReaderAt must go on working.
func TestReaderAtPanics(t *testing.T) {
	content := bbtest.TextBytes(8*bbtest.BlockSize, 1)
	for _, pipe := range []string{bridge.DefaultPipeline, "lzf"} {
		file := bbtest.Encode(t, content, bridge.Pipeline(pipe),
			compress.WithSeekable(bbtest.BlockSize))
		src := &bbtest.PanicReaderAt{Reader: *bytes.NewReader(file)}
		r, err := compress.NewReaderAt(src, int64(len(file)),
			bbtest.WithCachedBlocks(t, 1, 1, bbtest.BlockSize),
			compress.WithConcurrency(1))
		if pipe == "lzf" {
			r, err = compress.NewReaderAt(src, int64(len(file)), compress.WithConcurrency(1))
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			src.On = true
			off := int64(i % 8 * bbtest.BlockSize)
			v := bbtest.Panics(func() { r.ReadAt(make([]byte, 3*bbtest.BlockSize/2), off) })
			if v != "reader" && i < 8 {
				t.Fatalf("%s, read %d: panic %v, want that of the reader", pipe, i, v)
			}
			r.Seek(int64((i+4)%8*bbtest.BlockSize), io.SeekStart)
			bbtest.Panics(func() { r.Read(make([]byte, 10)) })
		}
		src.On = false
		bbtest.MustFinish(t, pipe, func() {
			got := make([]byte, len(content))
			if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: ReadAt: %v", pipe, err)
			}
			r.Seek(0, io.SeekStart)
			if n, err := r.WriteTo(io.Discard); err != nil || n != int64(len(content)) {
				t.Errorf("%s: WriteTo: %d bytes, %v", pipe, n, err)
			}
			r.Close()
		})
	}
}
