package compress_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/zstfile"
)

// This line compiles if both constants are equal.
var _ = [1]int{}[compress.SmallContent-bbtest.SmallContent]

// TestLostBlocks checks that a run without any block left returns an error and does not wait.
func TestLostBlocks(t *testing.T) {
	content := bbtest.MixedBytes(8 * bbtest.BlockSize)
	w := bbtest.NewWriter(t, io.Discard, compress.WithBlockSize(bbtest.BlockSize),
		compress.WithConcurrency(1))
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	r := bbtest.NewReader(t, bytes.NewReader(file), compress.WithConcurrency(1))
	bbtest.MustFinish(t, "lost blocks", func() {
		w.Write(content)
		w.Close()
		w.Reset(io.Discard)
		w.TakeBlocks()
		if _, err := w.Write(content); !errors.Is(err, compress.ErrInternal) {
			t.Error("Writer:", err)
		}
		io.Copy(io.Discard, r)
		r.Reset(bytes.NewReader(file))
		r.TakeBlocks()
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, compress.ErrInternal) {
			t.Error("Reader:", err)
		}
	})
}

// TestIdleCursor checks that a cursor in the middle of a block does not block ReadAt, whatever the
// number of cache entries.
func TestIdleCursor(t *testing.T) {
	content := bbtest.MixedBytes(30 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, blocks := range []int{1, 2, 3, 7} {
		r := bbtest.OpenAt(t, file, bbtest.WithCachedBlocks(t, blocks, 2, bbtest.BlockSize),
			compress.WithConcurrency(2))
		if n := r.CacheEntries(); n != min(blocks, 4) {
			t.Errorf("%d cache entries, want %d", n, min(blocks, 4))
		}
		bbtest.MustFinish(t, "ReadAt beside an idle cursor", func() {
			io.ReadFull(r, make([]byte, 12*bbtest.BlockSize+10))
			p := make([]byte, len(content))
			if n, err := r.ReadAt(p, 0); n != len(p) || err != nil {
				t.Error(n, err)
			}
			bbtest.Equal(t, p, content, "ReadAt")
		})
	}
}

// TestDecoderKept checks that the memory that the decoder keeps from earlier frames does not make a
// later frame exceed the limit: a frame that would be a unit is cut into parts then.
func TestDecoderKept(t *testing.T) {
	const window, size = 6 << 20, 4 << 20
	content := bbtest.TextBytes(window, 1)
	frame := func(h zstfile.Header, content []byte) []byte {
		return bbtest.StoredFrame(h, slices.Collect(slices.Chunk(content, zstfile.MaxBlock))...)
	}
	h := zstfile.Header{ContentSize: window, Window: window, Checksum: true}
	first := frame(h, content)
	h.ContentSize, h.Window = size, 1<<20
	second := frame(h, content[:size])
	whole := zstfile.FrameSpec(size)
	limit := whole.Memory(1, 1) + 100_000
	for _, limit := range []int64{limit, 3 * limit} {
		for _, workers := range []int{1, 3} {
			r := bbtest.NewReader(t, bytes.NewReader(slices.Concat(first, second)),
				compress.WithMaxMemory(limit), compress.WithConcurrency(workers))
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, append(slices.Clone(content), content[:size]...)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
	}
}

// TestWindowFreed checks that the decoder frees a large window at the next frame and at the end of
// the file.
func TestWindowFreed(t *testing.T) {
	const freeWindow = 8 << 20 // RFC 8878: every decoder should support it

	// Parts in flight take memory too.
	memory := func(content int64) int64 { return content + 12<<20 }
	small := bbtest.WindowFrame(1<<10, []byte("x"))
	large := bbtest.WindowFrame(4*freeWindow, bbtest.RandomBytes(3*freeWindow, 1))
	for name, file := range map[string][]byte{
		"next frame": append(slices.Clone(large), small...), "end": large,
	} {
		r := bbtest.NewReader(t, bytes.NewReader(file))
		most := int64(0)
		for p := make([]byte, 1<<20); ; {
			_, err := r.Read(p)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(name, err)
			}
			most = max(most, r.DecoderMemory())
		}
		kept := r.DecoderMemory()
		if most < 3*freeWindow || kept > memory(freeWindow) || name == "end" && kept > 0 {
			t.Errorf("%s: the decoder keeps %d bytes of %d", name, kept, most)
		}
	}
}

// TestMemoryOfFirstFrame checks the memory for the first frame of a file, whose content the frame
// states. A frame that is alone is decoded in order, and takes little more than its content. One
// that others must follow is one unit.
func TestMemoryOfFirstFrame(t *testing.T) {
	const size = 4 << 20
	h := zstfile.Header{ContentSize: size, Window: size, Checksum: true}
	content := bbtest.RandomBytes(size, 1)
	frame := bbtest.StoredFrame(h, slices.Collect(slices.Chunk(content, zstfile.MaxBlock))...)
	two := append(slices.Clone(frame), frame...)
	for name, test := range map[string]struct {
		src         io.Reader
		least, most int64
	}{
		"alone":  {bytes.NewReader(frame), size, size + 512<<10},
		"of two": {bytes.NewReader(two), 0, 0},
		"stream": {iotest.HalfReader(bytes.NewReader(two)), size, size + 512<<10},
	} {
		r := bbtest.NewReader(t, test.src, compress.WithConcurrency(2))
		if _, err := io.CopyN(io.Discard, r, size-1); err != nil {
			t.Fatal(name, err)
		}
		if n := r.DecoderMemory(); n < test.least || n > test.most {
			t.Errorf("%s: the decoder has %d bytes", name, n)
		}
	}
}

// TestLongDistanceReadAt reads at random from several goroutines, with few slots and small caches.
func TestLongDistanceReadAt(t *testing.T) {
	content := bbtest.VersionsOf(30, 5000, 4)
	file := bbtest.Encode(t, content, compress.WithLongDistance(compress.MinWindow),
		compress.WithBlockSize(1<<13))
	for _, entries := range []int{1, 2, 5, 100} {
		r := bbtest.OpenAt(t, file, compress.WithConcurrency(2))
		r.SetCache(compress.NewCache(int64(entries/2)*30_000), entries)
		var group sync.WaitGroup
		for k := range 4 {
			group.Go(func() {
				g := rand.New(rand.NewPCG(uint64(k), 7))
				for range 60 {
					at := g.IntN(len(content))
					p := make([]byte, min(g.IntN(30_000), len(content)-at))
					_, err := r.ReadAt(p, int64(at))
					if err != nil || !bytes.Equal(p, content[at:at+len(p)]) {
						t.Errorf("%d entries: %d bytes at %d: %v", entries, len(p), at, err)
						return
					}
				}
			})
		}
		group.Wait()
	}
}
