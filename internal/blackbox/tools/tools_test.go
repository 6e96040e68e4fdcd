// Package tools exchanges .gz and .zst files with other programs, through the public API.
package tools

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// pythonGzip returns the command that compresses with Python's zlib at level %d with a strategy.
func pythonGzip(strategy int) []string {
	return bbtest.PythonTool(fmt.Sprintf("c = zlib.compressobj(%%d, 8, 31, 9, %d)\n", strategy) +
		"w(c.compress(p)); w(c.flush())")
}

// A toolWriter is a command that writes a standard format at a range of levels. %d stands for the
// level.
type toolWriter struct {
	args     []string
	from, to int
}

var toolWriters = []toolWriter{
	{[]string{"gzip", "-%d", "-c"}, 1, 9},
	{[]string{"pigz", "-%d", "-c"}, 0, 9},
	{[]string{"pigz", "-%d", "-i", "-b", "128", "-p", "4", "-c"}, 6, 6},
	{[]string{"pigz", "-%d", "-c"}, 11, 11},
	{[]string{"libdeflate-gzip", "-%d", "-c"}, 1, 12},
	{bbtest.PythonTool("w(gzip.compress(p, %d))"), 0, 9},
	{pythonGzip(2), 1, 9}, // Huffman codes without matches
	{pythonGzip(4), 6, 6}, // fixed codes
	{[]string{"zstd", "-%d", "-c"}, 1, 19},
	{[]string{"zstd", "--ultra", "-%d", "-c"}, 20, 22},
	{[]string{"zstd", "--fast=%d", "-c"}, 1, 5},
	{[]string{"zstd", "-%d", "--long", "-c"}, 1, 9},
	{[]string{"zstd", "-%d", "-T0", "-c"}, 3, 5},
	{[]string{"zstd", "-%d", "--no-check", "-c"}, 3, 3},
	{[]string{"zstd", "-%d", "--no-content-size", "-c"}, 3, 3},
}

// toolContents returns the contents that other programs compress. The large one is long enough for
// several of our workers to decode one gzip member.
func toolContents(t *testing.T) (contents [][]byte) {
	kinds, large := []string{"mixed"}, 1200<<10
	switch {
	case testing.Short():
		large = 300 << 10
	case testenv.All():
		kinds, large = []string{"text", "mixed", "random", "zeros"}, 2<<20
	}
	for _, kind := range kinds {
		contents = append(contents, corpus.ByName(kind).Make(200_000))
	}
	contents = append(contents, nil, []byte("x"), corpus.ByName("log").Make(large))
	for _, f := range corpus.Real(t) {
		contents = append(contents, f.Data(t))
	}
	return contents
}

// TestReadTools reads files of other programs. By default each program writes with its first and
// its last level.
func TestReadTools(t *testing.T) {
	testenv.Slow(t)
	contents := toolContents(t)
	for _, w := range toolWriters {
		name := strings.Join(w.args, " ")
		if w.args[0] == "python3" {
			name = "python3 " + w.args[2][strings.LastIndex(w.args[2], "w(")-30:]
		}
		t.Run(strings.ReplaceAll(name, "\n", " "), func(t *testing.T) {
			t.Parallel() // most programs have one thread
			testenv.Tool(t, w.args[0])
			readToolLevels(t, w, contents)
		})
	}
	t.Run("zstd --stream-size", func(t *testing.T) {
		testenv.Tool(t, "zstd")
		content := contents[len(contents)-1]
		size := fmt.Sprint("--stream-size=", len(content))
		for _, check := range []string{"--no-check", "--check"} {
			bbtest.CheckRead(t, bbtest.RunTool(t, content, "zstd", "-c", check, size), content, check)
		}
	})
	t.Run("zstd -o", func(t *testing.T) {
		t.Parallel()
		testenv.Tool(t, "zstd")
		for _, content := range contents {
			readZstdFiles(t, content)
		}
	})
}

// readToolLevels reads what a program writes at its levels: each file, and all of them
// concatenated.
func readToolLevels(t *testing.T, w toolWriter, contents [][]byte) {
	var all, want []byte
	for level := w.from; level <= w.to; level++ {
		// Python starts slowly, and its levels are those of gzip.
		slow := w.args[0] == "python3" && level%3 != 0 && !testenv.Matrix()
		if level != w.from && level != w.to && (!testenv.All() || slow) {
			continue
		}
		args := make([]string, len(w.args))
		for i, a := range w.args {
			args[i] = strings.ReplaceAll(a, "%d", fmt.Sprint(level))
		}
		for _, content := range contents {
			switch {
			case testenv.Matrix():
			case len(content) < 2 && w.from >= 20 && !testenv.All():
				continue // the program takes a GB of memory for any content
			case len(content) > 4<<20 && level > 9, len(content) > 1<<20 && level%9 != 1:
				continue // takes other programs minutes
			}
			file := bbtest.RunTool(t, content, args...)
			bbtest.CheckRead(t, file, content, fmt.Sprint("level ", level))
			if len(content) < 1<<20 {
				all, want = append(all, file...), append(want, content...)
			}
		}
	}
	bbtest.CheckRead(t, all, want, "all files concatenated")
	if w.args[0] != "zstd" {
		all = append(all, make([]byte, 70_000)...)
		bbtest.CheckRead(t, all, want, "with zeros behind")
	}
}

