// Package servetest makes trees of files and archives of them, for tests.
package servetest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// Day is when all files of a Tree were modified.
var Day = time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)

// A Tree has the contents of files by path.
type Tree map[string][]byte

// Make returns a tree of files of all kinds of content, from empty ones to 400 KB. Some names have
// characters with a meaning in URLs, HTML or shells.
func Make(seed uint64) Tree {
	r := rand.New(rand.NewPCG(seed, 1))
	t := Tree{
		"empty.txt": {}, "one.bin": {7}, "index/index.html": []byte("<p>an index</p>"),
		"a b/c#d?e%41.txt": []byte("odd"), "<b>&\"'.html": []byte("<i>odd</i>"),
		"ünï/コード.md": []byte("unicode"), "deep/er/and/deeper/x": []byte("deep"),
		"noext": []byte("%PDF-1.7 not really"),
	}
	for i, k := range corpus.Kinds() {
		n := r.IntN(400_000)
		ext := []string{".txt", ".json", ".html", "", ".unknown"}[i%5]
		t[fmt.Sprintf("d%d/%s%s", i%3, k.Name, ext)] = k.MakeSeed(n, seed)
	}
	return t
}

// Names returns the paths in order.
func (t Tree) Names() []string {
	var names []string
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// WriteTo writes the tree to a directory. pack says how a file is stored: as which bytes, and with
// what suffix. It may be nil.
func (t Tree) WriteTo(tb testing.TB, dir string, pack func(name string, content []byte) ([]byte, string)) {
	tb.Helper()
	for name, content := range t {
		suffix := ""
		if pack != nil {
			content, suffix = pack(name, content)
		}
		file := filepath.Join(dir, filepath.FromSlash(name)+suffix)
		WriteFile(tb, file, content)
	}
}

// WriteFile writes a file that was modified at Day.
func WriteFile(tb testing.TB, file string, content []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(file, Day, Day); err != nil {
		tb.Fatal(err)
	}
}

// Tar returns the tree as a tar file.
func (t Tree) Tar(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dirs := map[string]bool{}
	for _, name := range t.Names() {
		for d := path.Dir(name); d != "." && !dirs[d]; d = path.Dir(d) {
			dirs[d] = true
			w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: d + "/", Mode: 0o755, ModTime: Day})
		}
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(t[name])), ModTime: Day,
		}
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		w.Write(t[name])
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// Pack compresses content in blocks of 64 KiB.
func Pack(tb testing.TB, content []byte, f compress.Format, opts ...compress.WriterOption) []byte {
	tb.Helper()
	opts = append([]compress.WriterOption{compress.WithFormat(f), compress.WithLevel(1)}, opts...)
	if f != compress.Gzip {
		opts = append([]compress.WriterOption{compress.WithSeekable(64 << 10)}, opts...)
	}
	p, err := compress.AppendEncode(nil, content, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Mixed stores every fourth file as it is and the others in a format each.
func Mixed(tb testing.TB) func(string, []byte) ([]byte, string) {
	return func(name string, content []byte) ([]byte, string) {
		switch (len(name) + len(content)) % 4 {
		case 1:
			return Pack(tb, content, compress.PZ), ".pz"
		case 2:
			return Pack(tb, content, compress.Gzip), ".gz"
		case 3:
			return Pack(tb, content, compress.Zstd), ".zst"
		}
		return content, ""
	}
}

// Read returns what r has, or fails.
func Read(tb testing.TB, r io.Reader) []byte {
	tb.Helper()
	p, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}
