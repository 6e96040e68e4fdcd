package compress

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestMemoryLimit checks that Writers and readers stay within WithMaxMemory, and within the memory
// that WriterMemory and ReaderMemory return.
func TestMemoryLimit(t *testing.T) {
	const block = 1 << 20
	content := randomBytes(6*block+5, 1) // stored blocks: the stages need no scratch memory
	file := encode(t, content, WithBlockSize(block))
	full, err := WriterMemory(WithBlockSize(block), WithConcurrency(8))
	if err != nil {
		t.Fatal(err)
	}
	less, err := WriterMemory(WithBlockSize(block), WithConcurrency(8), WithMaxMemory(full/4))
	if err != nil || less > full/4 {
		t.Error(full, less, err)
	}
	if _, err := NewWriter(
		io.Discard, WithBlockSize(block), WithMaxMemory(1<<20),
	); !errors.Is(err, ErrMemory) {
		t.Error("NewWriter:", err)
	}
	if _, err := decode(file, WithMaxMemory(1<<20)); !errors.Is(err, ErrMemory) {
		t.Error("Reader:", err)
	}
	if _, err := openFile(file, WithMaxMemory(1<<20)); !errors.Is(err, ErrMemory) {
		t.Error("NewReaderAt:", err)
	}
	small := encode(t, make([]byte, 1000*testBlock), WithBlockSize(testBlock))
	if _, err := openFile(small, WithMaxMemory(10_000)); !errors.Is(err, ErrMemory) {
		t.Error("NewReaderAt with a large index:", err)
	}

	opts := []Option{WithConcurrency(8), WithBlockSize(block), WithMaxMemory(full / 3)}
	limit, err := WriterMemory(opts...)
	if err != nil {
		t.Fatal(err)
	}
	got := allocatedBytes(func() {
		w := newWriter(t, io.Discard, opts...)
		w.Write(content)
		w.Write(content)
		w.Close()
	})
	if got > limit+64<<10 {
		t.Errorf("Writer: %d bytes allocated, WriterMemory says %d", got, limit)
	}
	limit, err = ReaderMemory(block, opts...)
	if err != nil {
		t.Fatal(err)
	}
	got = allocatedBytes(func() {
		r := newReader(t, onlyReader{bytes.NewReader(file)}, opts...)
		r.WriteTo(io.Discard)
	})
	if got > limit+64<<10 {
		t.Errorf("Reader: %d bytes allocated, ReaderMemory says %d", got, limit)
	}
	got = allocatedBytes(func() {
		r := openAt(t, file, opts...)
		r.WriteTo(io.Discard)
	})
	if got > limit+64<<10 {
		t.Errorf("ReaderAt: %d bytes allocated, ReaderMemory says %d", got, limit)
	}
}

// TestMemoryTarget checks that WithMemoryTarget lowers the memory like WithMaxMemory does, never makes
// a call fail, and changes no byte.
func TestMemoryTarget(t *testing.T) {
	const block = 1 << 20
	content := textBytes(12*block, 1)
	for _, p := range Pipelines() {
		opts := []Option{WithConcurrency(8), WithBlockSize(block), WithPipeline(p.Name)}
		with := func(o ...Option) []Option { return append(o, opts...) }
		memory := func(o ...Option) (writer, reader int64) {
			writer, err1 := WriterMemory(with(o...)...)
			reader, err2 := ReaderMemory(block, with(o...)...)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(p.Name, err)
			}
			return writer, reader
		}
		full, fullReader := memory()
		least, leastReader := memory(WithMemoryTarget(1))
		half, halfReader := memory(WithMemoryTarget(full / 2))
		if least >= full || half > full/2 || half <= least ||
			leastReader >= fullReader || halfReader > fullReader {
			t.Errorf("%s: Writer %d, %d, %d; Reader %d, %d, %d: without a target, with half, with 1 byte",
				p.Name, full, half, least, fullReader, halfReader, leastReader)
		}
		// A limit is an error, also below the target.
		_, err := WriterMemory(with(WithMemoryTarget(full/2), WithMaxMemory(least-1))...)
		if !errors.Is(err, ErrMemory) {
			t.Errorf("%s: a limit below the target: %v", p.Name, err)
		}
		file := encode(t, content, opts...)
		if got := encode(t, content, with(WithMemoryTarget(1))...); !bytes.Equal(got, file) {
			t.Errorf("%s: a target changes the file", p.Name)
		}
		got, err := decode(file, WithConcurrency(8), WithMemoryTarget(1))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: Reader: %d bytes, %v", p.Name, len(got), err)
		}
		r := openAt(t, file, WithConcurrency(8), WithMemoryTarget(1))
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: ReaderAt: %d bytes, %v", p.Name, len(got), err)
		}
	}
}

