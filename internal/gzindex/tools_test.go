package gzindex_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/testenv"
)

// run runs a program and returns what it writes to standard output.
func run(tb testing.TB, name string, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command(testenv.Tool(tb, name), args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s %q: %v\n%s", name, args, err, problems.Bytes())
	}
	return out
}

func readPath(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// makeGZIDX lets indexed_gzip write an index.
const makeGZIDX = `
import indexed_gzip, sys
with indexed_gzip.IndexedGzipFile(sys.argv[1], spacing=1 << 19) as f:
    f.build_full_index()
    f.export_index(sys.argv[2])
`

// readGZIDX lets indexed_gzip read pieces by an index. It prints them one after the other.
const readGZIDX = `
import indexed_gzip, sys
with indexed_gzip.IndexedGzipFile(sys.argv[1], index_file=sys.argv[2], auto_build=False) as f:
    for p in sys.argv[3:]:
        at, size = map(int, p.split(','))
        f.seek(at)
        b = f.read(size)
        assert len(b) == size, (at, size, len(b))
        sys.stdout.buffer.write(b)
`

// spoil returns a copy of a .gz file with zeros between its header and the second checkpoint, so
// that nothing behind them can be read without an index.
func spoil(file []byte, x *gzindex.Index) []byte {
	b := bytes.Clone(file)
	clear(b[200 : x.Checkpoints[1].Bit/8-1])
	return b
}

// readBy reads pieces of the content by the index x, with the tool that f belongs to. All of them
// lie behind the second checkpoint.
func readBy(t *testing.T, f gzindex.Format, x *gzindex.Index, file, content []byte) {
	t.Helper()
	index := tempFile(t, "index", write(t, x, f))
	path := tempFile(t, "file.gz", spoil(file, x))
	first := int(x.Checkpoints[1].Content)
	var args []string
	var want [][]byte
	for _, p := range places(x, len(content)) {
		if p[0] >= first {
			args = append(args, fmt.Sprintf("%d,%d", p[0], p[1]))
			want = append(want, content[p[0]:p[0]+p[1]])
		}
	}
	// The last byte, and all of the content from the second checkpoint on.
	args = append(args, fmt.Sprintf("%d,1", len(content)-1),
		fmt.Sprintf("%d,%d", first, len(content)-first))
	want = append(want, content[len(content)-1:], content[first:])
	if f == gzindex.GZIDX1 {
		args = append([]string{"-c", readGZIDX, path, index}, args...)
		if !bytes.Equal(run(t, testenv.Python(t, "indexed_gzip"), args...), bytes.Join(want, nil)) {
			t.Errorf("%v: wrong content", f)
		}
		return
	}
	for i, p := range args {
		at, size, _ := strings.Cut(p, ",")
		var got []byte
		if f == gzindex.Bgzip {
			got = run(t, "bgzip", "-c", "-b", at, "-s", size, "-I", index, path)
		} else {
			got = run(t, "gztool", "-v0", "-b", at, "-r", size, "-I", index, path)
		}
		if !bytes.Equal(got, want[i]) {
			t.Errorf("%v: wrong content of %s: %d bytes", f, p, len(got))
		}
	}
}

// windowFormats are the formats of indexes with windows that are written.
var windowFormats = []gzindex.Format{gzindex.GZIDX1, gzindex.Gztool0}

// needTool skips the test if the tool that reads format f is missing.
func needTool(t *testing.T, f gzindex.Format) {
	t.Helper()
	switch f {
	case gzindex.GZIDX1:
		testenv.Python(t, "indexed_gzip")
	case gzindex.Bgzip:
		testenv.Tool(t, "bgzip")
	default:
		testenv.Tool(t, "gztool")
	}
}

// gzFile is a .gz file of testContent.
type gzFile struct {
	name string
	file []byte
	ends []int // of members in the content
}

// gzFiles returns files of one member and of three.
func gzFiles(t *testing.T, content []byte) []gzFile {
	third := len(content) / 3
	return []gzFile{
		{"one member", compressed(t, content), nil},
		{"three members", compressed(t, content[:third], nil, content[third:]), []int{third}},
	}
}

// TestIndexedGzip reads indexes of indexed_gzip, and has our copies of them read by all tools.
func TestIndexedGzip(t *testing.T) {
	testenv.Slow(t)
	content := testContent()
	for _, g := range gzFiles(t, content) {
		t.Run(g.name, func(t *testing.T) {
			file := g.file
			path := tempFile(t, "file.gz", file)
			run(t, testenv.Python(t, "indexed_gzip"), "-c", makeGZIDX, path, path+".index")
			b := readPath(t, path+".index")
			x := read(t, b)
			if x.Source != gzindex.GZIDX1 || x.FileSize != int64(len(file)) ||
				x.ContentSize != int64(len(content)) {
				t.Fatalf("%v, %d bytes of %d", x.Source, x.ContentSize, x.FileSize)
			}
			checkIndex(t, x, file, content, g.ends...)
			convert(t, x, file, content)
		})
	}
}

// TestGztool reads indexes of gztool, and has our copies of them read by all tools.
func TestGztool(t *testing.T) {
	testenv.Slow(t)
	content := testContent()
	for _, g := range gzFiles(t, content) {
		for f, lines := range map[gzindex.Format]string{
			gzindex.Gztool0: "-z", gzindex.Gztool1: "-x",
		} {
			t.Run(fmt.Sprintf("%s, %v", g.name, f), func(t *testing.T) {
				file := g.file
				path := tempFile(t, "file.gz", file)
				run(t, "gztool", "-v0", "-i", lines, "-s", "1", "-I", path+".gzi", path)
				b := readPath(t, path+".gzi")
				x := read(t, b)
				if x.Source != f || x.ContentSize != int64(len(content)) {
					t.Fatalf("%v, %d bytes", x.Source, x.ContentSize)
				}
				if f == gzindex.Gztool0 && !bytes.Equal(write(t, x, f), b) {
					t.Error("written again it differs")
				}
				checkIndex(t, x, file, content, g.ends...)
				x.FileSize = int64(len(file))
				convert(t, x, file, content)
			})
		}
	}
}

// convert has the index read by each tool, in the format of the tool.
func convert(t *testing.T, x *gzindex.Index, file, content []byte) {
	for _, f := range windowFormats {
		t.Run(f.String(), func(t *testing.T) {
			needTool(t, f)
			readBy(t, f, x, file, content)
		})
	}
}

// TestOwnIndex has an index that no tool made read by each tool.
func TestOwnIndex(t *testing.T) {
	testenv.Slow(t)
	content := testContent()
	file, x := flushed(t, content, 1_100_000)
	convert(t, x, file, content)
}

// TestBgzip reads an index of bgzip and has bgzip read our copy of it.
func TestBgzip(t *testing.T) {
	testenv.Slow(t)
	content := testContent()
	path := tempFile(t, "file", content)
	run(t, "bgzip", "-i", path)
	file, b := readPath(t, path+".gz"), readPath(t, path+".gz.gzi")
	x := read(t, b)
	if x.Source != gzindex.Bgzip || !bytes.Equal(write(t, x, gzindex.Bgzip), b) {
		t.Fatal("written again it differs")
	}
	checkIndex(t, x, file, content)
	readBy(t, gzindex.Bgzip, x, file, content)
}
