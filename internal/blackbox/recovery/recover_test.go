// Package recovery tests what Recover restores of damaged files, through the public API.
package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
)

// recoverFile is a file of two streams.
type recoverFile struct {
	file, content []byte
	first         int // bytes of the first stream
	blocks        []compress.BlockInfo
}

func newRecoverFile(t *testing.T) (f recoverFile) {
	t.Helper()
	content := bbtest.MixedBytes(12*bbtest.BlockSize + 100)
	second := content[:3*bbtest.BlockSize]
	f.file = bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	f.first = len(f.file)
	f.file = append(f.file, bbtest.Encode(t, second, compress.WithBlockSize(bbtest.BlockSize),
		compress.WithChecksum(false),
		compress.WithContentSize(int64(len(second))))...)
	f.content = slices.Concat(content, second)
	for b := range bbtest.OpenAt(t, f.file).Blocks() {
		f.blocks = append(f.blocks, b)
	}
	return f
}

// TestRecover damages each block, with and without the index.
func TestRecover(t *testing.T) {
	f := newRecoverFile(t)
	if got, list := bbtest.RecoverAll(t, f.file); !bytes.Equal(got, f.content) || list != nil {
		t.Fatalf("intact file: %d bytes, want %d; %+v", len(got), len(f.content), list)
	}
	for k, b := range f.blocks {
		at, end := b.ContentOffset, b.ContentOffset+b.Content
		without := slices.Concat(f.content[:at], f.content[end:])
		zeroed := slices.Clone(f.content)
		clear(zeroed[at:end])

		// Block k is damaged; the index is intact.
		bad := slices.Clone(f.file)
		bad[b.Offset+3] ^= 0x10
		got, list := bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, without, fmt.Sprint("block ", k))
		want := compress.Damage{
			Stream: b.Stream, Block: b.Number, Blocks: 1, ContentOffset: at, Content: b.Content,
		}
		if len(list) != 1 || list[0].Err == nil {
			t.Fatalf("block %d: %+v", k, list)
		}
		list[0].Err = nil
		if list[0] != want {
			t.Errorf("block %d: %+v, want %+v", k, list[0], want)
		}
		got, _ = bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
		bbtest.Equal(t, got, zeroed, fmt.Sprint("block ", k, ", filled"))

		// The index is damaged too.
		bad[len(bad)-40] ^= 1
		got, list = bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, without, fmt.Sprint("block ", k, " and index"))
		if len(list) < 1 || list[0].Content != b.Content {
			t.Errorf("block %d and index: %+v", k, list)
		}
	}
}

// TestRecoverCut cuts the file at either end.
func TestRecoverCut(t *testing.T) {
	f := newRecoverFile(t)
	// A cut file keeps all blocks in front of the cut.
	for n := pzfile.MinHeaderSize; n < len(f.file); n += 61 {
		saved := int64(0)
		for _, b := range f.blocks {
			if b.Offset+b.Size <= int64(n) {
				saved = b.ContentOffset + b.Content
			}
		}
		got, list := bbtest.RecoverAll(t, f.file[:n])
		bbtest.Equal(t, got, f.content[:saved], fmt.Sprint("cut at ", n))
		if len(list) == 0 && n != f.first {
			t.Errorf("cut at %d: no damage reported", n)
		}
	}
	// A file without its beginning keeps all blocks behind it.
	for n := 1; n < f.first; n += 61 {
		saved := int64(0)
		for _, b := range f.blocks {
			if b.Offset < int64(n) {
				saved = b.ContentOffset + b.Content
			}
		}
		got, list := bbtest.RecoverAll(t, f.file[n:])
		bbtest.Equal(t, got, f.content[saved:], fmt.Sprint("begins at ", n))
		if len(list) == 0 {
			t.Errorf("begins at %d: no damage reported", n)
		}
	}
}

// TestRecoverHeaders damages headers and indexes, which loses no content.
func TestRecoverHeaders(t *testing.T) {
	f := newRecoverFile(t)
	for _, at := range []int{
		0, 2, 4, 9, f.first - 1, f.first - 30, f.first - 40, f.first, f.first + 5,
	} {
		bad := slices.Clone(f.file)
		bad[at] ^= 4
		got, list := bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, f.content, fmt.Sprint("byte ", at))
		if len(list) == 0 {
			t.Errorf("byte %d: %+v", at, list)
		}
	}
}

