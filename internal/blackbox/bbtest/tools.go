package bbtest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

// DecodeReference decodes a .gz file with compress/gzip or a .zst file with the zstd program, which
// has the window that every decoder should support. Without the program it skips the test.
func DecodeReference(t testing.TB, pipe string, file []byte) []byte {
	t.Helper()
	if pipe != "deflate" {
		return RunTool(t, file, testenv.Tool(t, "zstd"), "-dc", "-M8MB")
	}
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("error after %d bytes: %v", len(p), err)
	}
	return p
}

// DecodeCutFrame returns what the zstd program decodes of a file whose last frame goes on. The
// program reports that as an error.
func DecodeCutFrame(t testing.TB, file []byte) []byte {
	t.Helper()
	c := exec.Command(testenv.Tool(t, "zstd"), "-dc", "-M8MB")
	c.Stdin = bytes.NewReader(file)
	p, err := c.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !bytes.Contains(exit.Stderr, []byte("premature")) {
		t.Errorf("zstd: %v", err)
	}
	return p
}

// RunTool runs a program with in as its input and returns its output.
func RunTool(t testing.TB, in []byte, args ...string) []byte {
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

// PythonTool returns the command of a Python program, which has its input in p and writes with w.
func PythonTool(program string) []string {
	const head = "import sys, gzip, zlib, io\n" +
		"p = sys.stdin.buffer.read()\n" +
		"w = sys.stdout.buffer.write\n"
	return []string{"python3", "-c", head + program}
}

// CheckRead reads a file of a standard format with each number of workers, and its info.
func CheckRead(t *testing.T, file, content []byte, what string, opts ...compress.ReaderOption) {
	t.Helper()
	for _, workers := range WorkerCounts {
		got, err := Decode(file, append(opts, compress.WithConcurrency(workers))...)
		if err != nil {
			t.Fatalf("%s, %d workers: error after %d bytes: %v", what, workers, len(got), err)
		}
		Equal(t, got, content, what)
	}
	got, err := compress.AppendDecode(nil, file, opts...)
	if err != nil {
		t.Fatalf("%s: AppendDecode: %v", what, err)
	}
	Equal(t, got, content, what)
	info, err := FileInfo(file, opts...)
	if err != nil || info.Content != int64(len(content)) {
		t.Fatalf("%s: %+v, %v", what, info, err)
	}
}

// ToolReaders are commands that decode or test a file, by the pipeline that writes it.
var ToolReaders = map[string][][]string{
	"deflate": {
		{"gzip", "-dc"}, {"gzip", "-t"},
		{"pigz", "-dc"}, {"pigz", "-t"},
		{"libdeflate-gunzip", "-c"},
		PythonTool("w(gzip.decompress(p))"),
		PythonTool("while p:\n d = zlib.decompressobj(31)\n w(d.decompress(p))\n" +
			" assert d.eof\n p = d.unused_data"),
	},
	"lzf": {{"zstd", "-dc", "-M8MB"}, {"zstd", "-t"}},
}

// CheckTools decodes our file with all programs that read its format, and with compress/gzip.
func CheckTools(t *testing.T, pipeline string, file, content []byte, what string) {
	t.Helper()
	for _, args := range ToolReaders[pipeline] {
		if _, err := exec.LookPath(args[0]); err != nil {
			continue // TestWriteTools fails in CI if a program is missing
		}
		got := RunTool(t, file, args...)
		if args[1] != "-t" {
			Equal(t, got, content, what+", "+args[0])
		}
	}
	if pipeline == "deflate" {
		Equal(t, DecodeReference(t, pipeline, file), content, what+", compress/gzip")
	}
}
