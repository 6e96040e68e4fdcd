package compress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// flushBlock is the block size in bytes. Pieces of half a block are long for an optimal.Incremental.
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
					done += len(pieces[k])
					if k%8 == 0 {
						checkFlushed(t, what, p.Format, file[:size], content[:done])
					}
				}
			}
		}
	}
}

// TestFlushDevice flushes at random places with tuning, and with a device. Neither may change the content,
// and the device not the file.
func TestFlushDevice(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	content := corpus.ByName("log").Make(2*flushBlock + 100)
	pieces := piecesOf(content, r)
	for _, p := range Pipelines() {
		for _, tuning := range []Tuning{TuneFixed, TuneTrial, TuneLiterals} {
			what := fmt.Sprint(p.Name, ", ", tuning)
			opts := []Option{
				WithPipeline(p.Name), WithLevel(5), WithBlockSize(flushBlock), WithTuning(tuning),
			}
			file, _ := flushPieces(t, pieces, 5000, opts...)
			equal(t, decodeAll(t, file), content, what)
			s := deviceScheduler(t, 2, gpu.SoftConfig{Batch: 3})
			for _, b := range []Backend{BackendAuto, BackendGPU} {
				if b == BackendGPU && p.Format != PZ {
					continue // no device knows the entropy coding
				}
				got, _ := flushPieces(t, pieces, 5000, append(opts, WithScheduler(s), WithBackend(b, b))...)
				equal(t, got, file, what+" on a device")
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
		for _, checks := range []bool{true, false} {
			opts := []Option{WithFormat(f), WithBlockSize(flushBlock), WithChecksum(checks)}
			file, _ := flushPieces(t, pieces, len(content), opts...)
			ra := openAt(t, file)
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
}

// TestFlushEdges flushes where a block or frame is full, and where it is not, with an empty end.
func TestFlushEdges(t *testing.T) {
	const b = flushBlock
	for _, sizes := range [][]int{
		{b}, {b, 1}, {1, b - 1, 1}, {b - 1, 1, b}, {2 * b}, {b, b, b}, {3*b + 1, b - 1, 5},
		{b / 2, b, b / 2}, {1, 1, 1},
	} {
		var pieces [][]byte
		for i, n := range sizes {
			pieces = append(pieces, textBytes(n, uint64(i)), nil)
		}
		content := slices.Concat(pieces...)
		for _, p := range Pipelines() {
			what := fmt.Sprint(p.Name, sizes)
			opts := []Option{WithPipeline(p.Name), WithBlockSize(b)}
			file, _ := flushPieces(t, pieces, len(content), opts...)
			checkAllReaders(t, file, content)
			equal(t, decodeAll(t, file), content, what)

			// A Writer that has written another file before.
			var out bytes.Buffer
			w := newWriter(t, io.Discard, opts...)
			for i := range 3 {
				w.Write(textBytes(100+i, 9))
				w.Flush()
			}
			w.Reset(&out)
			for _, p := range pieces {
				w.Write(p)
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			w.Close()
			equal(t, out.Bytes(), file, what+" behind a Reset")
		}
	}
}

// logLines returns n lines of JSON, about 120 bytes each.
func logLines(n int) (lines [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	levels := []string{"info", "info", "info", "warn", "debug", "error"}
	paths := []string{
		"/api/v1/items", "/api/v1/users", "/api/v2/orders", "/health", "/login", "/static/app.js",
	}
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for range n {
		at = at.Add(time.Duration(r.IntN(50)) * time.Millisecond)
		status := 200
		if r.IntN(4) == 0 {
			status = 404
		}
		lines = append(lines, fmt.Appendf(nil,
			`{"ts":%q,"level":%q,"user":%d,"path":%q,"status":%d,"ms":%d,"msg":"done"}`+"\n",
			at.Format("2006-01-02T15:04:05.000Z"), levels[r.IntN(len(levels))], 1000+r.IntN(100),
			paths[r.IntN(len(paths))], status, r.IntN(40)))
	}
	return lines
}

// TestFlushSize compares the sizes of files with a flush behind each line with what they may be.
func TestFlushSize(t *testing.T) {
	lines := logLines(2000)
	var std bytes.Buffer
	z := gzip.NewWriter(&std)
	for _, line := range lines {
		z.Write(line)
		z.Flush()
	}
	z.Close()
	raw := len(slices.Concat(lines...))
	for _, c := range []struct {
		format Format
		most   int
	}{
		{PZ, raw + 12*len(lines) + 46}, // 46 is the size of an empty file
		{Gzip, std.Len() * 102 / 100},
		{Zstd, std.Len() * 112 / 100},
	} {
		file, _ := flushPieces(t, lines, raw, WithFormat(c.format))
		if len(file) > c.most {
			t.Errorf("%v: %d bytes become %d, want at most %d", c.format, raw, len(file), c.most)
		}
		t.Logf("%v: %d bytes of %d; gzip of the standard library: %d", c.format, len(file), raw, std.Len())
	}
}

// TestFlushOverhead bounds what a flush adds to content that cannot be compressed, and to other content.
func TestFlushOverhead(t *testing.T) {
	testenv.Slow(t)
	overhead := map[Format]int{PZ: 12, Gzip: 20, Zstd: 20}
	for _, name := range []string{"random", "text", "records"} {
		r := rand.New(rand.NewPCG(3, 4))
		content := corpus.ByName(name).Make(1 << 20)
		for _, most := range []int{2, 20, 3000, 200_000} {
			var pieces [][]byte
			rest := content[:min(len(content), 300*most)]
			size := len(rest)
			for len(rest) > 0 {
				n := min(len(rest), 1+r.IntN(most))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			for _, level := range []int{1, 6} {
				for f, each := range overhead {
					file, _ := flushPieces(t, pieces, size, WithFormat(f), WithLevel(level))
					if limit := size + each*len(pieces) + 64; len(file) > limit {
						t.Errorf("%v, level %d, %s: %d bytes and %d flushes become %d, want at most %d",
							f, level, name, size, len(pieces), len(file), limit)
					}
				}
			}
		}
	}
}

// BenchmarkFlush writes a line of a log and a flush.
func BenchmarkFlush(b *testing.B) {
	lines := logLines(2000)
	for _, f := range []Format{PZ, Gzip, Zstd} {
		b.Run(f.String(), func(b *testing.B) {
			w := newWriter(b, io.Discard, WithFormat(f))
			b.ReportAllocs()
			for i := range b.N {
				w.Write(lines[i%len(lines)])
				w.Flush()
			}
		})
	}
}

// TestFlushTools has gzip and zstd decode files with many flushes, and all that is written up to one.
func TestFlushTools(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	content := corpus.ByName("json").Make(3*flushBlock + 7)
	pieces := piecesOf(content, r)
	lines := logLines(1000)
	content, pieces = append(content, slices.Concat(lines...)...), append(pieces, lines...)
	for _, f := range []Format{Gzip, Zstd} {
		tool := testenv.Tool(t, map[Format]string{Gzip: "gzip", Zstd: "zstd"}[f])
		file, sizes := flushPieces(t, pieces, 1000, WithFormat(f), WithBlockSize(flushBlock))
		equal(t, runTool(t, file, tool, "-dc"), content, tool)
		done := 0
		for i, size := range sizes {
			done += len(pieces[i])
			if i%(len(sizes)/5) == 0 {
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