// readZstdFiles reads what zstd writes for a file, whose size it then knows.
func readZstdFiles(t *testing.T, content []byte) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	other := filepath.Join(dir, "other")
	for name, p := range map[string][]byte{
		in: content, other: append([]byte("more "), content...),
	} {
		if err := os.WriteFile(name, p, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-3"}, {"-19"}, {"-1", "-T2", "-B100KB"}, {"-3", "--patch-from", other},
	} {
		patch := args[len(args)-1] == other
		if len(content) > 4<<20 && args[0] == "-19" || len(content) < 100 && patch {
			continue
		}
		args = append([]string{"zstd", "-q", "-f", "--no-progress", in, "-o", out}, args...)
		bbtest.RunTool(t, nil, args...)
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if patch {
			// Only the other file makes this one readable, which its header does not say.
			if got, err := compress.AppendDecode(nil, file); err == nil && len(content) > 0 {
				t.Errorf("--patch-from: %d bytes without an error", len(got))
			}
			continue
		}
		bbtest.CheckRead(t, file, content, fmt.Sprint(args))
	}
}

// TestWriteTools decodes our files with other programs.
func TestWriteTools(t *testing.T) {
	testenv.Slow(t)
	for _, pipeline := range bbtest.StandardPipelines {
		for _, args := range bbtest.ToolReaders[pipeline] {
			t.Run(pipeline+"/"+args[0], func(t *testing.T) { testenv.Tool(t, args[0]) })
		}
		t.Run(pipeline, func(t *testing.T) {
			t.Parallel()
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				if !testenv.All() && level%4 != 1 {
					continue
				}
				opts := []compress.WriterOption{bridge.Pipeline(pipeline), compress.WithLevel(level)}
				var all, want []byte
				for _, kind := range corpus.Kinds() {
					content := kind.Make(100_000)
					if level > 7 {
						content = content[:40_000] // two blocks
					}
					all = append(all, bbtest.Encode(t, content,
						append(opts, compress.WithBlockSize(1<<15))...)...)
					want = append(want, content...)
				}
				for _, n := range []int{0, 1, bbtest.BlockSize - 1, bbtest.BlockSize, bbtest.BlockSize + 1} {
					content := bbtest.TextBytes(n, 1)
					file := bbtest.Encode(t, content,
						append(opts, compress.WithBlockSize(bbtest.BlockSize))...)
					if n <= 1 {
						bbtest.CheckTools(t, pipeline, file, content,
							fmt.Sprint("level ", level, ", ", n, " bytes"))
					}
					all, want = append(all, file...), append(want, content...)
				}
				bbtest.CheckTools(t, pipeline, all, want, fmt.Sprint("level ", level))
				for i, f := range corpus.Real(t) {
					if (i+level)%4 != 0 && !testenv.Matrix() {
						continue
					}
					content := f.Data(t)
					if level > 7 && !testenv.Matrix() {
						content = content[:min(len(content), bbtest.SlowContent(pipeline, level))]
					}
					file := bbtest.Encode(t, content, opts...)
					for _, workers := range bbtest.WorkerCounts[1:] {
						bbtest.Equal(t, bbtest.Encode(t, content,
							append(opts, compress.WithConcurrency(workers))...),
							file, f.Name)
					}
					bbtest.CheckTools(t, pipeline, file, content, fmt.Sprint(f.Name, ", level ", level))
					bbtest.CheckRead(t, file, content, f.Name)
				}
			}
		})
	}
}

// TestZstdList checks what zstd -l lists of our files.
func TestZstdList(t *testing.T) {
	testenv.Tool(t, "zstd")
	content := bbtest.TextBytes(10*bbtest.BlockSize+5, 1)
	path := filepath.Join(t.TempDir(), "a.zst")
	for _, c := range []struct {
		opts       []compress.WriterOption
		want, hash string
	}{
		{
			[]compress.WriterOption{compress.WithSeekable(bbtest.BlockSize)},
			"# Zstandard Frames: 11\n# Skippable Frames: 1\n", "",
		},
		{
			[]compress.WriterOption{
				compress.WithBlockSize(bbtest.BlockSize), compress.WithContentSize(int64(len(content))),
			},
			"# Zstandard Frames: 1\nDictID: 0\nWindow Size: 8.00 KiB (8192 B)\n",
			fmt.Sprintf(" %08x", zstfile.Checksum(content)),
		},
	} {
		for _, checks := range []bool{true, false} {
			file := bbtest.Encode(t, content,
				append(c.opts, bridge.Pipeline("lzf"), compress.WithChecksum(checks))...)
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			list := string(bbtest.RunTool(t, nil, "zstd", "-lv", path))
			check := "Check: None"
			if checks {
				check = "Check: XXH64" + c.hash
			}
			for _, want := range []string{c.want, fmt.Sprintf("(%d B)", len(content)), check} {
				if !strings.Contains(list, want) {
					t.Errorf("no %q in:\n%s", want, list)
				}
			}
		}
	}
}

// TestReadGzip reads files of compress/gzip.
func TestReadGzip(t *testing.T) {
	testenv.Slow(t)
	content := corpus.ByName("mixed").Make(1 << 20)
	for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		w.Name, w.Comment, w.Extra = "name", "comment", []byte("XX\x01\x00y")
		w.Write(content)
		w.Close()
		bbtest.CheckRead(t, b.Bytes(), content, fmt.Sprint("level ", level))
	}
}
