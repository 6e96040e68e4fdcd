package compress

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"
	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// pipe gives in to a program and returns what it writes.
func pipe(t testing.TB, in []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// python is a program that turns its standard input into its standard output.
func python(program string) []string {
	return []string{"python3", "-c", "import sys, gzip, zlib, io\np = sys.stdin.buffer.read()\nw = sys.stdout.buffer.write\n" + program}
}

// writers make files of the standard formats; %d is a level.
var writers = []struct {
	args     []string
	from, to int // levels
}{
	{[]string{"gzip", "-%d", "-c"}, 1, 9},
	{[]string{"pigz", "-%d", "-c"}, 0, 9},
	{[]string{"pigz", "-%d", "-i", "-b", "128", "-p", "4", "-c"}, 6, 6},
	{[]string{"pigz", "-%d", "-c"}, 11, 11},
	{[]string{"libdeflate-gzip", "-%d", "-c"}, 1, 12},
	{python("w(gzip.compress(p, %d))"), 0, 9},
	{python("c = zlib.compressobj(%d, 8, 31, 9, 2)\nw(c.compress(p)); w(c.flush())"), 1, 9}, // Huffman codes only
	{python("c = zlib.compressobj(%d, 8, 31, 9, 4)\nw(c.compress(p)); w(c.flush())"), 6, 6}, // fixed codes
	{[]string{"zstd", "-%d", "-c"}, 1, 19},
	{[]string{"zstd", "--ultra", "-%d", "-c"}, 20, 22},
	{[]string{"zstd", "--fast=%d", "-c"}, 1, 5},
	{[]string{"zstd", "-%d", "--long", "-c"}, 1, 9},
	{[]string{"zstd", "-%d", "-T0", "-c"}, 3, 5},
	{[]string{"zstd", "-%d", "--no-check", "-c"}, 3, 3},
	{[]string{"zstd", "-%d", "--no-content-size", "-c"}, 3, 3},
}

// We read what others write, at all their levels.
func TestReadTools(t *testing.T) {
	testenv.Slow(t)
	var contents [][]byte
	kinds := []string{"text", "mixed", "random", "zeros"}
	if !testenv.All() {
		kinds = kinds[1:2]
	}
	for _, kind := range kinds {
		contents = append(contents, corpus.ByName(kind).Make(200_000))
	}
	contents = append(contents, nil, []byte("x"), corpus.ByName("log").Make(2<<20))
	for _, f := range corpus.Real(t) {
		contents = append(contents, f.Data(t))
	}
	for _, w := range writers {
		name := strings.Join(w.args, " ")
		if w.args[0] == "python3" {
			name = "python3 " + w.args[2][strings.LastIndex(w.args[2], "w(")-30:]
		}
		t.Run(strings.ReplaceAll(name, "\n", " "), func(t *testing.T) {
			t.Parallel() // other programs have one thread each
			testenv.Tool(t, w.args[0])
			var all, want []byte
			for level := w.from; level <= w.to; level++ {
				if level != w.from && level != w.to && (!testenv.All() || w.args[0] == "python3" && level%3 != 0 && !corpus.Matrix()) {
					continue // Python takes its time to start, and its levels are those of gzip
				}
				args := make([]string, len(w.args))
				for i, a := range w.args {
					args[i] = strings.ReplaceAll(a, "%d", fmt.Sprint(level))
				}
				for _, content := range contents {
					switch {
					case corpus.Matrix():
					case len(content) > 4<<20 && level > 9, len(content) > 1<<20 && level%9 != 1:
						continue // other programs take minutes for that
					}
					file := pipe(t, content, args...)
					readAll(t, file, content, fmt.Sprint("level ", level))
					if len(content) < 1<<20 {
						all, want = append(all, file...), append(want, content...)
					}
				}
			}
			readAll(t, all, want, "one after the other")
			if args := w.args; args[0] != "zstd" {
				all = append(all, make([]byte, 70_000)...)
				readAll(t, all, want, "with zeros at the end")
			}
		})
	}
	t.Run("zstd --stream-size", func(t *testing.T) {
		testenv.Tool(t, "zstd")
		content := contents[len(contents)-1]
		for _, extra := range []string{"--no-check", "--check"} {
			readAll(t, pipe(t, content, "zstd", "-c", extra, fmt.Sprint("--stream-size=", len(content))), content, extra)
		}
	})
	t.Run("zstd -o", func(t *testing.T) {
		t.Parallel()
		// With a file zstd knows how long the content is.
		testenv.Tool(t, "zstd")
		dir := t.TempDir()
		in, other, out := filepath.Join(dir, "in"), filepath.Join(dir, "other"), filepath.Join(dir, "out")
		for _, content := range contents {
			for name, p := range map[string][]byte{in: content, other: append([]byte("more "), content...)} {
				if err := os.WriteFile(name, p, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{{"-3"}, {"-19"}, {"-1", "-T2", "-B100KB"}, {"-3", "--patch-from", other}} {
				if len(content) > 4<<20 && args[0] == "-19" || len(content) < 100 && args[len(args)-1] == other {
					continue
				}
				pipe(t, nil, append(append([]string{"zstd", "-q", "-f", in, "-o", out}, args...), "--no-progress")...)
				file, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if args[len(args)-1] == other {
					// Such a file cannot be read without the other one. It does not say so.
					if got, err := AppendDecode(nil, file); err == nil && len(content) > 0 {
						t.Errorf("--patch-from: %d bytes and no error", len(got))
					}
					continue
				}
				readAll(t, file, content, fmt.Sprint(args))
			}
		}
	})
}

// readAll reads a file of a standard format with several numbers of workers.
func readAll(t *testing.T, file, content []byte, what string) {
	t.Helper()
	for _, workers := range workerCounts {
		got, err := decode(file, WithConcurrency(workers))
		if err != nil {
			t.Fatalf("%s, %d workers: after %d bytes: %v", what, workers, len(got), err)
		}
		equal(t, got, content, what)
	}
	got, err := AppendDecode(nil, file)
	if err != nil {
		t.Fatalf("%s: AppendDecode: %v", what, err)
	}
	equal(t, got, content, what)
	info, err := ReadInfo(bytes.NewReader(file), int64(len(file)))
	if err != nil || info.Content != int64(len(content)) {
		t.Fatalf("%s: %+v, %v", what, info, err)
	}
}

// readers say what is in a file on their standard input, or that it is in order.
var readers = map[string][][]string{
	"deflate": {
		{"gzip", "-dc"}, {"gzip", "-t"}, {"pigz", "-dc"}, {"pigz", "-t"}, {"libdeflate-gunzip", "-c"},
		python("w(gzip.decompress(p))"),
		python("while p:\n d = zlib.decompressobj(31)\n w(d.decompress(p))\n assert d.eof\n p = d.unused_data"),
	},
	"lzf": {{"zstd", "-dc", "-M8MB"}, {"zstd", "-t"}},
}

// checkOthers has a file of ours read by everybody else there is.
func checkOthers(t *testing.T, pipeline string, file, content []byte, what string) {
	t.Helper()
	for _, args := range readers[pipeline] {
		if _, err := exec.LookPath(args[0]); err != nil {
			continue // TestWriteTools sees to it that this is not in CI
		}
		got := pipe(t, file, args...)
		if args[1] != "-t" {
			equal(t, got, content, what+", "+args[0])
		}
	}
	equal(t, decodeOther(t, pipeline, file), content, what+", Go")
}

// Others read what we write.
func TestWriteTools(t *testing.T) {
	testenv.Slow(t)
	for _, pipeline := range standard {
		for _, args := range readers[pipeline] {
			t.Run(pipeline+"/"+args[0], func(t *testing.T) { testenv.Tool(t, args[0]) })
		}
		t.Run(pipeline, func(t *testing.T) {
			t.Parallel()
			for level := MinLevel; level <= MaxLevel; level++ {
				if !testenv.All() && level%4 != 1 {
					continue
				}
				opts := []Option{WithPipeline(pipeline), WithLevel(level)}
				var all, want []byte
				for _, kind := range corpus.Kinds() {
					content := kind.Make(100_000)
					if level > 7 {
						content = content[:40_000] // slow, and still two blocks
					}
					all = append(all, encode(t, content, append(opts, WithBlockSize(1<<15))...)...)
					want = append(want, content...)
				}
				for _, n := range []int{0, 1, testBlock - 1, testBlock, testBlock + 1} {
					content := textBytes(n, 1)
					file := encode(t, content, append(opts, WithBlockSize(testBlock))...)
					if n <= 1 {
						checkOthers(t, pipeline, file, content, fmt.Sprint("level ", level, ", ", n, " bytes"))
					}
					all, want = append(all, file...), append(want, content...)
				}
				checkOthers(t, pipeline, all, want, fmt.Sprint("level ", level))
				for i, f := range corpus.Real(t) {
					if (i+level)%4 != 0 && !corpus.Matrix() {
						continue
					}
					content := f.Data(t)
					if level > 7 && !corpus.Matrix() {
						content = content[:min(len(content), slowContent(pipeline, level))]
					}
					file := encode(t, content, opts...)
					for _, workers := range workerCounts[1:] {
						equal(t, encode(t, content, append(opts, WithConcurrency(workers))...), file, f.Name)
					}
					checkOthers(t, pipeline, file, content, fmt.Sprint(f.Name, ", level ", level))
					readAll(t, file, content, f.Name)
				}
			}
		})
	}
}

// zstd -l shows frames, sizes and check.
func TestZstdList(t *testing.T) {
	testenv.Tool(t, "zstd")
	content := textBytes(10*testBlock+5, 1)
	path := filepath.Join(t.TempDir(), "a.zst")
	for _, checks := range []bool{true, false} {
		if err := os.WriteFile(path, encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock), WithChecksum(checks)), 0o666); err != nil {
			t.Fatal(err)
		}
		list := string(pipe(t, nil, "zstd", "-lv", path))
		check := "Check: None"
		if checks {
			check = "Check: XXH64"
		}
		for _, want := range []string{"# Zstandard Frames: 11\n", "# Skippable Frames: 1\n", fmt.Sprintf("(%d B)", len(content)), check} {
			if !strings.Contains(list, want) {
				t.Errorf("%q is missing in:\n%s", want, list)
			}
		}
	}
}

// We read what the encoders of Go write.
func TestReadGo(t *testing.T) {
	testenv.Slow(t)
	content := corpus.ByName("mixed").Make(1 << 20)
	for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
		var a, b bytes.Buffer
		w, err := gzip.NewWriterLevel(&a, level)
		if err != nil {
			t.Fatal(err)
		}
		w.Name, w.Comment, w.Extra = "name", "comment", []byte("XX\x01\x00y")
		k, err := kgzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []io.WriteCloser{w, k} {
			w.Write(content)
			w.Close()
		}
		readAll(t, a.Bytes(), content, fmt.Sprint("compress/gzip ", level))
		readAll(t, b.Bytes(), content, fmt.Sprint("klauspost gzip ", level))
	}
	for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
		var b bytes.Buffer
		e, err := kzstd.NewWriter(&b, kzstd.WithEncoderLevel(level), kzstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, e.EncodeAll(content, nil), content, "EncodeAll")
		for i := 0; i < len(content); i += 300_000 {
			e.Write(content[i:min(i+300_000, len(content))])
			e.Flush()
		}
		e.Close()
		readAll(t, b.Bytes(), content, "zstd stream")
	}
}
