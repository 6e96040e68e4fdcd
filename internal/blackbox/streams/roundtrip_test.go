// Package streams tests what Writers and Readers make of content: round trips, options, flushes,
// and the life of a stream, through the public API.
package streams

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestRoundTrip writes small contents with each pipeline and reads them in every way.
func TestRoundTrip(t *testing.T) {
	bbtest.CheckGoroutines(t)
	for name, content := range bbtest.TestContents() {
		for _, workers := range bbtest.WorkerCounts {
			for _, p := range bridge.Pipelines() {
				opts := []compress.WriterOption{
					compress.WithBlockSize(bbtest.BlockSize),
					compress.WithConcurrency(workers),
					bridge.Pipeline(p.Name),
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, p.Name, workers), func(t *testing.T) {
					if p.Format == compress.Zstd {
						bbtest.CheckInOrder(t, bbtest.Encode(t, content, opts...), content,
							compress.WithConcurrency(workers))
						opts = append(opts, bridge.Frames())
					}
					bbtest.CheckAllReaders(t, bbtest.Encode(t, content, opts...), content,
						compress.WithConcurrency(workers))
				})
			}
		}
	}
}

// TestConcatenated reads streams with different options, one behind the other.
func TestConcatenated(t *testing.T) {
	a, b := bbtest.TextBytes(3*bbtest.BlockSize, 1), bbtest.RandomBytes(5*bbtest.BlockSize+5, 2)
	var file, content []byte
	for i, opts := range [][]compress.WriterOption{
		{compress.WithBlockSize(bbtest.BlockSize), bridge.Pipeline("lzr")},
		{compress.WithBlockSize(bbtest.BlockSize)},
		{compress.WithBlockSize(2 * bbtest.BlockSize), compress.WithChecksum(false)},
		{compress.WithContentSize(0)},
		{},
		{compress.WithBlockSize(bbtest.BlockSize), compress.WithContentSize(int64(len(b)))},
	} {
		p := [][]byte{a, a, b, nil, a, b}[i]
		file = append(file, bbtest.Encode(t, p, opts...)...)
		content = append(content, p...)
	}
	for _, workers := range bbtest.WorkerCounts {
		bbtest.CheckAllReaders(t, file, content, compress.WithConcurrency(workers))
	}
	info := bbtest.OpenAt(t, file).Info()
	if len(info.Streams) != 6 || info.Content != int64(len(content)) ||
		info.Size != int64(len(file)) ||
		info.Streams[0].Pipeline != "lzr" || info.Streams[1].Pipeline != "lzseqr" ||
		info.Streams[1].Unchecked != 0 || info.Streams[2].Unchecked != info.Streams[2].Blocks {
		t.Errorf("%+v", info)
	}
}

// TestCorpus writes and reads all test data with every pipeline. Each way to write must give the
// same bytes with any number of workers, and each reader the same content. By default a pipeline
// gets one level of each group, and other levels for each kind of data; TestDigests covers the
// bytes at all levels.
//
// With PZ_CORPUS set the test adds the real files. Files over 2 MiB get two levels of each
// pipeline, and all levels with PZ_TEST=matrix.
func TestCorpus(t *testing.T) {
	kinds := corpus.Kinds()
	switch {
	case testenv.Race || testenv.Emulated():
		kinds = []corpus.Kind{corpus.ByName("mixed")}
	case testing.Short():
		kinds = kinds[len(kinds)-4:] // zeros, random, packed and mixed
	}
	for i, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			content := k.Make(100_000)
			if testenv.All() {
				checkAllLevels(t, content, compress.WithBlockSize(1<<15))
				return
			}
			for j, p := range bridge.Pipelines() {
				turn := i + j
				for _, level := range []int{1 + turn%4, 5 + turn%2, 7 + turn%3} {
					content := content
					if level >= 7 {
						content = content[:40_000] // two blocks
					}
					counts := []int{1, bbtest.WorkerCounts[1+turn%3]}
					checkWorkers(t, counts, fmt.Sprintf("%s, level %d", p.Name, level), content,
						compress.WithBlockSize(1<<15), bridge.Pipeline(p.Name),
						compress.WithLevel(level))
				}
			}
		})
	}
	for _, f := range corpus.Real(t) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if f.Size <= 2<<20 || testenv.Matrix() {
				checkAllLevels(t, f.Data(t))
				return
			}
			// TestMatrix of the command covers other levels.
			for i, p := range bridge.Pipelines() {
				for _, level := range []int{compress.MinLevel + 1 + i, compress.MaxLevel - 3 + i} {
					content := f.Data(t)
					if level > 7 {
						content = content[:min(len(content), bbtest.SlowContent(p.Name, level))]
					}
					checkWorkers(t, bbtest.WorkerCounts, fmt.Sprintf("%s, level %d", p.Name, level),
						content, bridge.Pipeline(p.Name), compress.WithLevel(level))
				}
			}
		})
	}
}

