package damage

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestMemoryLimit checks that Writers and readers stay within WithMaxMemory, and within the memory
// that WriterMemory and ReaderMemory return.
func TestMemoryLimit(t *testing.T) {
	const block = 1 << 20
	content := bbtest.RandomBytes(6*block+5, 1) // stored blocks: the stages need no scratch memory
	file := bbtest.Encode(t, content, compress.WithBlockSize(block))
	full, err := compress.WriterMemory(compress.WithBlockSize(block), compress.WithConcurrency(8))
	if err != nil {
		t.Fatal(err)
	}
	less, err := compress.WriterMemory(compress.WithBlockSize(block), compress.WithConcurrency(8),
		compress.WithMaxMemory(full/4))
	if err != nil || less > full/4 {
		t.Error(full, less, err)
	}
	if _, err := compress.NewWriter(
		io.Discard, compress.WithBlockSize(block), compress.WithMaxMemory(1<<20),
	); !errors.Is(err, compress.ErrMemory) {
		t.Error("NewWriter:", err)
	}
	if _, err := bbtest.Decode(file, compress.WithMaxMemory(1<<20)); !errors.Is(err, compress.ErrMemory) {
		t.Error("Reader:", err)
	}
	if _, err := bbtest.OpenFile(file, compress.WithMaxMemory(1<<20)); !errors.Is(err, compress.ErrMemory) {
		t.Error("NewReaderAt:", err)
	}
	small := bbtest.Encode(t, make([]byte, 1000*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	if _, err := bbtest.OpenFile(small, compress.WithMaxMemory(10_000)); !errors.Is(err, compress.ErrMemory) {
		t.Error("NewReaderAt with a large index:", err)
	}

	limits := []compress.Option{compress.WithConcurrency(8), compress.WithMaxMemory(full / 3)}
	writing := append(bbtest.ForWriter(limits...), compress.WithBlockSize(block))
	reading := bbtest.ForReader(limits...)
	limit, err := compress.WriterMemory(writing...)
	if err != nil {
		t.Fatal(err)
	}
	got := bbtest.AllocatedBytes(func() {
		w := bbtest.NewWriter(t, io.Discard, writing...)
		w.Write(content)
		w.Write(content)
		w.Close()
	})
	if got > limit+64<<10 {
		t.Errorf("Writer: %d bytes allocated, WriterMemory says %d", got, limit)
	}
	limit, err = compress.ReaderMemory(writing, reading...)
	if err != nil {
		t.Fatal(err)
	}
	got = bbtest.AllocatedBytes(func() {
		r := bbtest.NewReader(t, bbtest.OnlyReader{Reader: bytes.NewReader(file)}, reading...)
		r.WriteTo(io.Discard)
	})
	if got > limit+64<<10 {
		t.Errorf("Reader: %d bytes allocated, ReaderMemory says %d", got, limit)
	}
	got = bbtest.AllocatedBytes(func() {
		r := bbtest.OpenAt(t, file, reading...)
		r.WriteTo(io.Discard)
	})
	if got > limit+64<<10 {
		t.Errorf("ReaderAt: %d bytes allocated, ReaderMemory says %d", got, limit)
	}
}

// TestMemoryTarget checks that a memory target lowers the memory like WithMaxMemory does, never
// makes a call fail, and changes no byte.
func TestMemoryTarget(t *testing.T) {
	const block = 1 << 20
	content := bbtest.TextBytes(12*block, 1)
	for _, p := range bridge.Pipelines() {
		opts := []compress.WriterOption{
			compress.WithConcurrency(8), compress.WithBlockSize(block), bridge.Pipeline(p.Name),
			bridge.Frames(),
		}
		with := func(o ...compress.Option) []compress.WriterOption {
			return append(bbtest.ForWriter(o...), opts...)
		}
		memory := func(o ...compress.Option) (writer, reader int64) {
			writer, err1 := compress.WriterMemory(with(o...)...)
			reader, err2 := compress.ReaderMemory(opts,
				append(bbtest.ForReader(o...), compress.WithConcurrency(8))...)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(p.Name, err)
			}
			return writer, reader
		}
		full, fullReader := memory()
		least, leastReader := memory(bridge.MemoryTarget(1))
		half, halfReader := memory(bridge.MemoryTarget(full / 2))
		if least >= full || half > full/2 || half <= least ||
			leastReader >= fullReader || halfReader > fullReader {
			t.Errorf("%s: Writer %d, %d, %d; Reader %d, %d, %d: without a target, with half, with 1 byte",
				p.Name, full, half, least, fullReader, halfReader, leastReader)
		}
		// A limit is an error, also below the target.
		_, err := compress.WriterMemory(with(bridge.MemoryTarget(full/2),
			compress.WithMaxMemory(least-1))...)
		if !errors.Is(err, compress.ErrMemory) {
			t.Errorf("%s: a limit below the target: %v", p.Name, err)
		}
		file := bbtest.Encode(t, content, opts...)
		if got := bbtest.Encode(t, content, with(bridge.MemoryTarget(1))...); !bytes.Equal(got, file) {
			t.Errorf("%s: a target changes the file", p.Name)
		}
		got, err := bbtest.Decode(file, compress.WithConcurrency(8), bridge.MemoryTarget(1))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: Reader: %d bytes, %v", p.Name, len(got), err)
		}
		r := bbtest.OpenAt(t, file, compress.WithConcurrency(8), bridge.MemoryTarget(1))
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: ReaderAt: %d bytes, %v", p.Name, len(got), err)
		}
	}
}

