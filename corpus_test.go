package compress

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestCorpus takes all test data through every pipeline and level at several numbers of workers: the bytes are the same for all of them and
// for every way of writing, and come back. With PZ_CORPUS set that is the real files too, those of more than 2 MiB at a fast and a dense level of
// each pipeline, or with PZ_MATRIX at all levels.
func TestCorpus(t *testing.T) {
	kinds := corpus.Kinds()
	if testenv.Race || testenv.Emulated() {
		kinds = []corpus.Kind{corpus.ByName("mixed")}
	}
	for _, k := range kinds {
		content := k.Make(100_000)
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			checkEverywhere(t, content, WithBlockSize(1<<15))
		})
	}
	for _, f := range corpus.Real(t) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if f.Size <= 2<<20 || corpus.Matrix() {
				checkEverywhere(t, f.Data(t))
				return
			}
			// TestMatrix of the command has other levels.
			for i, p := range Pipelines() {
				for _, level := range []int{MinLevel + 1 + i, MaxLevel - 3 + i} {
					content := f.Data(t)
					if level > 7 {
						content = content[:min(len(content), slowContent(p.Name, level))]
					}
					checkWorkers(t, fmt.Sprintf("%s, level %d", p.Name, level), content, WithPipeline(p.Name), WithLevel(level))
				}
			}
		})
	}
}

// slowContent is how much of a file the densest levels get where time is short: a block, and some of the next one.
func slowContent(name string, level int) int { return pipeline.ByName(name).BlockSize(level) + 1<<20 }

// TestBlockEdges: contents around the block size of each pipeline and level.
func TestBlockEdges(t *testing.T) {
	testenv.Slow(t)
	for i, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			size := pipeline.ByName(p.Name).BlockSize(level)
			switch {
			case corpus.Matrix():
			case level%3 != 1, size > 1<<20 && (!testenv.All() || i != level%len(Pipelines())):
				continue // blocks are all alike, and the large ones slow
			}
			all := corpus.ByName("log").Make(size + 1)
			for _, n := range []int{0, 1, size - 1, size, size + 1} {
				checkWorkers(t, fmt.Sprintf("%s, level %d, %d bytes", p.Name, level, n), all[:n], WithPipeline(p.Name), WithLevel(level))
			}
		}
	}
}

// TestLong takes long streams of zeros and of random data through every pipeline and level. With PZ_CORPUS set it is a GiB of each
// at one level of each pipeline, with PZ_MATRIX at all of them with 1, 2 and 8 workers.
func TestLong(t *testing.T) {
	for i, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			size, counts := int64(16<<20), []int{workerCounts[(i+level)%len(workerCounts)]}
			switch {
			case testenv.Race && !corpus.Matrix():
				size = 1 << 20
			case !testenv.All() && !corpus.Matrix():
				size = 4 << 20 // under an emulator all of this is slow
			case corpus.Matrix():
				size, counts = 1<<30, workerCounts
			case os.Getenv(corpus.Env) != "" && testenv.All() && level == 1+2*i:
				size = 1 << 30
			}
			for _, workers := range counts {
				opts := []Option{WithPipeline(p.Name), WithLevel(level), WithConcurrency(workers)}
				what := fmt.Sprintf("%s, level %d, %d workers", p.Name, level, workers)
				checkStream(t, "zeros, "+what, func() io.Reader { return zeros{} }, size, opts...)
				packed := checkStream(t, "random, "+what, func() io.Reader { return rand.NewChaCha8([32]byte{}) }, size, opts...)
				if packed > size+size/1000+100 {
					t.Errorf("random, %s: %d bytes became %d", what, size, packed)
				}
			}
		}
	}
}

// checkStream writes what open gives and reads it back at the same time. It returns the size of the file.
func checkStream(t *testing.T, what string, open func() io.Reader, size int64, opts ...Option) (packed int64) {
	t.Helper()
	pr, pw := io.Pipe()
	go func() {
		w := newWriter(t, pw, opts...)
		_, err := w.ReadFrom(io.LimitReader(open(), size))
		if err == nil {
			err = w.Close()
		}
		pw.CloseWithError(err)
	}()
	file := &countingReader{r: pr}
	check := contentChecker{want: open()}
	n, err := io.Copy(&check, newReader(t, file, opts...))
	if n != size || err != nil || check.other {
		t.Errorf("%s: %d bytes, other bytes %v, %v", what, n, check.other, err)
	}
	pr.Close()
	return file.n
}

func checkEverywhere(t *testing.T, content []byte, opts ...Option) {
	for _, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			if !testenv.All() && level%3 != 0 {
				continue
			}
			checkWorkers(t, fmt.Sprintf("%s, level %d", p.Name, level), content, append(opts, WithPipeline(p.Name), WithLevel(level))...)
		}
	}
}

// checkWorkers writes content with 1, 2 and 8 workers, each time in another way, and reads it back. It returns the file.
func checkWorkers(t *testing.T, what string, content []byte, opts ...Option) (file []byte) {
	t.Helper()
	for i, workers := range workerCounts {
		with := append(opts[:len(opts):len(opts)], WithConcurrency(workers))
		var b bytes.Buffer
		w := newWriter(t, &b, with...)
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
			t.Fatalf("%s: %d workers give other bytes than one", what, workers)
		}
		got, err := decode(file, with...)
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%s, %d workers: wrong content, %v", what, workers, err)
		}
	}
	return file
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// contentChecker compares what is written to it with what it should be.
type contentChecker struct {
	want  io.Reader
	buf   []byte
	other bool
}

func (c *contentChecker) Write(p []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(p))[:len(p)]
	_, err := io.ReadFull(c.want, c.buf)
	c.other = c.other || err != nil || !bytes.Equal(p, c.buf)
	return len(p), nil
}