// TestBlockEdges writes content of about one default block, for each pipeline and level.
func TestBlockEdges(t *testing.T) {
	testenv.Slow(t)
	for i, p := range bridge.Pipelines() {
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			size := pipeline.ByName(p.Name).BlockSize(level)
			switch {
			case testenv.Matrix():
			case level%3 != 1, size > 1<<20 && (!testenv.All() || i != level%len(bridge.Pipelines())):
				continue // large blocks are slow
			}
			all := corpus.ByName("log").Make(size + 1)
			for _, n := range []int{0, 1, size - 1, size, size + 1} {
				checkWorkers(t, bbtest.WorkerCounts,
					fmt.Sprintf("%s, level %d, %d bytes", p.Name, level, n), all[:n],
					bridge.Pipeline(p.Name), compress.WithLevel(level))
			}
		}
	}
}

// TestLongStreams writes and reads long streams of zeros and of random data with each pipeline and
// level. With PZ_TEST=matrix a stream has 1 GiB; with PZ_TEST=all and PZ_CORPUS one level of each
// pipeline does.
func TestLongStreams(t *testing.T) {
	for i, p := range bridge.Pipelines() {
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			size, counts := int64(16<<20), []int{bbtest.WorkerCounts[(i+level)%len(bbtest.WorkerCounts)]}
			switch {
			case testenv.Matrix():
				size, counts = 1<<30, bbtest.WorkerCounts
			case testenv.Race || testing.Short():
				size = 1 << 20
			case !testenv.All():
				size = 4 << 20
			case testenv.Corpus(t) != "" && level == 1+2*i:
				size = 1 << 30
			}
			for _, workers := range counts {
				opts := []compress.WriterOption{bridge.Pipeline(p.Name), compress.WithLevel(level)}
				what := fmt.Sprintf("%s, level %d, %d workers", p.Name, level, workers)
				zero := func() io.Reader { return zeros{} }
				random := func() io.Reader { return rand.NewChaCha8([32]byte{}) }
				checkStream(t, "zeros, "+what, zero, size, workers, opts...)
				packed := checkStream(t, "random, "+what, random, size, workers, opts...)
				if packed > size+size/1000+100 {
					t.Errorf("random, %s: %d bytes grow to %d", what, size, packed)
				}
			}
		}
	}
}

// checkStream compresses the first size bytes of what open returns and decompresses them at the
// same time. It returns the size of the file.
func checkStream(
	t *testing.T, what string, open func() io.Reader, size int64, workers int,
	opts ...compress.WriterOption,
) (packed int64) {
	t.Helper()
	pr, pw := io.Pipe()
	concurrency := compress.WithConcurrency(workers)
	go func() {
		w := bbtest.NewWriter(t, pw, append(opts, concurrency)...)
		_, err := w.ReadFrom(io.LimitReader(open(), size))
		if err == nil {
			err = w.Close()
		}
		pw.CloseWithError(err)
	}()
	file := &bbtest.CountingReader{R: pr}
	check := contentChecker{want: open()}
	n, err := io.Copy(&check, bbtest.NewReader(t, file, concurrency))
	if n != size || err != nil || check.differs {
		t.Errorf("%s: %d bytes, want %d; content differs: %v; %v", what, n, size, check.differs,
			err)
	}
	pr.Close()
	return file.N
}

