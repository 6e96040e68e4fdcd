package randomaccess

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

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/testenv"
)

// cacheFiles returns files of all kinds with the same content, and the options that open them.
func cacheFiles(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"pz": bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)),
		"zst": bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
			compress.WithSeekable(bbtest.BlockSize)),
		"gz":   bbtest.GzipMember(t, content),
		"bgzf": bgzfFile(t, content),
		"long": bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize),
			compress.WithLongDistance(compress.MinWindow)),
	}
}

// bgzfFile returns a file of members of 60,000 bytes that state their sizes.
func bgzfFile(t *testing.T, content []byte) (file []byte) {
	t.Helper()
	for len(content) > 0 {
		n := min(60_000, len(content))
		member := bbtest.GzipMember(t, content[:n])
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

// TestCacheLoads checks that random reads decompress each block once, whatever the number of
// workers and of goroutines, if the content fits into the cache of a ReaderAt.
func TestCacheLoads(t *testing.T) {
	content := bbtest.MixedBytes(300 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, workers := range []int{1, 2, 16} {
		for _, own := range []bool{false, true} {
			src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
			c := compress.NewCache(64 << 20)
			opts := []compress.ReaderOption{compress.WithConcurrency(workers), compress.WithCache(c)}
			if own {
				opts = opts[:1]
			}
			r, err := compress.NewReaderAt(src, int64(len(file)), opts...)
			if err != nil {
				t.Fatal(err)
			}
			src.Calls.Store(0)
			readRandom(t, r, content, 8, 1000)
			if n := src.Calls.Load(); n > 300 {
				t.Errorf("%d workers: %d blocks loaded of 300", workers, n)
			}
			s := bridge.CacheStats(c)
			if c.Hits() != s.Hits || c.Misses() != s.Misses || c.Bytes() != s.Bytes {
				t.Errorf("%d hits, %d misses, %d bytes, want %+v", c.Hits(), c.Misses(), c.Bytes(), s)
			}
			if n := src.Calls.Load(); !own && (s.Loads != n || s.LoadedBytes > int64(len(content)) ||
				s.Evictions != 0 || s.Hits < 8000 || s.Bytes < s.LoadedBytes) {
				t.Errorf("%d workers, %d loads: %+v", workers, n, s)
			}
			r.Close()
			if bridge.CacheStats(c).Bytes != 0 {
				t.Errorf("%d bytes after Close", bridge.CacheStats(c).Bytes)
			}
		}
	}
}

// readRandom reads at random places from so many goroutines, each so many times.
func readRandom(t *testing.T, r *compress.ReaderAt, content []byte, goroutines, reads int) {
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

// TestSharedCache reads files of all kinds through one Cache, in order and at random, and closes
// some of them meanwhile. The Cache must stay within its size and be empty in the end.
func TestSharedCache(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(60*bbtest.BlockSize + 99)
	files := cacheFiles(t, content)
	for _, size := range []int64{-1, bbtest.BlockSize, 20 * bbtest.BlockSize, 1 << 20, 16 << 20} {
		c := compress.NewCache(size)
		done := make(chan struct{})
		var watch, wg sync.WaitGroup
		watch.Go(func() {
			for {
				if n := bridge.CacheStats(c).Bytes; n > max(0, size) {
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
					r, err := bbtest.OpenFile(file, compress.WithCache(c), compress.WithConcurrency(1+k))
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
		if s := bridge.CacheStats(c); s.Bytes != 0 || s.Loads == 0 {
			t.Errorf("in the end: %+v", s)
		}
	}
}

// TestSharedCacheMemory checks that many open ReaderAts with one Cache take no more memory than
// that, their indexes, and what is in flight.
func TestSharedCacheMemory(t *testing.T) {
	testenv.Measures(t)
	const readers, size, block = 50, 1 << 20, 64 << 10
	content := bbtest.TextBytes(20*block, 5)
	for name, file := range map[string][]byte{
		"pz":  bbtest.Encode(t, content, compress.WithBlockSize(block)),
		"zst": bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithSeekable(block)),
		"gz":  bgzfFile(t, content),
	} {
		c := compress.NewCache(size)
		p := make([]byte, len(content))
		open := make([]*compress.ReaderAt, readers)
		for i := range open {
			open[i] = bbtest.OpenAt(t, file, compress.WithCache(c))
		}
		before := liveBytes()
		for _, r := range open {
			if n, err := r.ReadAt(p, 0); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		got := liveBytes() - before - bridge.CacheStats(c).Bytes
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

// TestOwnCacheMemory checks that a ReaderAt with its own cache stays within WithMaxMemory, and uses
// what there is of it.
func TestOwnCacheMemory(t *testing.T) {
	testenv.Measures(t)
	const block = 64 << 10
	content := bbtest.RandomBytes(200*block, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(block))
	for _, limit := range []int64{1200 << 10, 2 << 20, 6 << 20} {
		src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
		before := liveBytes()
		r, err := compress.NewReaderAt(src, int64(len(file)), compress.WithMaxMemory(limit),
			compress.WithConcurrency(2))
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
	hot, cold := bbtest.RandomBytes(24*bbtest.BlockSize, 1), bbtest.TextBytes(1000*bbtest.BlockSize, 2)
	rate := func(scan bool) float64 {
		c := compress.NewCache(40 * bbtest.BlockSize)
		h := bbtest.OpenAt(t, bbtest.Encode(t, hot, compress.WithBlockSize(bbtest.BlockSize)),
			compress.WithCache(c))
		s := bbtest.OpenAt(t, bbtest.Encode(t, cold, compress.WithBlockSize(bbtest.BlockSize)),
			compress.WithCache(c))
		rnd := rand.New(rand.NewPCG(3, 4))
		p, off := make([]byte, 512), int64(0)
		misses := int64(0)
		const reads = 4000
		for range reads {
			before := bridge.CacheStats(c).Misses
			h.ReadAt(p[:100], rnd.Int64N(h.Size()-100))
			misses += bridge.CacheStats(c).Misses - before
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

// TestReadAtAhead checks that reads in order find most blocks decompressed ahead, with every
// format, and that Close ends what is under way.
func TestReadAtAhead(t *testing.T) {
	bbtest.CheckGoroutines(t)
	content := bbtest.MixedBytes(200*bbtest.BlockSize + 1)
	for name, file := range cacheFiles(t, content) {
		for _, blocks := range []int64{0, 30} {
			c := compress.NewCache(blocks * bbtest.BlockSize * 17)
			r := bbtest.OpenAt(t, file, compress.WithConcurrency(4), compress.WithCache(c))
			got := make([]byte, len(content))
			for off := 0; off < len(got); off += 500 {
				if _, err := r.ReadAt(got[off:min(off+500, len(got))], int64(off)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			bbtest.Equal(t, got, content, name)
			s := bridge.CacheStats(c)
			if s.Misses > 4 && name != "long" || s.Loads > r.Info().Blocks*5/4 && name != "long" {
				t.Errorf("%s, cache of %d blocks: %+v for %d blocks", name, blocks, s, r.Info().Blocks)
			}
			r.ReadAt(got[:2*bbtest.BlockSize], 0)
			r.ReadAt(got[:10], 2*bbtest.BlockSize)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReadAtSmall checks that the caller's goroutine decompresses a small block that it waits for,
// and workers decompress all others.
func TestReadAtSmall(t *testing.T) {
	content := bbtest.TextBytes(8*bbtest.SmallContent, 4)
	for _, c := range []struct{ block, read, callers int }{
		{bbtest.BlockSize, 10, 1}, {bbtest.BlockSize, 3 * bbtest.BlockSize, 1}, {bbtest.SmallContent, 10, 1},
		{2 * bbtest.SmallContent, 10, 0},
	} {
		var callers, workers atomic.Int64
		trace := compress.WithTrace(func(e compress.Stage) {
			if e.Worker == -2 {
				callers.Store(1)
			} else {
				workers.Store(1)
			}
		})
		r := bbtest.OpenAt(t, bbtest.Encode(t, content, compress.WithBlockSize(c.block)), trace)
		if _, err := r.ReadAt(make([]byte, c.read), 0); err != nil {
			t.Fatal(err)
		}
		if int(callers.Load()) != c.callers || (workers.Load() == 0) != (c.callers == 1 && c.read < c.block) {
			t.Errorf("%d bytes of blocks of %d: caller %d, workers %d", c.read, c.block,
				callers.Load(), workers.Load())
		}
	}
}

// TestReadAtAheadDamage checks that a damaged block that is read ahead fails only the calls that
// touch it, each time.
func TestReadAtAheadDamage(t *testing.T) {
	content := bbtest.TextBytes(12*bbtest.BlockSize, 3)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	b := bbtest.OpenAt(t, file).Block(6)
	file[b.Offset+b.Size/2] ^= 1
	c := compress.NewCache(1 << 20)
	r := bbtest.OpenAt(t, file, compress.WithCache(c))
	p := make([]byte, bbtest.BlockSize)
	for range 2 {
		for i := range 12 {
			_, err := r.ReadAt(p, int64(i*bbtest.BlockSize))
			if i == 6 && !errors.Is(err, compress.ErrCorrupt) || i != 6 && err != nil {
				t.Errorf("block %d: %v", i, err)
			}
		}
	}
	if s := bridge.CacheStats(c); s.Bytes != 11*bbtest.BlockSize {
		t.Errorf("%d bytes in the cache, want those of 11 blocks", s.Bytes)
	}
}

// TestZeroCache checks that a Cache without NewCache is an error, and that a nil one is the
// default.
func TestZeroCache(t *testing.T) {
	file := bbtest.Encode(t, bbtest.TextBytes(1000, 1))
	c := new(compress.Cache)
	if _, err := bbtest.OpenFile(
		file, compress.WithCache(c),
	); !errors.Is(err, compress.ErrOption) || bridge.CacheStats(c) != (blockcache.Stats{}) {
		t.Errorf("zero Cache: %v, %+v", err, bridge.CacheStats(c))
	}
	if n, err := bbtest.OpenAt(t, file, compress.WithCache(nil)).ReadAt(
		make([]byte, 10), 5,
	); n != 10 || err != nil {
		t.Error("nil:", n, err)
	}
}

// TestCacheCanceled checks that a context ends calls on a shared cache, and that others go on.
func TestCacheCanceled(t *testing.T) {
	content := bbtest.MixedBytes(40 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	c := compress.NewCache(5 * bbtest.BlockSize)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a, b := bbtest.OpenAt(t, file, compress.WithCache(c), compress.WithContext(ctx)),
		bbtest.OpenAt(t, file, compress.WithCache(c))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			p := make([]byte, 5000)
			for i := 0; ; i++ {
				off := int64((g*7777 + i*3333) % (len(content) - len(p)))
				if _, err := a.ReadAt(p, off); err != nil {
					if !errors.Is(err, bbtest.ErrTest) {
						t.Errorf("ReadAt: %v", err)
					}
					return
				}
				if g == 0 && i == 20 {
					cancel(bbtest.ErrTest)
				}
			}
		})
	}
	readRandom(t, b, content, 4, 100)
	bbtest.MustFinish(t, "ReadAt with a context that has ended", wg.Wait)
}
