package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// write returns an archive that a Writer has made.
func write(
	t testing.TB, headers []tar.Header, content func(i int) []byte, opts ...compress.WriterOption,
) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range headers {
		if h.ModTime.IsZero() {
			h.ModTime = day
		}
		var p []byte
		if h.Typeflag == tar.TypeReg && content != nil {
			p = content(i)
		}
		h.Mode, h.Size, h.Format = max(h.Mode, 1), int64(len(p)), tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write(p)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkListed checks that an archive is open by its list, and that its headers say the same.
func checkListed(t *testing.T, f *FS) {
	t.Helper()
	scanned := &FS{content: f.content, size: f.size}
	if err := scanned.scan(); err != nil {
		t.Fatal(err)
	}
	if len(scanned.table.entries) != len(f.table.entries) {
		t.Fatalf("%d entries, want %d", len(f.table.entries), len(scanned.table.entries))
	}
	listed := false
	for i := range f.table.entries {
		a, b := f.table.entries[i], scanned.table.entries[i]
		listed = listed || a.gap > 0
		name, want := f.table.get(a.name), scanned.table.get(b.name)
		a.gap, a.name, a.link, b.name, b.link = 0, text{}, text{}, text{}, text{}
		if name != want || a != b {
			t.Errorf("%q: %+v, want %q: %+v", name, a, want, b)
		}
	}
	if !listed && len(f.table.entries) > 0 {
		t.Error("the list is not used")
	}
}

// TestWriter opens archives of a Writer in all formats.
func TestWriter(t *testing.T) {
	for _, format := range []compress.Format{compress.PZ, compress.Zstd, compress.Gzip} {
		f := open(t, write(t, sampleHeaders, sampleContent, compress.WithFormat(format)))
		checkListed(t, f)
		if err := fstest.TestFS(f, "a.txt", "dir/sub/deep/c", "hard", "large", "dir/up"); err != nil {
			t.Error(err)
		}
		if got, err := f.ReadFile("hard"); err != nil || !bytes.Equal(got, sampleContent(2)) {
			t.Errorf("hard: %d bytes, %v", len(got), err)
		}
	}
	names := []tar.Header{
		{Typeflag: tar.TypeReg, Name: "../ \"quoted\"\n\xff"}, {Typeflag: tar.TypeReg, Name: "ä b"},
		{Typeflag: tar.TypeFifo, Name: "fifo"}, {Typeflag: tar.TypeSymlink, Name: "l", Linkname: "x y"},
	}
	checkListed(t, open(t, write(t, names[1:], sampleContent)))
	checkListed(t, open(t, write(t, nil, nil)))
	many := make([]tar.Header, 30_000)
	for i := range many {
		many[i] = tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("d%d/%d", i%50, i)}
	}
	checkListed(t, open(t, write(t, many, nil)))
}

// TestWriterDefaults writes headers that leave fields to package tar.
func TestWriterDefaults(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []tar.Header{
		{Name: "dir/", Mode: 0o755}, {Name: "file", Mode: 0o644},
		{Name: "fraction", ModTime: time.Unix(1, 6e8), Mode: 0o644},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, b.Bytes())
	checkListed(t, f)
	if info, err := f.Stat("dir"); err != nil || !info.IsDir() || !info.ModTime().Equal(time.Unix(0, 0)) {
		t.Errorf("%v, %v", info, err)
	}
}

// TestWriterClose closes a Writer again whose first Close has failed.
func TestWriterClose(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&tar.Header{Name: "a", Size: 10, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	first := w.Close()
	if again := w.Close(); first == nil || again != first {
		t.Errorf("%v, then %v", first, again)
	}
	if _, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len())); err == nil {
		t.Error("an archive without the content of a file opens")
	}
}

// TestWriterTools lists archives of a Writer with other programs, which must not mention the list.
func TestWriterTools(t *testing.T) {
	many := make([]tar.Header, 9000)
	for i := range many {
		many[i] = tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("directory-%d/file-%d", i%50, i)}
	}
	packed := write(t, many, func(i int) []byte { return []byte{byte(i)} })
	plain, err := compress.AppendDecode(nil, packed)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range many {
		want += many[i].Name + "\n"
	}
	for _, args := range [][]string{
		{"tar", "-tf", "-"},
		{"python3", "-c", "import sys, tarfile\n" +
			"for m in tarfile.open(fileobj=sys.stdin.buffer, mode='r|'): print(m.name)"},
	} {
		cmd := exec.Command(testenv.Tool(t, args[0]), args[1:]...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(plain), &out, &errs
		if err := cmd.Run(); err != nil || errs.Len() > 0 || out.String() != want {
			t.Errorf("%s: %v, %s, %d bytes of names", args[0], err, errs.String(), out.Len())
		}
	}
}

