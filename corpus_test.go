package compress

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/pipeline"
)

// TestCorpus takes all test data through every pipeline and level at several numbers of workers: the bytes are the same for all of them and
// for every way of writing, and come back. With PZ_CORPUS set that is the real files too, and takes minutes.
func TestCorpus(t *testing.T) {
	for _, k := range corpus.Kinds() {
		content := k.Make(100_000)
		t.Run(k.Name, func(t *testing.T) { checkEverywhere(t, content, WithBlockSize(1<<15)) })
	}
	for _, f := range corpus.Real(t) {
		t.Run(f.Name, func(t *testing.T) { checkEverywhere(t, f.Data(t)) })
	}
}

// TestBlockEdges: contents around the block size of each level.
func TestBlockEdges(t *testing.T) {
	for level := MinLevel; level <= MaxLevel; level++ {
		size := pipeline.ByName(DefaultPipeline).BlockSize(level)
		if level%3 != 1 && os.Getenv(corpus.Env) == "" || size > 1<<20 && testing.Short() {
			continue // blocks are all alike, and the large ones slow
		}
		all := corpus.ByName("log").Make(size + 1)
		for _, n := range []int{0, 1, size - 1, size, size + 1} {
			for _, p := range Pipelines() {
				checkWorkers(t, fmt.Sprintf("%s, level %d, %d bytes", p.Name, level, n), all[:n], WithPipeline(p.Name), WithLevel(level))
			}
		}
	}
}

// TestLong takes a GiB of zeros, and random data, through every pipeline and level.
func TestLong(t *testing.T) {
	size := int64(1 << 30)
	if os.Getenv(corpus.Env) == "" {
		size = 16 << 20
	}
	random := make([]byte, min(size/16, 40<<20))
	rand.Read(random)
	for _, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			opts := []Option{WithPipeline(p.Name), WithLevel(level)}
			what := fmt.Sprintf("%s, level %d", p.Name, level)
			pr, pw := io.Pipe()
			go func() {
				w := newWriter(t, pw, opts...)
				_, err := w.ReadFrom(io.LimitReader(zeros{}, size))
				if err == nil {
					err = w.Close()
				}
				pw.CloseWithError(err)
			}()
			r := newReader(t, pr)
			var check zeroChecker
			n, err := io.Copy(&check, r)
			if n != size || err != nil || check.other {
				t.Errorf("zeros, %s: %d bytes, other bytes %v, %v", what, n, check.other, err)
			}
			if file := checkWorkers(t, "random, "+what, random, opts...); len(file) > len(random)+len(random)/1000+100 {
				t.Errorf("random, %s: %d bytes became %d", what, len(random), len(file))
			}
		}
	}
}

func checkEverywhere(t *testing.T, content []byte, opts ...Option) {
	for _, p := range Pipelines() {
		for level := MinLevel; level <= MaxLevel; level++ {
			if testing.Short() && level%3 != 0 {
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

type zeroChecker struct{ other bool }

func (z *zeroChecker) Write(p []byte) (int, error) {
	z.other = z.other || len(p) > 0 && (p[0] != 0 || !bytes.Equal(p[1:], p[:len(p)-1]))
	return len(p), nil
}
