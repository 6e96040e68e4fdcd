package peertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestReadGzip reads .gz files of the peer at all its levels.
func TestReadGzip(t *testing.T) {
	testenv.Slow(t)
	content := corpus.ByName("mixed").Make(500_000)
	for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
		w.Close()
		checkRead(t, b.Bytes(), content, fmt.Sprint("level ", level))
	}
}

// zstdStream returns a frame of the peer without a content size, with a flush after each piece.
func zstdStream(t testing.TB, content []byte, piece int, opts ...kzstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := kzstd.NewWriter(&b, append(opts, kzstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	for p := range slices.Chunk(content, piece) {
		w.Write(p)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadZstd reads .zst files of the peer at all its levels: frames with a content size, and
// flushed streams without one.
func TestReadZstd(t *testing.T) {
	testenv.Slow(t)
	content := corpus.ByName("mixed").Make(500_000)
	for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
		enc := zstdEncoder(t, level)
		checkRead(t, enc.EncodeAll(content, nil), content, fmt.Sprint(level, ", EncodeAll"))
		for _, piece := range []int{1000, 300_000} {
			file := zstdStream(t, content, piece, kzstd.WithEncoderLevel(level))
			checkRead(t, file, content, fmt.Sprint(level, ", pieces of ", piece))
		}
	}
}

// TestReadZstdDamage cuts and changes a frame of the peer. Readers return a part of its content and
// an error, the same with all numbers of workers.
func TestReadZstdDamage(t *testing.T) {
	content := corpus.ByName("text").Make(1500)
	file := zstdStream(t, content, 500)
	step := 3
	if testenv.All() {
		step = 1
	}
	for i := 0; i < len(file); i += step {
		changed := bytes.Clone(file)
		changed[i] ^= 1
		for what, bad := range map[string][]byte{"cut": file[:i], "changed": changed} {
			first, firstErr := decodeFile(bad, compress.WithConcurrency(1))
			ok := firstErr != nil && (what == "changed" || bytes.HasPrefix(content, first))
			if what == "changed" && firstErr == nil {
				ok = bytes.Equal(first, content) // a larger window, for example
			}
			if !ok {
				t.Fatalf("%s at byte %d: %d bytes, %v", what, i, len(first), firstErr)
			}
			got, err := decodeFile(bad, compress.WithConcurrency(3))
			if !bytes.Equal(got, first) || fmt.Sprint(err) != fmt.Sprint(firstErr) {
				t.Fatalf("%s at byte %d: %d bytes, %v with one worker; %d bytes, %v with three",
					what, i, len(first), firstErr, len(got), err)
			}
		}
	}
}

// TestWindowLimit reads a frame whose window exceeds the memory limit, and one whose window does
// not.
func TestWindowLimit(t *testing.T) {
	content := corpus.ByName("text").Make(200_000)
	wide := zstdStream(t, content, 50_000, kzstd.WithWindowSize(16<<20))
	_, err := decodeFile(wide, compress.WithMaxMemory(16<<20))
	if !errors.Is(err, compress.ErrMemory) {
		t.Errorf("error %v, want ErrMemory", err)
	}
	got, err := decodeFile(wide, compress.WithMaxMemory(32<<20))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestReadWindows decodes frames of many windows with one Reader, through readers of all manners.
func TestReadWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, workers := range []int{1, 3} {
		d, err := compress.NewReader(nil, compress.WithConcurrency(workers))
		if err != nil {
			t.Fatal(err)
		}
		for i, window := range []int{1 << 10, 1 << 20, 1 << 14, 4 << 20, 1 << 17, 1 << 18, 8 << 20} {
			for j, k := range corpus.Kinds() {
				if (i+j+workers)%3 > 0 && !testenv.All() {
					continue
				}
				size := 1 + r.IntN(200_000)
				if (i+j)%9 == 0 && !testenv.Race && !testenv.Emulated() {
					size = 5 << 20
				}
				src := k.Make(size)
				code := zstdStream(t, src, 1+r.IntN(size)+size/100, kzstd.WithWindowSize(window))
				var in io.Reader = bytes.NewReader(code)
				switch j % 3 {
				case 0:
					in = iotest.HalfReader(in)
				case 1:
					in = iotest.DataErrReader(in)
				}
				d.Reset(in)
				if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, src) {
					t.Fatalf("%s, %d bytes, window %d, %d workers: %d bytes, %v",
						k.Name, size, window, workers, len(got), err)
				}
			}
		}
	}
}

// TestReadParts reads frames of the peer that are cut into parts, at all its levels.
func TestReadParts(t *testing.T) {
	testenv.Slow(t)
	content := append(corpus.ByName("mixed").Make(1_200_000), corpus.ByName("json").Make(300_000)...)
	for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
		for _, sum := range []bool{false, true} {
			enc := zstdEncoder(t, level, kzstd.WithEncoderCRC(sum))
			for k, file := range [][]byte{
				enc.EncodeAll(content, nil),
				zstdStream(t, content, 1<<30, kzstd.WithEncoderLevel(level), kzstd.WithEncoderCRC(sum)),
				zstdStream(t, content, 30_000, kzstd.WithEncoderLevel(level), kzstd.WithEncoderCRC(sum)),
			} {
				for _, workers := range []int{1, 2, 8} {
					got, err := compress.AppendDecode(nil, file, compress.WithConcurrency(workers))
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%v, file %d, %d workers: %d bytes, %v", level, k, workers, len(got), err)
					}
				}
			}
		}
	}
}

// TestReadFar decodes content that is several times as long as the memory for it, with matches of
// all distances.
func TestReadFar(t *testing.T) {
	testenv.Slow(t)
	r := rand.New(rand.NewPCG(11, 12))
	for _, name := range []string{"far", "mixed", "dna"} {
		src := corpus.ByName(name).Make(1 << 20)
		for len(src) < 20<<20 { // matches as far as the window
			at := max(0, len(src)-1<<r.IntN(22))
			src = append(src, src[at:min(len(src), at+r.IntN(20_000))]...)
		}
		for _, window := range []int{1 << 10, 1 << 16, 1 << 20, 2 << 20} {
			code := zstdStream(t, src, 1<<20+r.IntN(100), kzstd.WithWindowSize(window))
			for _, workers := range []int{1, 2} {
				got, err := compress.AppendDecode(nil, code, compress.WithConcurrency(workers))
				if err != nil || !bytes.Equal(got, src) {
					t.Fatalf("%s, window %d, %d workers: %d bytes, %v",
						name, window, workers, len(got), err)
				}
			}
		}
	}
}