// TestLeastMemory checks that the limit that an ErrMemory names suffices, and that a byte less does
// not.
func TestLeastMemory(t *testing.T) {
	content := textBytes(3*testBlock, 1)
	least := func(err error) int64 {
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrMemory) {
			t.Fatalf("error %v, want ErrMemory", err)
		}
		return e.Memory
	}
	for _, p := range Pipelines() {
		file := encode(t, content, WithPipeline(p.Name), WithBlockSize(testBlock))
		large := encode(t, make([]byte, 1<<20), WithPipeline(p.Name), WithBlockSize(64<<10))
		file = append(file, large...)
		file = append(file, encode(t, content, WithPipeline(p.Name), WithBlockSize(testBlock))...)
		for name, f := range map[string]func(o ...Option) error{
			"Writer": func(o ...Option) error {
				_, err := NewWriter(io.Discard, append(o, WithPipeline(p.Name))...)
				return err
			},
			"ReaderAt": func(o ...Option) error {
				_, err := openFile(file, o...)
				return err
			},
			"Reader": func(o ...Option) error {
				_, err := decode(file, o...)
				return err
			},
		} {
			if p.Format == Gzip && name == "ReaderAt" || p.Format == Zstd && name == "Reader" {
				continue // .gz has no ReaderAt, and each frame of .zst has a limit of its own
			}
			limit := int64(20_000) // suffices for the index
			for range 3 {          // each stream may raise the limit
				err := f(WithMaxMemory(limit), WithConcurrency(4))
				if err == nil {
					break
				}
				if limit = least(err); limit == 0 {
					t.Fatal(p.Name, name, err)
				}
			}
			if err := f(WithMaxMemory(limit), WithConcurrency(4)); err != nil {
				t.Errorf("%s, %s with %d: %v", p.Name, name, limit, err)
			}
			if got := least(f(WithMaxMemory(limit-1), WithConcurrency(4))); got != limit {
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
		n := allocatedBytes(f)
		for range 10 {
			n = min(n, allocatedBytes(f))
		}
		return n
	}
	if n := least(
		func() { encode(t, []byte("ten bytes."), WithBlockSize(MaxBlockSize)) },
	); n > most {
		t.Errorf("writing 10 bytes allocates %d", n)
	}
	file := encode(t, textBytes(1000, 1), WithBlockSize(MaxBlockSize))
	if n := least(func() { decode(file) }); n > most {
		t.Errorf("reading 1000 bytes allocates %d", n)
	}
}

// TestClaims checks that sizes in headers and indexes do not make readers allocate as much.
func TestClaims(t *testing.T) {
	h := pzfile.Header{Pipeline: 1, BlockSize: MaxBlockSize, ContentSize: 1 << 60}
	claim := h.Append(nil)
	claim = pzfile.AppendBlockHeader(claim,
		pzfile.Entry{Kind: pzfile.Stored, Payload: MaxBlockSize, Raw: MaxBlockSize}, 0, 0)
	claim = append(claim, 1, 2, 3)
	if n := allocatedBytes(func() {
		if _, err := decode(claim); !errors.Is(err, ErrTruncated) {
			t.Errorf("error %v, want ErrTruncated", err)
		}
	}); n > 200<<10 {
		t.Errorf("Reader: %d bytes allocated", n)
	}
	if n := allocatedBytes(func() {
		if _, err := AppendDecode(nil, claim); !errors.Is(err, ErrTruncated) {
			t.Errorf("error %v, want ErrTruncated", err)
		}
	}); n > 200<<10 {
		t.Errorf("AppendDecode: %d bytes allocated", n)
	}
	// Most of this index is missing.
	f := pzfile.Footer{Content: 1 << 40, Size: 1 << 50, Units: 1 << 40}
	claim = pzfile.AppendFooter(make([]byte, 100), f, 0)
	if n := allocatedBytes(func() {
		if _, err := openFile(claim); !isDamage(err) {
			t.Error(err)
		}
	}); n > 200<<10 {
		t.Errorf("NewReaderAt: %d bytes allocated", n)
	}
}

// TestMaxDecodedSize checks that all readers stop before the limit is passed.
func TestMaxDecodedSize(t *testing.T) {
	content := mixedBytes(5 * testBlock)
	size := int64(len(content))
	plainFile := encode(t, content, WithBlockSize(testBlock))
	for name, file := range map[string][]byte{
		"size in header": encode(t, content, WithBlockSize(testBlock), WithContentSize(size)),
		"no size":        plainFile,
		"two streams": append(encode(t, content[:testBlock]),
			encode(t, content[testBlock:], WithBlockSize(testBlock))...),
	} {
		for _, limit := range []int64{0, 1, testBlock, size - 1, size, size + 1} {
			got, err := decode(file, WithMaxDecodedSize(limit))
			if limit >= size {
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, limit %d: %v", name, limit, err)
				}
				continue
			}
			if !errors.Is(err, ErrTooLarge) || int64(len(got)) > limit ||
				!bytes.HasPrefix(content, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			if _, err := AppendDecode(
				nil, file, WithMaxDecodedSize(limit),
			); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, limit %d: AppendDecode: %v", name, limit, err)
			}
			if _, err := openFile(file, WithMaxDecodedSize(limit)); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, limit %d: NewReaderAt: %v", name, limit, err)
			}
		}
	}
	// A decompression bomb of fill blocks.
	bomb := encode(t, make([]byte, 1<<22), WithBlockSize(1<<16))
	if _, err := AppendDecode(nil, bomb, WithMaxDecodedSize(1<<20)); !errors.Is(err, ErrTooLarge) {
		t.Error("bomb:", err)
	}
}