// TestRecoverErrors recovers files without any block, with failing writers and callbacks.
func TestRecoverErrors(t *testing.T) {
	for _, file := range [][]byte{
		nil, []byte("P"), []byte("text"), make([]byte, 100_000), bbtest.RandomBytes(300_000, 1),
	} {
		err := bbtest.RecoverFrom(bbtest.NoWriter{T: t}, file, nil)
		if !errors.Is(err, compress.ErrFormat) {
			t.Errorf("%d bytes: %v", len(file), err)
		}
	}
	file := bbtest.Encode(t, bbtest.MixedBytes(5*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	if err := bbtest.RecoverFrom(&bbtest.LimitedWriter{N: 5000}, file, nil); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
	file[50] ^= 1
	fail := func(compress.Damage) error { return bbtest.ErrTest }
	if err := bbtest.RecoverFrom(io.Discard, file, fail); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// TestRecoverZeroFill checks that WithZeroFill writes as many zeros as the damaged part of the file
// can hold, and no more than the limit allows.
func TestRecoverZeroFill(t *testing.T) {
	huge := (&pzfile.Header{Pipeline: 1, BlockSize: compress.MaxBlockSize, ContentSize: 1 << 62}).Append(nil)
	got, list := bbtest.RecoverAll(t, huge, compress.WithZeroFill(true))
	if len(got) > 0 || len(list) != 1 || list[0].Content != -1 || list[0].Kind != compress.DamageUnknown {
		t.Errorf("%d bytes, %+v", len(got), list)
	}
	content := bbtest.RandomBytes(20*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize),
		compress.WithContentSize(int64(len(content))))
	clear(file[10*(bbtest.BlockSize+pzfile.BlockHeaderSize):])
	got, list = bbtest.RecoverAll(t, file, compress.WithZeroFill(true))
	want := slices.Clone(content)
	clear(want[9*bbtest.BlockSize:])
	bbtest.Equal(t, got, want, "end lost")
	if len(list) != 2 || list[0].Content != bbtest.BlockSize || list[1].Content != 10*bbtest.BlockSize {
		t.Errorf("%+v", list)
	}
	var b bytes.Buffer
	err := bbtest.RecoverFrom(&b, file, nil, compress.WithZeroFill(true),
		compress.WithMaxDecodedSize(15*bbtest.BlockSize))
	if !errors.Is(err, compress.ErrTooLarge) || b.Len() > 15*bbtest.BlockSize {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err = compress.Recover(bbtest.WriterFunc(func(p []byte) (int, error) {
		if p[0] == 0 {
			cancel(bbtest.ErrTest)
		}
		return len(p), nil
	}), bytes.NewReader(file), int64(len(file)), nil, compress.WithZeroFill(true), compress.WithContext(ctx))
	if !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// TestRecoverCanceled ends the context after some reads. Recover must stop after a few more.
func TestRecoverCanceled(t *testing.T) {
	file := bbtest.Encode(t, bbtest.MixedBytes(40*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	for _, file := range [][]byte{file, file[:len(file)-1], make([]byte, 1<<20)} {
		for _, n := range []int64{0, 1, 2, 5, 10} {
			ctx, cancel := context.WithCancelCause(t.Context())
			reads := int64(0)
			src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
				reads++
				if reads > n {
					cancel(bbtest.ErrTest)
				}
				return bytes.NewReader(file).ReadAt(p, off)
			})
			if err := compress.Recover(
				io.Discard, src, int64(len(file)), nil, compress.WithContext(ctx),
				compress.WithConcurrency(1),
			); !errors.Is(err, bbtest.ErrTest) {
				t.Errorf("canceled after %d reads of %d bytes: %v", n, len(file), err)
			}
			if reads > n+8 { // prefetch has begun some
				t.Errorf("canceled after %d reads of %d bytes: %d more reads", n, len(file),
					reads-n)
			}
		}
	}
}

// TestRecoverUnreadable lets each sector fail to read. Recover must report it as damage and save
// all other blocks.
func TestRecoverUnreadable(t *testing.T) {
	content := bbtest.RandomBytes(40*bbtest.BlockSize, 1)
	file := slices.Concat(bbtest.Encode(t, content[:30*bbtest.BlockSize],
		compress.WithBlockSize(bbtest.BlockSize)),
		bbtest.Encode(t, content[30*bbtest.BlockSize:], compress.WithBlockSize(bbtest.BlockSize)))
	var blocks []compress.BlockInfo
	for b := range bbtest.OpenAt(t, file).Blocks() {
		blocks = append(blocks, b)
	}
	for bad := int64(0); bad < int64(len(file)); bad += 512 {
		end := min(bad+512, int64(len(file)))
		src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
			if off < end && off+int64(len(p)) > bad {
				return copy(p, file[off:max(off, bad)]), bbtest.ErrTest
			}
			return bytes.NewReader(file).ReadAt(p, off)
		})
		for _, cut := range []int64{0, 1} {
			size := int64(len(file)) - cut
			var want []byte
			for _, b := range blocks {
				if b.Offset+b.Size <= bad || b.Offset >= end {
					want = append(want, content[b.ContentOffset:b.ContentOffset+b.Content]...)
				}
			}
			var got bytes.Buffer
			reported := false
			err := compress.Recover(&got, src, size, func(d compress.Damage) error {
				reported = reported || errors.Is(d.Err, bbtest.ErrTest)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			bbtest.Equal(t, got.Bytes(), want, fmt.Sprint("unreadable at ", bad, ", cut ", cut))
			if !reported && (cut == 0 || len(want) < len(content)) {
				t.Errorf("unreadable at %d, cut %d: not reported", bad, cut)
			}
		}
	}
	none := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) { return 0, bbtest.ErrTest })
	if err := compress.Recover(io.Discard, none, 1<<20, nil); !errors.Is(err, compress.ErrFormat) ||
		!errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}
