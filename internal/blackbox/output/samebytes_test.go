package output

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// TestSameBytes checks that output does not depend on the number of workers or the sizes of writes.
func TestSameBytes(t *testing.T) {
	for name, content := range bbtest.TestContents() {
		want := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize),
			compress.WithConcurrency(1))
		for _, workers := range bbtest.WorkerCounts {
			opts := []compress.WriterOption{
				compress.WithBlockSize(bbtest.BlockSize), compress.WithConcurrency(workers),
			}
			bbtest.Equal(t, bbtest.Encode(t, content, opts...), want, name)
			for _, size := range []int{1, 7, 1000, bbtest.BlockSize, bbtest.BlockSize + 1} {
				if size > 1 || len(content) <= 2*bbtest.BlockSize {
					what := fmt.Sprint(name, ", writes of ", size)
					bbtest.Equal(t, encodePieces(t, content, size, opts...), want, what)
				}
			}
			checkReadFrom(t, content, want, name, opts...)

			got, err := compress.AppendEncode([]byte("before"), content, opts...)
			if err != nil {
				t.Fatal(err)
			}
			sized := bbtest.Encode(t, content, append(opts, compress.WithContentSize(int64(len(content))))...)
			bbtest.Equal(t, got, append([]byte("before"), sized...), name+", AppendEncode")
		}
	}
}

// encodePieces compresses content with writes of the given size.
func encodePieces(t *testing.T, content []byte, size int, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bbtest.NewWriter(t, &b, opts...)
	for p := content; len(p) > 0; {
		n := min(size, len(p))
		if m, err := w.Write(p[:n]); m != n || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", n, m, err)
		}
		p = p[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkReadFrom compresses content with ReadFrom, from readers that return it in different pieces.
func checkReadFrom(t *testing.T, content, want []byte, name string, opts ...compress.WriterOption) {
	t.Helper()
	for how, wrap := range map[string]func(io.Reader) io.Reader{
		"all":           func(r io.Reader) io.Reader { return r },
		"half":          iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	} {
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, opts...)
		n, err := w.ReadFrom(wrap(bytes.NewReader(content)))
		if n != int64(len(content)) || err != nil {
			t.Fatalf("ReadFrom: %d bytes, want %d; %v", n, len(content), err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, b.Bytes(), want, name+", ReadFrom, "+how)
	}
}

// TestSameBytesTiers checks that output does not depend on the tier of kernels where matches are
// longer than one call of a kernel compares. TestDigests covers other data.
func TestSameBytesTiers(t *testing.T) {
	size, levels := 8<<20, []int{1, 2, 3, 5, 6, 7, compress.MaxLevel}
	if !testenv.All() || testenv.Race {
		size, levels = 2<<20, levels[:2]
	}
	content := longMatches(size)
	defer simd.SetTier(simd.Tier())
	tiers := simd.Tiers()
	for _, p := range bridge.Pipelines() {
		for _, level := range levels {
			content := content
			if level > 2 {
				content = content[:1<<20] // slower
			}
			var want []byte
			for i, tier := range tiers {
				simd.SetTier(tier)
				opts := []compress.WriterOption{
					bridge.Pipeline(p.Name), compress.WithLevel(level), compress.WithConcurrency(1 + i),
				}
				got := bbtest.Encode(t, content, opts...)
				if i == 0 {
					want = got
				} else if !bytes.Equal(got, want) {
					t.Errorf("%s, level %d: %d bytes with %s differ from %d bytes with %s",
						p.Name, level, len(got), tier, len(want), tiers[0])
				}
			}
		}
	}
}

// longMatches returns data with matches of 300 bytes and more, at offsets within a block.
func longMatches(size int) []byte {
	content := append(bbtest.MixedBytes(1<<19), bbtest.RandomBytes(1<<18+500, 1)...)
	for i := 0; len(content) < size; i++ {
		r := bbtest.RandomBytes(16, uint64(i))
		offset := 500 + int(binary.LittleEndian.Uint32(r)%(1<<18))
		at, n := len(content)-offset, 300+int(r[4])
		content = append(append(content, r[8:]...), content[at:at+n]...)
	}
	return content
}

// TestSameBytesLastBlock checks that a small last block does not depend on whether its worker has
// compressed larger ones before. Random data of two symbols has more matches than the optimal
// parser stores, so that the room that the parser has would show.
func TestSameBytesLastBlock(t *testing.T) {
	content := bbtest.RandomBytes(3<<16+20_000, 7)
	for i := range content {
		content[i] &= 1
	}
	names, counts := []string{"lzseqr", "lzr", "deflate", "lzf"}, []int{2, 4, 8}
	if !testenv.All() || testenv.Race {
		names, counts = names[:1], []int{4}
	}
	for _, name := range names {
		opts := []compress.WriterOption{
			bridge.Pipeline(name), compress.WithLevel(compress.MaxLevel),
			compress.WithBlockSize(1 << 16),
		}
		want := sha256.Sum256(bbtest.Encode(t, content, append(opts, compress.WithConcurrency(1))...))
		for _, workers := range counts {
			if sha256.Sum256(
				bbtest.Encode(t, content, append(opts, compress.WithConcurrency(workers))...),
			) != want {
				t.Errorf("%s: the bytes with %d workers and with one differ", name, workers)
			}
		}
	}
}