// TestListDamage flips bits of a list. The headers then count, or opening fails; nothing is ever
// wrong.
func TestListDamage(t *testing.T) {
	plain, err := compress.AppendDecode(nil, write(t, sampleHeaders, sampleContent))
	if err != nil {
		t.Fatal(err)
	}
	end, ok := findList(bytes.NewReader(plain), int64(len(plain)))
	if !ok {
		t.Fatal("no list")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		bad := bytes.Clone(plain)
		bad[int(end.begin)+r.IntN(len(bad)-int(end.begin))] ^= 1 << r.IntN(8)
		f, err := Open(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		for i, h := range sampleHeaders {
			if h.Typeflag != tar.TypeReg {
				continue
			}
			if got, err := f.ReadFile(h.Name); err != nil || !bytes.Equal(got, sampleContent(i)) {
				t.Fatalf("%s: %d bytes, %v", h.Name, len(got), err)
			}
		}
	}
}

// TestWrongList checks that a list that is not that of the archive gives no content under another
// name.
func TestWrongList(t *testing.T) {
	headers := []tar.Header{{Typeflag: tar.TypeReg, Name: "a"}, {Typeflag: tar.TypeReg, Name: "b"}}
	plain, err := compress.AppendDecode(nil, write(t, headers, func(i int) []byte { return []byte{byte(i)} }))
	if err != nil {
		t.Fatal(err)
	}
	end, _ := findList(bytes.NewReader(plain), int64(len(plain)))
	list := plain[end.begin : len(plain)-int(end.size)]
	for name, change := range map[string][2]string{
		"names": {`"a"`, `"b"`}, "size": {" 1 100", " 9 100"}, "place": {"0 1536", "0 1024"},
	} {
		wrong := bytes.Replace(list, []byte(change[0]), []byte(change[1]), 1)
		if name == "names" {
			wrong = []byte(strings.NewReplacer(`"a"`, `"b"`, `"b"`, `"a"`).Replace(string(list)))
		}
		if bytes.Equal(wrong, list) {
			t.Fatalf("%s: %q", name, wrong)
		}
		bad := fmt.Appendf(slices.Concat(plain[:end.begin], wrong), "end 2 %08x %d\n",
			crc32.Checksum(wrong, castagnoli()), end.begin)
		f := open(t, bad)
		if f.table.entries[0].gap == 0 {
			t.Fatalf("%s: the list is not used", name)
		}
		if _, err := f.ReadFile("a"); !errors.Is(err, errList) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// countingReader counts reads and their bytes.
type countingReader struct {
	r     io.ReaderAt
	n     int
	bytes int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n++
	c.bytes += int64(len(p))
	return c.r.ReadAt(p, off)
}

// TestFewReads checks how much of an archive is read for one of its files.
func TestFewReads(t *testing.T) {
	headers := make([]tar.Header, 2000)
	for i := range headers {
		headers[i] = tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("directory-%d/file-%d", i%50, i)}
	}
	content := func(i int) []byte { return corpus.ByName("json").MakeSeed(10_000, uint64(i)) }
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		packed := write(t, headers, content, compress.WithBlockSize(1<<18), compress.WithFormat(format))
		c := &countingReader{r: bytes.NewReader(packed)}
		f, err := Open(c, int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		opening := *c
		if got, err := f.ReadFile(headers[1234].Name); err != nil || !bytes.Equal(got, content(1234)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		t.Logf("%v of %d bytes: %d reads of %d bytes to open it, %d of %d in all", format, len(packed),
			opening.n, opening.bytes, c.n, c.bytes)
		if c.n > 12 || c.bytes > int64(len(packed))/10 {
			t.Errorf("%v of %d bytes: %d reads, %d bytes", format, len(packed), c.n, c.bytes)
		}
		f.Close()
	}
}

// TestAddFS writes a directory and compares it with the archive.
func TestAddFS(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a", "d/b", "d/e/c"} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, sampleContent(i), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink("../a", filepath.Join(dir, "d/link"))
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, b.Bytes())
	if err := fstest.TestFS(f, "a", "d/b", "d/e/c", "d/link"); err != nil {
		t.Error(err)
	}
	var names []string
	fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, walk error) error {
		names = append(names, name)
		if walk != nil || e.IsDir() {
			return walk
		}
		got, err := f.ReadFile(name)
		want, _ := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		return nil
	})
	var listed []string
	fs.WalkDir(f, ".", func(name string, e fs.DirEntry, err error) error {
		listed = append(listed, name)
		return err
	})
	if !slices.Equal(names, listed) {
		t.Errorf("%q, want %q", listed, names)
	}
}