// TestLeastMemory checks that the limit that an ErrMemory names suffices, and that a byte less does
// not.
func TestLeastMemory(t *testing.T) {
	content := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	least := func(err error) int64 {
		var e *compress.Error
		if !errors.As(err, &e) || !errors.Is(err, compress.ErrMemory) {
			t.Fatalf("error %v, want ErrMemory", err)
		}
		return e.Memory
	}
	for _, p := range bridge.Pipelines() {
		file := bbtest.Encode(t, content, bridge.Pipeline(p.Name), bridge.Frames(),
			compress.WithBlockSize(bbtest.BlockSize))
		large := bbtest.Encode(t, make([]byte, 1<<20), bridge.Pipeline(p.Name), bridge.Frames(),
			compress.WithBlockSize(64<<10))
		file = append(file, large...)
		file = append(file, bbtest.Encode(t, content, bridge.Pipeline(p.Name), bridge.Frames(),
			compress.WithBlockSize(bbtest.BlockSize))...)
		for name, f := range map[string]func(o ...compress.Option) error{
			"Writer": func(o ...compress.Option) error {
				_, err := compress.NewWriter(io.Discard,
					append(bbtest.ForWriter(o...), bridge.Pipeline(p.Name))...)
				return err
			},
			"ReaderAt": func(o ...compress.Option) error {
				_, err := bbtest.OpenFile(file, bbtest.ForReader(o...)...)
				return err
			},
			"Reader": func(o ...compress.Option) error {
				_, err := bbtest.Decode(file, bbtest.ForReader(o...)...)
				return err
			},
		} {
			if p.Format == compress.Gzip && name == "ReaderAt" ||
				p.Format == compress.Zstd && name == "Reader" {
				continue // .gz has no ReaderAt, and each frame of .zst has a limit of its own
			}
			limit := int64(20_000) // suffices for the index
			for range 3 {          // each stream may raise the limit
				err := f(compress.WithMaxMemory(limit), compress.WithConcurrency(4))
				if err == nil {
					break
				}
				if limit = least(err); limit == 0 {
					t.Fatal(p.Name, name, err)
				}
			}
			if err := f(compress.WithMaxMemory(limit), compress.WithConcurrency(4)); err != nil {
				t.Errorf("%s, %s with %d: %v", p.Name, name, limit, err)
			}
			if got := least(f(compress.WithMaxMemory(limit-1), compress.WithConcurrency(4))); got != limit {
				t.Errorf("%s, %s: the error names %d with a byte less than %d", p.Name, name, got,
					limit)
			}
		}
	}
}

