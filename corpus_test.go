package compress

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

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
				checkAllLevels(t, content, WithBlockSize(1<<15))
				return
			}
			for j, p := range Pipelines() {
				turn := i + j
				for _, level := range []int{1 + turn%4, 5 + turn%2, 7 + turn%3} {
					content := content
					if level >= 7 {
						content = content[:40_000] // two blocks
					}
					counts := []int{1, workerCounts[1+turn%3]}
					checkWorkers(t, counts, fmt.Sprintf("%s, level %d", p.Name, level), content,
						WithBlockSize(1<<15), WithPipeline(p.Name), WithLevel(level))
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
			for i, p := range Pipelines() {
				for _, level := range []int{MinLevel + 1 + i, MaxLevel - 3 + i} {
					content := f.Data(t)
					if level > 7 {
						content = content[:min(len(content), slowContent(p.Name, level))]
					}
					checkWorkers(t, workerCounts, fmt.Sprintf("%s, level %d", p.Name, level),
						content, WithPipeline(p.Name), WithLevel(level))
				}
			}
		})
	}
}

// slowContent returns how many bytes of a file the slowest levels compress where time is short: a
// block, and a part of the next one.
func slowContent(name string, level int) int {
	return pipeline.ByName(name).BlockSize(level) + 1<<20
}

// TestBlockEdges writes content of about one default block, for each pipeline and level.
func TestBlockEdges(t *testing.T) {
	testenv.Slow(t)
	for i, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			size := pipeline.ByName(p.Name).BlockSize(level)
			switch {
			case testenv.Matrix():
			case level%3 != 1, size > 1<<20 && (!testenv.All() || i != level%len(Pipelines())):
				continue // large blocks are slow
			}
			all := corpus.ByName("log").Make(size + 1)
			for _, n := range []int{0, 1, size - 1, size, size + 1} {
				checkWorkers(t, workerCounts,
					fmt.Sprintf("%s, level %d, %d bytes", p.Name, level, n), all[:n],
					WithPipeline(p.Name), WithLevel(level))
			}
		}
	}
}

// TestLongStreams writes and reads long streams of zeros and of random data with each pipeline and
// level. With PZ_TEST=matrix a stream has 1 GiB; with PZ_TEST=all and PZ_CORPUS one level of each
// pipeline does.
func TestLongStreams(t *testing.T) {
	for i, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			size, counts := int64(16<<20), []int{workerCounts[(i+level)%len(workerCounts)]}
			switch {
			case testenv.Matrix():
				size, counts = 1<<30, workerCounts
			case testenv.Race || testing.Short():
				size = 1 << 20
			case !testenv.All():
				size = 4 << 20
			case testenv.Corpus(t) != "" && level == 1+2*i:
				size = 1 << 30
			}
			for _, workers := range counts {
				opts := []Option{WithPipeline(p.Name), WithLevel(level), WithConcurrency(workers)}
				what := fmt.Sprintf("%s, level %d, %d workers", p.Name, level, workers)
				zero := func() io.Reader { return zeros{} }
				random := func() io.Reader { return rand.NewChaCha8([32]byte{}) }
				checkStream(t, "zeros, "+what, zero, size, opts...)
				packed := checkStream(t, "random, "+what, random, size, opts...)
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
	t *testing.T, what string, open func() io.Reader, size int64, opts ...Option,
) (packed int64) {
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
	if n != size || err != nil || check.differs {
		t.Errorf("%s: %d bytes, want %d; content differs: %v; %v", what, n, size, check.differs,
			err)
	}
	pr.Close()
	return file.n
}

// checkAllLevels is checkWorkers with each pipeline and level.
func checkAllLevels(t *testing.T, content []byte, opts ...Option) {
	t.Helper()
	for _, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			checkWorkers(t, workerCounts, fmt.Sprintf("%s, level %d", p.Name, level), content,
				append(opts, WithPipeline(p.Name), WithLevel(level))...)
		}
	}
}

// checkWorkers writes content with each number of workers, each time with other calls, and reads it
// back. The files must be the same.
func checkWorkers(t *testing.T, counts []int, what string, content []byte, opts ...Option) {
	t.Helper()
	var file []byte
	for i, workers := range counts {
		opts := append(opts[:len(opts):len(opts)], WithConcurrency(workers))
		var b bytes.Buffer
		w := newWriter(t, &b, opts...)
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
		got, err := decode(file, opts...)
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
