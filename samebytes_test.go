package compress

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// The bytes depend on content and settings, not on workers and on how Write is called.
func TestSameBytes(t *testing.T) {
	for name, content := range testContents() {
		want := encode(t, content, WithBlockSize(testBlock), WithConcurrency(1))
		for _, workers := range workerCounts {
			opts := []Option{WithBlockSize(testBlock), WithConcurrency(workers)}
			equal(t, encode(t, content, opts...), want, name)
			for _, chunk := range []int{1, 7, 1000, testBlock, testBlock + 1} {
				if chunk == 1 && len(content) > 2*testBlock {
					continue
				}
				var b bytes.Buffer
				w := newWriter(t, &b, opts...)
				for p := content; len(p) > 0; {
					n := min(chunk, len(p))
					if m, err := w.Write(p[:n]); m != n || err != nil {
						t.Fatal(m, err)
					}
					p = p[n:]
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				equal(t, b.Bytes(), want, fmt.Sprint(name, ", chunks of ", chunk))
			}
			for how, wrap := range map[string]func(io.Reader) io.Reader{
				"plain": func(r io.Reader) io.Reader { return r },
				"half":  iotest.HalfReader,
				"eof":   iotest.DataErrReader,
			} {
				var b bytes.Buffer
				w := newWriter(t, &b, opts...)
				n, err := w.ReadFrom(wrap(bytes.NewReader(content)))
				if n != int64(len(content)) || err != nil {
					t.Fatal(n, err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				equal(t, b.Bytes(), want, name+", ReadFrom, "+how)
			}
			got, err := AppendEncode([]byte("before"), content, opts...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, append([]byte("before"), encode(t, content, append(opts, WithContentSize(int64(len(content))))...)...), name+", AppendEncode")
		}
	}
}

// TestSameBytesTiers: nor on which kernels run. Most matches are so long that the calls of a kernel end at a number of bytes, the others as short as usual.
func TestSameBytesTiers(t *testing.T) {
	size, levels := 8<<20, []int{1, 2, 3, 5, 6, 7, MaxLevel}
	if !testenv.All() || testenv.Race {
		size, levels = 2<<20, levels[:2]
	}
	content := append(mixedBytes(1<<19), randomBytes(1<<18+500, 1)...)
	for i := 0; len(content) < size; i++ {
		r := randomBytes(16, uint64(i))
		at, n := len(content)-500-int(binary.LittleEndian.Uint32(r)%(1<<18)), 300+int(r[4]) // near enough to be in the same block
		content = append(append(content, r[8:]...), content[at:at+n]...)
	}
	for _, p := range Pipelines() {
		for _, level := range levels {
			content := content
			if level > 2 {
				content = content[:1<<20] // slower
			}
			var want []byte
			for i, tier := range simd.Tiers() {
				defer simd.SetTier(simd.SetTier(tier))
				got := encode(t, content, WithPipeline(p.Name), WithLevel(level), WithConcurrency(1+i))
				if i == 0 {
					want = got
				} else if !bytes.Equal(got, want) {
					t.Errorf("%s, level %d: %s makes %d bytes, or others, %s %d", p.Name, level, tier, len(got), simd.Tiers()[0], len(want))
				}
			}
		}
	}
}

// TestSameBytesDensest: a last block that is small gives the same bytes after large ones as from a worker that has had none. Random data of two symbols has more matches than
// the parser by price keeps, so that it matters what there is room for.
func TestSameBytesDensest(t *testing.T) {
	content := randomBytes(3<<16+20_000, 7)
	for i := range content {
		content[i] &= 1
	}
	names, counts := []string{"lzseqr", "lzr", "deflate", "lzf"}, []int{2, 4, 8}
	if !testenv.All() || testenv.Race {
		names, counts = names[:1], []int{4} // slow there
	}
	for _, name := range names {
		opts := []Option{WithPipeline(name), WithLevel(MaxLevel), WithBlockSize(1 << 16)}
		want := sha256.Sum256(encode(t, content, append(opts, WithConcurrency(1))...))
		for _, workers := range counts {
			if sha256.Sum256(encode(t, content, append(opts, WithConcurrency(workers))...)) != want {
				t.Errorf("%s: %d workers make other bytes", name, workers)
			}
		}
	}
}