// checkAllLevels is checkWorkers with each pipeline and level.
func checkAllLevels(t *testing.T, content []byte, opts ...compress.WriterOption) {
	t.Helper()
	for _, p := range bridge.Pipelines() {
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			checkWorkers(t, bbtest.WorkerCounts, fmt.Sprintf("%s, level %d", p.Name, level), content,
				append(opts, bridge.Pipeline(p.Name), compress.WithLevel(level))...)
		}
	}
}

// checkWorkers writes content with each number of workers, each time with other calls, and reads it
// back. The files must be the same.
func checkWorkers(t *testing.T, counts []int, what string, content []byte, opts ...compress.WriterOption) {
	t.Helper()
	var file []byte
	for i, workers := range counts {
		opts := append(opts[:len(opts):len(opts)], compress.WithConcurrency(workers))
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, opts...)
		var err error
		if i == 0 {
			_, err = w.ReadFrom(bytes.NewReader(content))
		} else {
			for p, n := content, 0; len(p) > 0 && err == nil; p = p[n:] {
				n, err = w.Write(p[:min(len(p), i*70_001)])
			}
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatalf("%s, %d workers: %v", what, workers, err)
		}
		if file == nil {
			file = b.Bytes()
		} else if sha256.Sum256(file) != sha256.Sum256(b.Bytes()) {
			t.Fatalf("%s: the bytes with %d and with %d workers differ", what, workers, counts[0])
		}
		got, err := bbtest.Decode(file, compress.WithConcurrency(workers))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%s, %d workers: %d bytes, want %d; %v",
				what, workers, len(got), len(content), err)
		}
	}
}

// zeros is an endless reader of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// contentChecker compares the bytes written to it with those of want.
type contentChecker struct {
	want    io.Reader
	buf     []byte
	differs bool
}

func (c *contentChecker) Write(p []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(p))[:len(p)]
	_, err := io.ReadFull(c.want, c.buf)
	c.differs = c.differs || err != nil || !bytes.Equal(p, c.buf)
	return len(p), nil
}

// TestAppendDecodeInPlace checks that AppendDecode decodes into the caller's memory behind the
// bytes that are there, and writes nothing beyond the content.
func TestAppendDecodeInPlace(t *testing.T) {
	const front, guard = 100, 64
	var mixed []byte // coded blocks, a fill block, a stored one and a short one
	mixed = append(mixed, bbtest.TextBytes(3*bbtest.BlockSize, 1)...)
	mixed = append(mixed, make([]byte, bbtest.BlockSize)...)
	mixed = append(mixed, bbtest.RandomBytes(bbtest.BlockSize, 2)...)
	mixed = append(mixed, bbtest.TextBytes(bbtest.BlockSize/3, 3)...)
	for _, p := range []string{"lzseqr", "lzr"} {
		for _, workers := range bbtest.WorkerCounts {
			concurrency := compress.WithConcurrency(workers)
			file := bbtest.Encode(t, mixed, bridge.Pipeline(p), compress.WithBlockSize(bbtest.BlockSize),
				concurrency, compress.WithLevel(9))
			dst := bytes.Repeat([]byte{0x5a}, front+len(mixed)+guard)
			got, err := compress.AppendDecode(dst[:front:front+len(mixed)], file, concurrency)
			if err != nil || !bytes.Equal(got[front:], mixed) ||
				!bytes.Equal(got[:front], bytes.Repeat([]byte{0x5a}, front)) {
				t.Fatalf("%s, %d workers: %d bytes, %v", p, workers, len(got), err)
			}
			if unsafe.SliceData(got) != unsafe.SliceData(dst) {
				t.Errorf("%s, %d workers: the result is not in the caller's memory", p, workers)
			}
			if !bytes.Equal(dst[front+len(mixed):], bytes.Repeat([]byte{0x5a}, guard)) {
				t.Errorf("%s, %d workers: bytes behind the content have changed", p, workers)
			}
			// The header of the first stream gives the size; the second stream is appended.
			both, err := compress.AppendDecode(nil, slices.Concat(file, file), concurrency)
			if err != nil || !bytes.Equal(both, slices.Concat(mixed, mixed)) {
				t.Fatalf("%s, %d workers: two streams: %d bytes, %v", p, workers, len(both), err)
			}
			// AppendDecode returns the blocks in front of damage.
			bad := bytes.Clone(file)
			bad[len(bad)/3] ^= 1
			part, err := compress.AppendDecode(nil, bad, concurrency)
			if err == nil || len(part)%bbtest.BlockSize != 0 || !bytes.Equal(part, mixed[:len(part)]) {
				t.Errorf("%s, %d workers: %d bytes of a damaged file, %v", p, workers, len(part),
					err)
			}
		}
	}
}

