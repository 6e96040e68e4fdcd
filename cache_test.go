package compress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// cacheFiles returns files of all kinds with the same content, and the options that open them.
func cacheFiles(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"pz":   encode(t, content, WithBlockSize(testBlock)),
		"zst":  encode(t, content, WithFormat(Zstd), WithBlockSize(testBlock)),
		"gz":   gzipMember(t, content),
		"bgzf": bgzfFile(t, content),
		"long": encode(t, content, WithBlockSize(testBlock), WithLongDistance(MinWindow)),
	}
}

// bgzfFile returns a file of members of 60,000 bytes that state their sizes.
func bgzfFile(t *testing.T, content []byte) (file []byte) {
	t.Helper()
	for len(content) > 0 {
		n := min(60_000, len(content))
		member := gzipMember(t, content[:n])
		body := member[10:]
		size := 18 + len(body) - 1
		file = append(file, 31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0)
		file = append(file, byte(size), byte(size>>8))
		file = append(file, body...)
		content = content[n:]
	}
	return append(file, "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00"+
		"\x00\x00\x00\x00\x00\x00\x00\x00"...)
}

// TestCacheLoads checks that random reads decompress each block once, whatever the number of workers and
// of goroutines, if the content fits into the cache of a ReaderAt.
func TestCacheLoads(t *testing.T) {
	content := mixedBytes(300 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, workers := range []int{1, 2, 16} {
		for _, own := range []bool{false, true} {
			src := &countingReaderAt{ReaderAt: bytes.NewReader(file)}
			c := NewCache(DefaultCache)
			opts := []Option{WithConcurrency(workers), WithCache(c)}
			if own {
				opts = opts[:1]
			}
			r, err := NewReaderAt(src, int64(len(file)), opts...)
			if err != nil {
				t.Fatal(err)
			}
			src.calls.Store(0)
			readRandom(t, r, content, 8, 1000)
			if n := src.calls.Load(); n > 300 {
				t.Errorf("%d workers: %d blocks loaded of 300", workers, n)
			}
			s := c.Stats()
			if n := src.calls.Load(); !own && (s.Loads != n || s.LoadedBytes > int64(len(content)) ||
				s.Evictions != 0 || s.Hits < 8000 || s.Bytes < s.LoadedBytes) {
				t.Errorf("%d workers, %d loads: %+v", workers, n, s)
			}
			r.Close()
			if c.Stats().Bytes != 0 {
				t.Errorf("%d bytes after Close", c.Stats().Bytes)
			}
		}
	}
}

// readRandom reads at random places from so many goroutines, each so many times.
func readRandom(t *testing.T, r *ReaderAt, content []byte, goroutines, reads int) {
	t.Helper()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(9, uint64(g)))
			p := make([]byte, 1000)
			for range reads {
				off := rnd.IntN(len(content))
				n, err := r.ReadAt(p, int64(off))
				want := content[off:min(off+len(p), len(content))]
				if !bytes.Equal(p[:n], want) || err != nil && err != io.EOF {
					t.Errorf("ReadAt %d: %d, %v", off, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestSharedCache reads files of all kinds through one Cache, in order and at random, and closes some of
// them meanwhile. The Cache must stay within its size and be empty in the end.
func TestSharedCache(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(60*testBlock + 99)
	files := cacheFiles(t, content)
	for _, size := range []int64{-1, testBlock, 20 * testBlock, 1 << 20, 16 << 20} {
		c := NewCache(size)
		done := make(chan struct{})
		var watch, wg sync.WaitGroup
		watch.Go(func() {
			for {
				if n := c.Stats().Bytes; n > max(0, size) {
					t.Errorf("%d bytes in a cache of %d", n, size)
				}
				select {
				case <-done:
					return
				default:
					runtime.Gosched()
				}
			}
		})
		for name, file := range files {
			for k := range 3 {
				wg.Go(func() {
					r, err := openFile(file, WithCache(c), WithConcurrency(1+k))
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					defer r.Close()
					readRandom(t, r, content, 2, 20)
					got := make([]byte, len(content))
					for off := 0; off < len(got); off += 3000 {
						r.ReadAt(got[off:min(off+3000, len(got))], int64(off))
					}
					if !bytes.Equal(got, content) {
						t.Errorf("%s, cache of %d: wrong content", name, size)
					}
				})
			}
		}
		wg.Wait()
		close(done)
		watch.Wait()
		if s := c.Stats(); s.Bytes != 0 || s.Loads == 0 {
			t.Errorf("in the end: %+v", s)
		}
	}
}

// TestSharedCacheMemory checks that many open ReaderAts with one Cache take no more memory than that,
// their indexes, and what is in flight.
func TestSharedCacheMemory(t *testing.T) {
	testenv.Measures(t)
	const readers, size, block = 50, 1 << 20, 64 << 10
	content := textBytes(20*block, 5)
	for name, file := range map[string][]byte{
		"pz":  encode(t, content, WithBlockSize(block)),
		"zst": encode(t, content, WithFormat(Zstd), WithBlockSize(block)),
		"gz":  bgzfFile(t, content),
	} {
		c := NewCache(size)
		p := make([]byte, len(content))
		open := make([]*ReaderAt, readers)
		for i := range open {
			open[i] = openAt(t, file, WithCache(c))
		}
		before := liveBytes()
		for _, r := range open {
			if n, err := r.ReadAt(p, 0); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		got := liveBytes() - before - c.Stats().Bytes
		if most := int64(readers * 12 << 10); got > most {
			t.Errorf("%s: %d readers take %d bytes besides the cache, want %d at most",
				name, readers, got, most)
		}
		for _, r := range open {
			r.Close()
		}
	}
}

// liveBytes returns the bytes in the heap that something refers to.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestOwnCacheMemory checks that a ReaderAt with its own cache stays within WithMaxMemory, and uses what
// there is of it.
func TestOwnCacheMemory(t *testing.T) {
	testenv.Measures(t)
	const block = 64 << 10
	content := randomBytes(200*block, 1)
	file := encode(t, content, WithBlockSize(block))
	for _, limit := range []int64{1200 << 10, 2 << 20, 6 << 20} {
		src := &countingReaderAt{ReaderAt: bytes.NewReader(file)}
		before := liveBytes()
		r, err := NewReaderAt(src, int64(len(file)), WithMaxMemory(limit), WithConcurrency(2))
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 100)
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			r.ReadAt(p, rnd.Int64N(r.Size()))
		}
		got, least := liveBytes()-before, limit-3<<20 // the rest is for workers
		if got > limit || got < least {
			t.Errorf("limit %d: %d bytes in use, want %d at least", limit, got, least)
		}
		r.Close()
	}
}

// TestCacheScan reads one file from front to end in small pieces, and hot places of another one at
// random. The scan must leave the hits of those as they are.
func TestCacheScan(t *testing.T) {
	hot, cold := randomBytes(24*testBlock, 1), textBytes(1000*testBlock, 2)
	rate := func(scan bool) float64 {
		c := NewCache(40 * testBlock)
		h := openAt(t, encode(t, hot, WithBlockSize(testBlock)), WithCache(c))
		s := openAt(t, encode(t, cold, WithBlockSize(testBlock)), WithCache(c))
		rnd := rand.New(rand.NewPCG(3, 4))
		p, off := make([]byte, 512), int64(0)
		misses := int64(0)
		const reads = 4000
		for range reads {
			before := c.Stats().Misses
			h.ReadAt(p[:100], rnd.Int64N(h.Size()-100))
			misses += c.Stats().Misses - before
			for range 2 {
				if scan {
					s.ReadAt(p, off)
					off += int64(len(p))
				}
			}
		}
		return 1 - float64(misses)/reads
	}
	if alone, beside := rate(false), rate(true); alone-beside > 0.05 || alone < 0.98 {
		t.Errorf("hit rate %.3f, and %.3f beside a scan", alone, beside)
	}
}

// TestReadAtAhead checks that reads in order find most blocks decompressed ahead, with every format, and
// that Close ends what is under way.
func TestReadAtAhead(t *testing.T) {
	checkGoroutines(t)
	content := mixedBytes(200*testBlock + 1)
	for name, file := range cacheFiles(t, content) {
		for _, blocks := range []int64{0, 30} {
			c := NewCache(blocks * testBlock * 17)
			r := openAt(t, file, WithConcurrency(4), WithCache(c))
			got := make([]byte, len(content))
			for off := 0; off < len(got); off += 500 {
				if _, err := r.ReadAt(got[off:min(off+500, len(got))], int64(off)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			equal(t, got, content, name)
			s := c.Stats()
			if s.Misses > 4 && name != "long" || s.Loads > r.Info().Blocks*5/4 && name != "long" {
				t.Errorf("%s, cache of %d blocks: %+v for %d blocks", name, blocks, s, r.Info().Blocks)
			}
			r.ReadAt(got[:2*testBlock], 0)
			r.ReadAt(got[:10], 2*testBlock)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReadAtSmall checks that the caller's goroutine decompresses a small block that it waits for, and
// workers decompress all others.
func TestReadAtSmall(t *testing.T) {
	content := textBytes(8*smallContent, 4)
	for _, c := range []struct{ block, read, callers int }{
		{testBlock, 10, 1}, {testBlock, 3 * testBlock, 1}, {smallContent, 10, 1},
		{2 * smallContent, 10, 0},
	} {
		var callers, workers atomic.Int64
		trace := WithTrace(func(e StageEvent) {
			if e.Worker == -2 {
				callers.Store(1)
			} else {
				workers.Store(1)
			}
		})
		r := openAt(t, encode(t, content, WithBlockSize(c.block)), trace)
		if _, err := r.ReadAt(make([]byte, c.read), 0); err != nil {
			t.Fatal(err)
		}
		if int(callers.Load()) != c.callers || (workers.Load() == 0) != (c.callers == 1 && c.read < c.block) {
			t.Errorf("%d bytes of blocks of %d: caller %d, workers %d", c.read, c.block,
				callers.Load(), workers.Load())
		}
	}
}

// TestReadAtAheadDamage checks that a damaged block that is read ahead fails only the calls that touch
// it, each time.
func TestReadAtAheadDamage(t *testing.T) {
	content := textBytes(12*testBlock, 3)
	file := encode(t, content, WithBlockSize(testBlock))
	b := openAt(t, file).Block(6)
	file[b.Offset+b.Size/2] ^= 1
	c := NewCache(1 << 20)
	r := openAt(t, file, WithCache(c))
	p := make([]byte, testBlock)
	for range 2 {
		for i := range 12 {
			_, err := r.ReadAt(p, int64(i*testBlock))
			if i == 6 && !errors.Is(err, ErrCorrupt) || i != 6 && err != nil {
				t.Errorf("block %d: %v", i, err)
			}
		}
	}
	if s := c.Stats(); s.Bytes != 11*testBlock {
		t.Errorf("%d bytes in the cache, want those of 11 blocks", s.Bytes)
	}
}

// TestZeroCache checks that a Cache without NewCache is an error, and that a nil one is the default.
func TestZeroCache(t *testing.T) {
	file := encode(t, textBytes(1000, 1))
	c := new(Cache)
	if _, err := openFile(file, WithCache(c)); !errors.Is(err, ErrOption) || c.Stats() != (CacheStats{}) {
		t.Errorf("zero Cache: %v, %+v", err, c.Stats())
	}
	if n, err := openAt(t, file, WithCache(nil)).ReadAt(make([]byte, 10), 5); n != 10 || err != nil {
		t.Error("nil:", n, err)
	}
}

// TestCacheCanceled checks that a context ends calls on a shared cache, and that others go on.
func TestCacheCanceled(t *testing.T) {
	content := mixedBytes(40 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	c := NewCache(5 * testBlock)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a, b := openAt(t, file, WithCache(c), WithContext(ctx)), openAt(t, file, WithCache(c))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			p := make([]byte, 5000)
			for i := 0; ; i++ {
				off := int64((g*7777 + i*3333) % (len(content) - len(p)))
				if _, err := a.ReadAt(p, off); err != nil {
					if !errors.Is(err, errTest) {
						t.Errorf("ReadAt: %v", err)
					}
					return
				}
				if g == 0 && i == 20 {
					cancel(errTest)
				}
			}
		})
	}
	readRandom(t, b, content, 4, 100)
	mustFinish(t, "ReadAt with a context that has ended", wg.Wait)
}
