package randomaccess

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

// gzipOf returns a .gz file of compress/gzip.
func gzipOf(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name = "name"
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gzipIndexOf returns the index of a .gz file.
func gzipIndexOf(t testing.TB, file []byte, format string) []byte {
	t.Helper()
	r := bbtest.OpenAt(t, file)
	var b bytes.Buffer
	if err := r.WriteIndex(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func withIndex(p []byte) compress.ReaderOption {
	return compress.WithIndex(bytes.NewReader(p), int64(len(p)))
}

// gzipSize is enough content in bytes for several checkpoints.
const gzipSize = 3 << 20

// TestGzipReadAt reads at random places from several goroutines, with and without an index.
func TestGzipReadAt(t *testing.T) {
	content := slices.Concat(bbtest.TextBytes(gzipSize/2, 1), bbtest.MixedBytes(gzipSize/2))
	file := gzipOf(t, content[:gzipSize-99])
	file = append(file, gzipOf(t, nil)...)
	file = append(file, gzipOf(t, content[gzipSize-99:])...)
	file = append(file, 0, 0, 0)
	for _, opts := range [][]compress.ReaderOption{
		{compress.WithConcurrency(1)},
		{compress.WithConcurrency(4)},
		{withIndex(gzipIndexOf(t, file, "gzidx")), compress.WithConcurrency(2)},
		{withIndex(gzipIndexOf(t, file, "gztool")), compress.WithChecksum(false)},
	} {
		r := bbtest.OpenAt(t, file, opts...)
		if n := r.Info().Blocks; r.Size() != int64(len(content)) || n < 3 || !r.Info().Seekable {
			t.Fatalf("%d bytes, %+v", r.Size(), r.Info())
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 20 {
					off := rnd.IntN(len(content))
					p := make([]byte, 1+rnd.IntN(1+rnd.IntN(1<<20)))
					n, err := r.ReadAt(p, int64(off))
					want := content[off:min(off+len(p), len(content))]
					if !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < len(p)) {
						t.Errorf("ReadAt(%d, %d): %d, %v", len(p), off, n, err)
						return
					}
				}
			})
		}
		wg.Wait()
		bbtest.CheckReaderAt(t, file, content, opts...)
	}
}

// TestGzipIndexSame makes indexes with any number of workers and little memory. All are equal.
func TestGzipIndexSame(t *testing.T) {
	content := slices.Concat(bbtest.TextBytes(gzipSize/2, 1), bbtest.MixedBytes(gzipSize))
	file := gzipOf(t, content)
	for _, memory := range []int64{2 << 20, 1 << 30} {
		var want []byte
		for _, workers := range []int{1, 2, 5} {
			r := bbtest.OpenAt(t, file, compress.WithConcurrency(workers), compress.WithMaxMemory(memory))
			var b bytes.Buffer
			if err := r.WriteIndex(&b, "gztool"); err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = bytes.Clone(b.Bytes())
			} else if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("memory %d, %d workers: %d bytes, want %d", memory, workers, b.Len(), len(want))
			}
		}
	}
}

// TestGzipOpenErrors opens damaged files, with one worker and several. The errors are those of a
// Reader.
func TestGzipOpenErrors(t *testing.T) {
	content := slices.Concat(bbtest.TextBytes(gzipSize/2, 1), bbtest.MixedBytes(gzipSize/2))
	file := slices.Concat(gzipOf(t, content), gzipOf(t, content[:1000]), make([]byte, 100))
	r := rand.New(rand.NewPCG(4, 2))
	rounds := 30
	if testing.Short() || testenv.Race {
		rounds = 8
	}
	for round := range rounds {
		bad := bytes.Clone(file)
		at := 20 + r.IntN(len(bad)-20)
		switch round % 4 {
		case 0:
			bad = bad[:at]
		case 1:
			bad[len(bad)-1-r.IntN(150)] ^= 1
		default:
			bad[at] ^= 1 << r.IntN(8)
		}
		_, want := bbtest.Decode(bad)
		for _, workers := range []int{1, 4} {
			_, err := bbtest.OpenFile(bad, compress.WithConcurrency(workers))
			if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
				t.Fatalf("round %d, %d workers: %v, want %v", round, workers, err, want)
			}
		}
	}
}