// TestAllocationsPerBlock checks that a block allocates nothing in the steady state, which begins
// once as many blocks have passed as can be in flight.
func TestAllocationsPerBlock(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget, those of payloads too")
	}
	const blocks = 400
	content := bbtest.MixedBytes(blocks * bbtest.BlockSize)
	two := compress.WithConcurrency(2)
	opts := []compress.WriterOption{compress.WithBlockSize(bbtest.BlockSize), two}
	file := bbtest.Encode(t, content, opts...)
	// Goroutines, growing workspaces and the index allocate now and then, but not for each block.
	const most = blocks / 4

	w := bbtest.NewWriter(t, io.Discard, opts...)
	r := bbtest.NewReader(t, nil, two)
	src := bytes.NewReader(nil)
	for name, f := range map[string]func(){
		"Write": func() {
			w.Reset(io.Discard)
			w.Write(content)
			w.Close()
		},
		"ReadFrom": func() {
			w.Reset(io.Discard)
			src.Reset(content)
			w.ReadFrom(src)
			w.Close()
		},
		"WriteTo": func() {
			src.Reset(file)
			r.Reset(src)
			r.WriteTo(io.Discard)
		},
	} {
		for range 3 {
			f()
		}
		if n := bbtest.Allocations(f); n > most {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	ra := bbtest.OpenAt(t, file, two)
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := bbtest.Allocations(func() { ra.ReadAt(p, 0) }); n > most {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
	if n := bbtest.Allocations(func() {
		for i := range 1000 {
			ra.ReadAt(p[:100], int64(i%(len(p)-100)))
		}
	}); n > 10 {
		t.Errorf("ReadAt of cached blocks: %d allocations for 1000 calls", n)
	}
	ra = bbtest.OpenAt(t, file, two, compress.WithCache(compress.NewCache(10*bbtest.BlockSize)))
	ra.ReadAt(p, 0)
	if n := bbtest.Allocations(func() {
		ra.ReadAt(p,
			0)
	}); n > blocks+most { // one for what the cache knows of it
		t.Errorf("ReadAt with eviction: %d allocations for %d blocks", n, blocks)
	}
}

// Frames and pieces cost no allocations once it runs.
func TestStandardAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget, those of the decoders as well")
	}
	const blocks = 300
	content := bbtest.MixedBytes(blocks * bbtest.BlockSize)
	var members []byte
	for i := 0; i < len(content); i += bbtest.BlockSize {
		members = append(members, bbtest.GzipMember(t, content[i:i+bbtest.BlockSize])...)
	}
	src := bytes.NewReader(nil)
	for name, file := range map[string][]byte{
		"frames": bbtest.Encode(t, content, bridge.Pipeline("lzf"),
			compress.WithBlockSize(bbtest.BlockSize)),
		"members": members,
		"stream":  bbtest.ZstdStream(t, content, bbtest.BlockSize),
	} {
		r := bbtest.NewReader(t, nil, compress.WithConcurrency(2))
		run := func() {
			src.Reset(file)
			r.Reset(src)
			if n, err := r.WriteTo(io.Discard); n != int64(len(content)) || err != nil {
				t.Fatal(name, n, err)
			}
		}
		for range 3 {
			run()
		}
		runtime.GC() // empties the pools of the decoders
		run()
		if n := bbtest.Allocations(run); n > blocks/4 {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	file := bbtest.Encode(t, content, bridge.Pipeline("lzf"), compress.WithSeekable(bbtest.BlockSize))
	ra := bbtest.OpenAt(t, file, compress.WithConcurrency(2))
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := bbtest.Allocations(func() { ra.ReadAt(p, 0) }); n > blocks/4 {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
}
