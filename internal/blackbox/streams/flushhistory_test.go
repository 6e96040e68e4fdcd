package streams

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

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestFlushRandom flushes at random places. The file must not depend on the number of workers and
// the size of writes. What is written up to a flush must decode to all content in front of it.
func TestFlushRandom(t *testing.T) {
	inputs := []string{"json", "text", "random"}
	levels := []int{1, 4}
	if testenv.All() {
		levels = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, p := range bridge.Pipelines() {
		for _, level := range levels {
			for i, name := range inputs {
				r := rand.New(rand.NewPCG(uint64(level), uint64(i)))
				content := corpus.ByName(name).Make(6*bbtest.FlushBlock + r.IntN(1000))
				pieces := bbtest.SplitAtRandom(content, r)
				what := fmt.Sprintf("%s, level %d, %s", p.Name, level, name)
				opts := []compress.WriterOption{
					bridge.Pipeline(p.Name), compress.WithLevel(level),
					compress.WithBlockSize(bbtest.FlushBlock),
				}
				file, sizes := bbtest.FlushPieces(t, pieces, len(content), opts...)
				bbtest.Equal(t, bbtest.DecodeAll(t, file), content, what)
				for k, workers := range []int{1, 2, 8} {
					chunk := []int{1000, 17, bbtest.FlushBlock + 1}[k]
					opts := append(opts, compress.WithConcurrency(workers))
					again, _ := bbtest.FlushPieces(t, pieces, chunk, opts...)
					bbtest.Equal(t, again, file, fmt.Sprint(what, ", workers ", workers))
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

// TestFlushDevice flushes at random places with tuning, and with a device. Neither may change the
// content, and the device not the file.
func TestFlushDevice(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	content := corpus.ByName("log").Make(2*bbtest.FlushBlock + 100)
	pieces := bbtest.SplitAtRandom(content, r)
	for _, p := range bridge.Pipelines() {
		for name, tuning := range map[string]compress.WriterOption{
			"fixed": nil, "trial": compress.WithTuning(compress.TuneTrial), "literals": bridge.Literals(),
		} {
			what := fmt.Sprint(p.Name, ", ", name)
			opts := []compress.WriterOption{
				bridge.Pipeline(p.Name), compress.WithLevel(5),
				compress.WithBlockSize(bbtest.FlushBlock), tuning,
			}
			file, _ := bbtest.FlushPieces(t, pieces, 5000, opts...)
			bbtest.Equal(t, bbtest.DecodeAll(t, file), content, what)
			s, d := bbtest.DeviceScheduler(t, 2, gpu.SoftConfig{Batch: 3})
			for _, b := range []gpu.Backend{gpu.BackendAuto, gpu.BackendGPU} {
				if b == gpu.BackendGPU && p.Format != compress.PZ {
					continue // no device knows the entropy coding
				}
				got, _ := bbtest.FlushPieces(t, pieces, 5000,
					append(opts, compress.WithScheduler(s), compress.WithDevice(d, b, b))...)
				bbtest.Equal(t, got, file, what+" on a device")
			}
		}
	}
}

// checkFlushed reads what was written up to a flush, with this package and, for .gz, with the
// standard library.
func checkFlushed(t *testing.T, what string, f compress.Format, file, want []byte) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(file)))
	if !errors.Is(err, compress.ErrTruncated) && f != compress.Zstd || !bytes.Equal(got, want) {
		t.Fatalf("%s: %d of %d bytes, %v", what, len(got), len(want), err)
	}
	if f == compress.Gzip {
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
	content := corpus.ByName("json").Make(4*bbtest.FlushBlock + 77)
	pieces := bbtest.SplitAtRandom(content, r)
	for _, f := range []compress.Format{compress.PZ, compress.Zstd} {
		for _, checks := range []bool{true, false} {
			opts := []compress.WriterOption{
				compress.WithFormat(f), compress.WithBlockSize(bbtest.FlushBlock),
				compress.WithChecksum(checks), bridge.Frames(),
			}
			file, _ := bbtest.FlushPieces(t, pieces, len(content), opts...)
			ra := bbtest.OpenAt(t, file)
			for range 200 {
				at := r.IntN(len(content))
				p := make([]byte, min(r.IntN(2*bbtest.FlushBlock), len(content)-at))
				if _, err := ra.ReadAt(p, int64(at)); err != nil {
					t.Fatal(err)
				}
				bbtest.Equal(t, p, content[at:at+len(p)], fmt.Sprint(f, " at ", at))
			}
			ra.Close()
		}
	}
}

// TestFlushEdges flushes where a block or frame is full, and where it is not, with an empty end.
func TestFlushEdges(t *testing.T) {
	const b = bbtest.FlushBlock
	for _, sizes := range [][]int{
		{b}, {b, 1}, {1, b - 1, 1}, {b - 1, 1, b}, {2 * b}, {b, b, b}, {3*b + 1, b - 1, 5},
		{b / 2, b, b / 2}, {1, 1, 1},
	} {
		var pieces [][]byte
		for i, n := range sizes {
			pieces = append(pieces, bbtest.TextBytes(n, uint64(i)), nil)
		}
		content := slices.Concat(pieces...)
		for _, p := range bridge.Pipelines() {
			what := fmt.Sprint(p.Name, sizes)
			opts := []compress.WriterOption{bridge.Pipeline(p.Name), compress.WithBlockSize(b)}
			file, _ := bbtest.FlushPieces(t, pieces, len(content), append(opts, bridge.Frames())...)
			bbtest.CheckAllReaders(t, file, content)
			file, _ = bbtest.FlushPieces(t, pieces, len(content), opts...)
			bbtest.Equal(t, bbtest.DecodeAll(t, file), content, what)

			// A Writer that has written another file before.
			var out bytes.Buffer
			w := bbtest.NewWriter(t, io.Discard, opts...)
			for i := range 3 {
				w.Write(bbtest.TextBytes(100+i, 9))
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
			bbtest.Equal(t, out.Bytes(), file, what+" behind a Reset")
		}
	}
}

// TestFlushSize compares the sizes of files with a flush behind each line with what they may be.
func TestFlushSize(t *testing.T) {
	lines := bbtest.LogLines(2000)
	var std bytes.Buffer
	z := gzip.NewWriter(&std)
	for _, line := range lines {
		z.Write(line)
		z.Flush()
	}
	z.Close()
	raw := len(slices.Concat(lines...))
	for _, c := range []struct {
		format compress.Format
		most   int
	}{
		{compress.PZ, raw + 12*len(lines) + 46}, // 46 is the size of an empty file
		{compress.Gzip, std.Len() * 102 / 100},
		{compress.Zstd, std.Len() * 112 / 100},
	} {
		file, _ := bbtest.FlushPieces(t, lines, raw, compress.WithFormat(c.format))
		if len(file) > c.most {
			t.Errorf("%v: %d bytes become %d, want at most %d", c.format, raw, len(file), c.most)
		}
		t.Logf("%v: %d bytes of %d; gzip of the standard library: %d", c.format, len(file), raw, std.Len())
	}
}

// TestFlushOverhead bounds what a flush adds to content that cannot be compressed, and to other
// content.
func TestFlushOverhead(t *testing.T) {
	testenv.Slow(t)
	overhead := map[compress.Format]int{compress.PZ: 12, compress.Gzip: 20, compress.Zstd: 20}
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
					file, _ := bbtest.FlushPieces(t, pieces, size, compress.WithFormat(f),
						compress.WithLevel(level))
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
	lines := bbtest.LogLines(2000)
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		b.Run(f.String(), func(b *testing.B) {
			w := bbtest.NewWriter(b, io.Discard, compress.WithFormat(f))
			b.ReportAllocs()
			for i := range b.N {
				w.Write(lines[i%len(lines)])
				w.Flush()
			}
		})
	}
}

// TestFlushTools has gzip and zstd decode files with many flushes, and all that is written up to
// one.
func TestFlushTools(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	content := corpus.ByName("json").Make(3*bbtest.FlushBlock + 7)
	pieces := bbtest.SplitAtRandom(content, r)
	lines := bbtest.LogLines(1000)
	content, pieces = append(content, slices.Concat(lines...)...), append(pieces, lines...)
	for _, f := range []compress.Format{compress.Gzip, compress.Zstd} {
		tool := testenv.Tool(t, map[compress.Format]string{compress.Gzip: "gzip", compress.Zstd: "zstd"}[f])
		file, sizes := bbtest.FlushPieces(t, pieces, 1000, compress.WithFormat(f),
			compress.WithBlockSize(bbtest.FlushBlock))
		bbtest.Equal(t, bbtest.RunTool(t, file, tool, "-dc"), content, tool)
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