// TestGzipPassMemory checks that opening a file takes no more memory than the limit.
func TestGzipPassMemory(t *testing.T) {
	testenv.Measures(t)
	file := gzipOf(t, slices.Concat(bbtest.TextBytes(2*gzipSize, 1), bbtest.MixedBytes(2*gzipSize)))
	for _, workers := range []int{1, 2} {
		for _, limit := range []int64{2 << 20, 4 << 20, 64 << 20} {
			n := bbtest.AllocatedBytes(func() {
				bbtest.OpenAt(t, file, compress.WithConcurrency(workers), compress.WithMaxMemory(limit))
			})
			if n > limit {
				t.Errorf("%d workers: %d bytes allocated, limit %d", workers, n, limit)
			}
		}
	}
}

// TestGzipBlocks compares the list of blocks with the content.
func TestGzipBlocks(t *testing.T) {
	content := bbtest.TextBytes(gzipSize, 1)
	file := gzipOf(t, content)
	r := bbtest.OpenAt(t, file)
	at, end := int64(0), int64(len("\x1f\x8b--------name\x00"))
	for b := range r.Blocks() {
		if b.Kind != "interval" || b.ContentOffset != at || b.Offset > end || b.Offset < end-1 {
			t.Fatalf("%+v behind byte %d, content %d", b, end, at)
		}
		at += b.Content
		end = b.Offset + b.Size
	}
	if info := r.Info(); at != r.Size() || end != int64(len(file)) || info.Format != compress.Gzip ||
		info.Streams[0].Unchecked != 0 || info.Size != end {
		t.Errorf("%d of %d, %+v", at, r.Size(), info)
	}
}

// TestWithIndex describes a file by its index, and has wrong indexes.
func TestWithIndex(t *testing.T) {
	content := bbtest.TextBytes(gzipSize, 1)
	file := gzipOf(t, content)
	index := gzipIndexOf(t, file, "gztool")
	src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
	info, err := compress.ReadInfo(src, int64(len(file)), nil, withIndex(index))
	if err != nil || info.Content != gzipSize || !info.Seekable || info.Blocks < 3 ||
		info.Streams[0].Unchecked != info.Blocks {
		t.Errorf("%+v, %v", info, err)
	}
	if calls := src.Calls.Load(); calls > int64(len(file)/(128<<10)) {
		t.Errorf("%d reads", calls)
	}
	other := gzipOf(t, content[:gzipSize-1000])
	for _, c := range []struct {
		name  string
		file  []byte
		index []byte
		kind  error
	}{
		{"another file", other, index, compress.ErrCorrupt},
		{"no index", file, content[:1000], compress.ErrFormat},
		{"cut index", file, index[:len(index)-20], compress.ErrTruncated},
		{"empty index", file, nil, compress.ErrFormat},
	} {
		_, err := compress.NewReaderAt(bytes.NewReader(c.file), int64(len(c.file)), withIndex(c.index))
		var e *compress.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Part != compress.PartIndex {
			t.Errorf("%s: %v", c.name, err)
		}
		_, infoErr := bbtest.FileInfo(c.file, withIndex(c.index))
		if infoErr == nil || infoErr.Error() != err.Error() {
			t.Errorf("%s: ReadInfo: %v, want %v", c.name, infoErr, err)
		}
	}
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		other := bbtest.Encode(t, content[:10_000], compress.WithFormat(format))
		if _, err := bbtest.OpenFile(other, withIndex(index)); !errors.Is(err, compress.ErrOption) {
			t.Errorf("NewReaderAt of a .%v file: %v", format, err)
		}
		if _, err := bbtest.FileInfo(other, withIndex(index)); !errors.Is(err, compress.ErrOption) {
			t.Errorf("ReadInfo of a .%v file: %v", format, err)
		}
	}
	if _, err := bbtest.OpenFile(file, compress.WithIndex(nil, -1)); !errors.Is(err, compress.ErrOption) {
		t.Error("negative size: ", err)
	}
}