// TestSmallContent checks that small content takes little memory with any block size.
func TestSmallContent(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector empties pools")
	}
	const most = 128 << 10
	// The garbage collector empties pools too, so the best of several runs counts.
	least := func(f func()) int64 {
		n := bbtest.AllocatedBytes(f)
		for range 10 {
			n = min(n, bbtest.AllocatedBytes(f))
		}
		return n
	}
	if n := least(
		func() { bbtest.Encode(t, []byte("ten bytes."), compress.WithBlockSize(compress.MaxBlockSize)) },
	); n > most {
		t.Errorf("writing 10 bytes allocates %d", n)
	}
	file := bbtest.Encode(t, bbtest.TextBytes(1000, 1), compress.WithBlockSize(compress.MaxBlockSize))
	if n := least(func() { bbtest.Decode(file) }); n > most {
		t.Errorf("reading 1000 bytes allocates %d", n)
	}
}

// TestClaims checks that sizes in headers and indexes do not make readers allocate as much.
func TestClaims(t *testing.T) {
	h := pzfile.Header{Pipeline: 1, BlockSize: compress.MaxBlockSize, ContentSize: 1 << 60}
	claim := h.Append(nil)
	claim = pzfile.AppendBlockHeader(claim,
		pzfile.Entry{Kind: pzfile.Stored, Payload: compress.MaxBlockSize, Raw: compress.MaxBlockSize}, 0, 0)
	claim = append(claim, 1, 2, 3)
	if n := bbtest.AllocatedBytes(func() {
		if _, err := bbtest.Decode(claim); !errors.Is(err, compress.ErrTruncated) {
			t.Errorf("error %v, want ErrTruncated", err)
		}
	}); n > 200<<10 {
		t.Errorf("Reader: %d bytes allocated", n)
	}
	if n := bbtest.AllocatedBytes(func() {
		if _, err := compress.AppendDecode(nil, claim); !errors.Is(err, compress.ErrTruncated) {
			t.Errorf("error %v, want ErrTruncated", err)
		}
	}); n > 200<<10 {
		t.Errorf("AppendDecode: %d bytes allocated", n)
	}
	// Most of this index is missing.
	f := pzfile.Footer{Content: 1 << 40, Size: 1 << 50, Units: 1 << 40}
	claim = pzfile.AppendFooter(make([]byte, 100), f, 0)
	if n := bbtest.AllocatedBytes(func() {
		if _, err := bbtest.OpenFile(claim); !bbtest.IsDamage(err) {
			t.Error(err)
		}
	}); n > 200<<10 {
		t.Errorf("NewReaderAt: %d bytes allocated", n)
	}
}

// TestMaxDecodedSize checks that all readers stop before the limit is passed.
func TestMaxDecodedSize(t *testing.T) {
	content := bbtest.MixedBytes(5 * bbtest.BlockSize)
	size := int64(len(content))
	plainFile := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for name, file := range map[string][]byte{
		"size in header": bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize),
			compress.WithContentSize(size)),
		"no size": plainFile,
		"two streams": append(bbtest.Encode(t, content[:bbtest.BlockSize]),
			bbtest.Encode(t, content[bbtest.BlockSize:], compress.WithBlockSize(bbtest.BlockSize))...),
	} {
		for _, limit := range []int64{0, 1, bbtest.BlockSize, size - 1, size, size + 1} {
			got, err := bbtest.Decode(file, compress.WithMaxDecodedSize(limit))
			if limit >= size {
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, limit %d: %v", name, limit, err)
				}
				continue
			}
			if !errors.Is(err, compress.ErrTooLarge) || int64(len(got)) > limit ||
				!bytes.HasPrefix(content, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			if _, err := compress.AppendDecode(
				nil, file, compress.WithMaxDecodedSize(limit),
			); !errors.Is(err, compress.ErrTooLarge) {
				t.Errorf("%s, limit %d: AppendDecode: %v", name, limit, err)
			}
			if _, err := bbtest.OpenFile(
				file, compress.WithMaxDecodedSize(limit),
			); !errors.Is(err, compress.ErrTooLarge) {
				t.Errorf("%s, limit %d: NewReaderAt: %v", name, limit, err)
			}
		}
	}
	// A decompression bomb of fill blocks.
	bomb := bbtest.Encode(t, make([]byte, 1<<22), compress.WithBlockSize(1<<16))
	if _, err := compress.AppendDecode(
		nil, bomb, compress.WithMaxDecodedSize(1<<20),
	); !errors.Is(err, compress.ErrTooLarge) {
		t.Error("bomb:", err)
	}
}
