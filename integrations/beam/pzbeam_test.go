package pzbeam

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/gopz/compress"
)

func init() { register.Function1x1(lengthOf) }

func TestMain(m *testing.M) {
	status := ptest.MainRet(m)
	os.RemoveAll(pzDir)
	os.Exit(status)
}

// contents returns files of several kinds and sizes, by name. The last one has many groups of
// testGroup bytes.
func contents() map[string][]byte {
	all := map[string][]byte{}
	for i, n := range []int{0, 1, 100, 4096, 65536, 65537, 300_000} {
		all[fmt.Sprintf("text%d.txt", i)] = text(n)
		all[fmt.Sprintf("dir/zeros%d.bin", i)] = make([]byte, n)
	}
	all["dir/large.log"] = text(3 << 20)
	return all
}

const testGroup = 256 << 10

// text returns n bytes of lines.
func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d: line %d of a file, with %x\r\n", i%97, i, i*i*7919)
	}
	return b.Bytes()[:n]
}

// writeFiles writes files below dir and returns their names in order.
func writeFiles(t testing.TB, dir string, all map[string][]byte) (names []string) {
	t.Helper()
	for name, p := range all {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, p, 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// run runs a pipeline that build makes.
func run(build func(s beam.Scope)) error {
	p, s := beam.NewPipelineWithRoot()
	build(s)
	return ptest.Run(p)
}

func mustRun(t testing.TB, build func(s beam.Scope)) {
	t.Helper()
	if err := run(build); err != nil {
		t.Fatal(err)
	}
}

// packed returns the file that a Writer makes of a source.
func packed(t testing.TB, source string, o Options) []byte {
	t.Helper()
	p, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(source)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := o.compression(&file{Source: source, Size: info.Size(), ModTime: info.ModTime().UnixNano()})
	if err != nil {
		t.Fatal(err)
	}
	if len(p) > 0 {
		opts = append(opts, compress.WithContentSize(int64(len(p))))
	}
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkTree fails unless dir has just the files of want, by their names below it.
func checkTree(t testing.TB, dir string, want map[string][]byte) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && strings.Contains(path, ".pzbeam") {
				t.Errorf("stray directory %s", path)
			}
			return err
		}
		got, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		w, ok := want[filepath.ToSlash(name)]
		switch {
		case !ok:
			t.Errorf("stray file %s of %d bytes", name, len(got))
		case !bytes.Equal(got, w):
			t.Errorf("%s: %d bytes that differ from the %d wanted", name, len(got), len(w))
		}
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n != len(want) {
		t.Errorf("%d files in place of %d", n, len(want))
	}
}

// TestCompress compresses files of all formats, compares them with those of a Writer, and restores
// them.
func TestCompress(t *testing.T) {
	in, all := t.TempDir(), contents()
	names := writeFiles(t, in, all)
	for _, format := range []string{"pz", "gz", "zst"} {
		for _, level := range []int{0, 1} {
			t.Run(fmt.Sprint(format, level), func(t *testing.T) {
				out, back := t.TempDir(), t.TempDir()
				o := Options{
					Output: out, Base: in, Format: format, Level: level, BlockSize: 64 << 10,
					GroupSize: testGroup,
				}
				want := map[string][]byte{}
				var outputs []string
				for _, name := range names {
					rel, _ := filepath.Rel(in, name)
					want[rel+"."+format] = packed(t, name, o)
					outputs = append(outputs, filepath.Join(out, rel+"."+format))
				}
				mustRun(t, func(s beam.Scope) {
					passert.Count(s, Compress(s, beam.CreateList(s, names), o), "results", len(names))
				})
				checkTree(t, out, want)
				mustRun(t, func(s beam.Scope) {
					files := beam.CreateList(s, outputs)
					r := Decompress(s, files, Options{Output: back, Base: out, GroupSize: testGroup})
					passert.Count(s, r, "results", len(names))
					passert.Empty(s, Verify(s, files, Options{GroupSize: testGroup}))
				})
				checkTree(t, back, all)
			})
		}
	}
}

// TestMemory uses a file system that reads from the front only.
func TestMemory(t *testing.T) {
	p := text(1 << 20)
	memfs.Write("memfs://in/a.txt", p)
	o := Options{Output: "memfs://out", GroupSize: 64 << 10, BlockSize: 64 << 10}
	mustRun(t, func(s beam.Scope) { Compress(s, Match(s, "memfs://in/*"), o) })
	back := Options{Output: "memfs://back", GroupSize: 64 << 10}
	mustRun(t, func(s beam.Scope) {
		files := Match(s, "memfs://out/a.txt.pz")
		Decompress(s, files, back)
		passert.Empty(s, Verify(s, files, back))
	})
	mustRun(t, func(s beam.Scope) {
		blocks := ReadBlocks(s, Match(s, "memfs://out/a.txt.pz"), back)
		passert.Equals(s, beam.ParDo(s, lengthOf, blocks), len(p))
	})
}

func lengthOf(b Block) int { return len(b.Data) }