// TestWriteIndex asks for indexes that cannot be written.
func TestWriteIndex(t *testing.T) {
	file := gzipOf(t, bbtest.TextBytes(gzipSize, 1))
	r := bbtest.OpenAt(t, file)
	for _, f := range []string{"bgzip", "", "none"} {
		if err := r.WriteIndex(io.Discard, f); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%q: %v", f, err)
		}
	}
	cause := errors.New("disk full")
	full := bbtest.WriterFunc(func([]byte) (int, error) { return 0, cause })
	if err := r.WriteIndex(full, "gzidx"); err != cause {
		t.Error(err)
	}
	r.Close()
	if err := r.WriteIndex(io.Discard, "gzidx"); !errors.Is(err, compress.ErrClosed) {
		t.Error(err)
	}
	if err := bbtest.OpenAt(t, bbtest.Encode(t, nil)).WriteIndex(
		io.Discard, "gzidx",
	); !errors.Is(err, compress.ErrOption) {
		t.Error(err)
	}
}

// TestGzipDamagedLater damages the file behind a ReaderAt: only reads of that interval fail.
func TestGzipDamagedLater(t *testing.T) {
	content := bbtest.MixedBytes(gzipSize)
	file := gzipOf(t, content)
	r := bbtest.OpenAt(t, file)
	blocks := slices.Collect(r.Blocks())
	bad := blocks[len(blocks)/2]
	file[bad.Offset+bad.Size/2] ^= 0x10
	p := make([]byte, gzipSize)
	n, err := r.ReadAt(p, 0)
	var e *compress.Error
	if int64(n) != bad.ContentOffset || !errors.Is(err, compress.ErrCorrupt) || !errors.As(err, &e) ||
		e.Block != bad.Number || e.Offset < bad.Offset || e.Offset > bad.Offset+bad.Size {
		t.Errorf("%d bytes, %v; want %d", n, err, bad.ContentOffset)
	}
	from := bad.ContentOffset + bad.Content
	if n, err := r.ReadAt(p[from:], from); n != len(p)-int(from) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	bbtest.Equal(t, p[from:], content[from:], "behind the damage")
}

// TestGzipLimits opens files with too little memory, and too much content.
func TestGzipLimits(t *testing.T) {
	content := bbtest.TextBytes(gzipSize, 1)
	file := gzipOf(t, content)
	var e *compress.Error
	_, err := bbtest.OpenFile(file, compress.WithMaxMemory(100_000))
	if !errors.Is(err, compress.ErrMemory) || !errors.As(err, &e) || e.Memory == 0 {
		t.Fatal(err)
	}
	for e.Memory > 0 {
		r, err := bbtest.OpenFile(file, compress.WithMaxMemory(e.Memory))
		if err == nil {
			r.Close()
			break
		}
		if least := e.Memory; !errors.As(err, &e) || e.Memory <= least {
			t.Fatalf("limit of %d: %v", least, err)
		}
	}
	bbtest.CheckReaderAt(t, file, content, compress.WithMaxMemory(e.Memory))
	if _, err := bbtest.OpenFile(
		file, compress.WithMaxDecodedSize(gzipSize-1),
	); !errors.Is(err, compress.ErrTooLarge) {
		t.Error(err)
	}
	index := gzipIndexOf(t, file, "gztool")
	_, err = bbtest.OpenFile(file, compress.WithMaxDecodedSize(gzipSize-1), withIndex(index))
	if !errors.Is(err, compress.ErrTooLarge) {
		t.Error(err)
	}
}
