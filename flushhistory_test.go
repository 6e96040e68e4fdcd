package compress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// flushBlock is the block size in bytes. Pieces of half a block are long for an lz77.Incremental.
const flushBlock = 32 << 10

// piecesOf cuts content at random places: mostly short pieces, some longer than a block.
func piecesOf(content []byte, r *rand.Rand) (pieces [][]byte) {
	for len(content) > 0 {
		n := r.IntN(300)
		switch r.IntN(20) {
		case 0:
			n = r.IntN(20_000)
		case 1:
			n = r.IntN(3 * flushBlock)
		case 2:
			n = flushBlock
		case 3:
			n = 1
		}
		n = min(n, len(content))
		pieces, content = append(pieces, content[:n]), content[n:]
	}
	return pieces
}

// flushPieces writes pieces with a Flush after each, in writes of at most chunk bytes. It returns the
// file and its size after each Flush.
func flushPieces(t testing.TB, pieces [][]byte, chunk int, opts ...Option) (file []byte, sizes []int) {
	t.Helper()
	var b bytes.Buffer
	w := newWriter(t, &b, opts...)
	for _, p := range pieces {
		for len(p) > 0 {
			n := min(chunk, len(p))
			if _, err := w.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, b.Len())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sizes
}

// TestFlushRandom flushes at random places. The file must not depend on the number of workers and the
// size of writes. What is written up to a flush must decode to all content in front of it.
func TestFlushRandom(t *testing.T) {
	inputs := []string{"json", "text", "random"}
	levels := []int{1, 4}
	if testenv.All() {
		levels = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, p := range Pipelines() {
		for _, level := range levels {
			for i, name := range inputs {
				r := rand.New(rand.NewPCG(uint64(level), uint64(i)))
				content := corpus.ByName(name).Make(6*flushBlock + r.IntN(1000))
				pieces := piecesOf(content, r)
				what := fmt.Sprintf("%s, level %d, %s", p.Name, level, name)
				opts := []Option{WithPipeline(p.Name), WithLevel(level), WithBlockSize(flushBlock)}
				file, sizes := flushPieces(t, pieces, len(content), opts...)
				equal(t, decodeAll(t, file), content, what)
				for k, workers := range []int{1, 2, 8} {
					chunk := []int{1000, 17, flushBlock + 1}[k]
					opts := append(opts, WithConcurrency(workers))
					again, _ := flushPieces(t, pieces, chunk, opts...)
					equal(t, again, file, fmt.Sprint(what, ", workers ", workers))
				}
				done := 0
				for k, size := range sizes {
					if done += len(pieces[k]); k%8 == 0 {
						checkFlushed(t, what, p.Format, file[:size], content[:done])
					}
				}
			}
		}
	}
}

func decodeAll(t testing.TB, file []byte) []byte {
	t.Helper()
	got, err := io.ReadAll(newReader(t, bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// checkFlushed reads what was written up to a flush, with this package and, for .gz, with the standard
// library.
func checkFlushed(t *testing.T, what string, f Format, file, want []byte) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	got, err := io.ReadAll(newReader(t, bytes.NewReader(file)))
	if !errors.Is(err, ErrTruncated) && f != Zstd || !bytes.Equal(got, want) {
		t.Fatalf("%s: %d of %d bytes, %v", what, len(got), len(want), err)
	}
	if f == Gzip {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != io.ErrUnexpectedEOF || !bytes.Equal(got, want) {
			t.Fatalf("%s: gzip returns %d of %d bytes, %v", what, len(got), len(want), err)
		}
	}
}

// TestFlushSeek reads a file with many flushes at random places.
func TestFlushSeek(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	content := corpus.ByName("json").Make(4*flushBlock + 77)
	pieces := piecesOf(content, r)
	for _, f := range []Format{PZ, Zstd} {
		file, _ := flushPieces(t, pieces, len(content), WithFormat(f), WithBlockSize(flushBlock))
		ra, err := NewReaderAt(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			at := r.IntN(len(content))
			p := make([]byte, min(r.IntN(2*flushBlock), len(content)-at))
			if _, err := ra.ReadAt(p, int64(at)); err != nil {
				t.Fatal(err)
			}
			equal(t, p, content[at:at+len(p)], fmt.Sprint(f, " at ", at))
		}
		ra.Close()
	}
}

// TestFlushTools has gzip and zstd decode files with many flushes, and all that is written up to one.
func TestFlushTools(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	content := corpus.ByName("json").Make(3*flushBlock + 7)
	pieces := piecesOf(content, r)
	for _, f := range []Format{Gzip, Zstd} {
		tool := testenv.Tool(t, map[Format]string{Gzip: "gzip", Zstd: "zstd"}[f])
		file, sizes := flushPieces(t, pieces, 1000, WithFormat(f), WithBlockSize(flushBlock))
		equal(t, runTool(t, file, tool, "-dc"), content, tool)
		done := 0
		for i, size := range sizes {
			if done += len(pieces[i]); i%(len(sizes)/5) == 0 {
				cmd := exec.Command(tool, "-dc")
				cmd.Stdin = bytes.NewReader(file[:size])
				got, err := cmd.Output() // an error, since the file is cut short
				if err == nil || !bytes.Equal(got, content[:done]) {
					t.Errorf("%s: %d of %d bytes, %v", tool, len(got), done, err)
				}
			}
		}
	}
}
