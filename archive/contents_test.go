package archive

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// contentsDir makes a directory of files in all formats and returns the contents.
func contentsDir(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	put := func(name string, p []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"a.txt", "b/c.log", "b/d", "b!"} {
		all[name] = corpus.ByName("log").MakeSeed(40_000*i, uint64(i))
		put(name+[]string{".pz", ".gz", ".zst", ".pz"}[i], pack(t, all[name],
			[]compress.Format{compress.PZ, compress.Gzip, compress.Zstd, compress.PZ}[i]))
	}
	all["plain"] = []byte("as it is")
	put("plain", all["plain"])
	put("plain.pz", pack(t, []byte("hidden"), compress.PZ))
	all["twice"] = []byte("the first suffix")
	put("twice.gz", pack(t, []byte("the last suffix"), compress.Gzip))
	put("twice.pz", pack(t, all["twice"], compress.PZ))
	all["both.pz"] = []byte("packed twice")
	put("both.pz.gz", pack(t, all["both.pz"], compress.Gzip))
	put("dir.pz/.pz", []byte("no name before the suffix"))
	all["dir.pz/.pz"] = []byte("no name before the suffix")
	// A .zst file without a seek table that states no sizes.
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, compress.WithFormat(compress.Zstd))
	if err != nil {
		t.Fatal(err)
	}
	all["stream"] = corpus.ByName("text").Make(200_000)
	w.Write(all["stream"][:1000])
	w.Flush()
	w.Write(all["stream"][1000:])
	w.Close()
	put("stream.zst", b.Bytes())
	return all
}

// TestContents checks a directory of compressed files.
func TestContents(t *testing.T) {
	dir := t.TempDir()
	all := contentsDir(t, dir)
	f := Contents(os.DirFS(dir))
	defer f.Close()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	if err := fstest.TestFS(f, names...); err != nil {
		t.Error(err)
	}
	for name, want := range all {
		if got, err := fs.ReadFile(f, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	list, err := f.ReadDir(".")
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	want := []string{"a.txt", "b", "b!", "both.pz", "dir.pz", "plain", "stream", "twice"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, name := range []string{"a.txt.pz", "none", "b/none", "plain.pz"} {
		if _, err := f.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Stat("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}

// TestContentsChange replaces a file while it is open, and damages another.
func TestContentsChange(t *testing.T) {
	dir := t.TempDir()
	put := func(p []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "new"), p, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.pz")); err != nil {
			t.Fatal(err)
		}
	}
	f := Contents(os.DirFS(dir))
	defer f.Close()
	put(pack(t, []byte("old"), compress.PZ))
	old, err := f.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	put(pack(t, []byte("the new one"), compress.PZ))
	if got, err := fs.ReadFile(f, "a"); err != nil || string(got) != "the new one" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := io.ReadAll(old); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	old.Close()
	put([]byte("PZ damaged"))
	for range 2 {
		if _, err := f.Open("a"); err == nil {
			t.Error("no error for a damaged file")
		}
	}
	put(pack(t, []byte("mended"), compress.PZ))
	if got, err := fs.ReadFile(f, "a"); err != nil || string(got) != "mended" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestContentsMany reads more files than stay open, from several goroutines.
func TestContentsMany(t *testing.T) {
	files := fstest.MapFS{}
	const n = 3 * maxIdle
	name := func(i int) string { return string(rune('A'+i%26)) + string(rune('a'+i/26)) }
	for i := range n {
		files[name(i)+".pz"] = &fstest.MapFile{Data: pack(t, document(i), compress.PZ)}
	}
	f := Contents(readerAts{files})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 7))
			for range 300 {
				i := r.IntN(n)
				if got, err := fs.ReadFile(f, name(i)); err != nil || !bytes.Equal(got, document(i)) {
					t.Errorf("file %d: %d bytes, %v", i, len(got), err)
				}
			}
		})
	}
	wg.Wait()
	if len(f.open) > maxIdle {
		t.Errorf("%d files are open", len(f.open))
	}
	f.Close()
	if len(f.open) > 0 {
		t.Errorf("%d files are open after Close", len(f.open))
	}
}

func document(i int) []byte { return corpus.Document(uint64(i)) }

// readerAts is a MapFS, whose files are no io.ReaderAt, as a file system whose files are.
type readerAts struct{ fstest.MapFS }

func (f readerAts) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if m := f.MapFS[name]; err == nil && m != nil {
		return struct {
			fs.File
			io.ReaderAt
		}{file, bytes.NewReader(m.Data)}, nil
	}
	return file, err
}

// TestStored checks which file has a content, and that options and traces can be given by file.
func TestStored(t *testing.T) {
	dir := t.TempDir()
	contentsDir(t, dir)
	f := Contents(os.DirFS(dir))
	defer f.Close()
	var mu sync.Mutex
	blocks := map[string]int{}
	f.FileOptions(func(name string) []compress.ReaderOption {
		return []compress.ReaderOption{compress.WithTrace(func(e compress.Stage) {
			mu.Lock()
			defer mu.Unlock()
			if e.First {
				blocks[name] += int(e.Bytes)
			}
		})}
	})
	for name, want := range map[string]string{
		"a.txt": "a.txt.pz", "b/d": "b/d.zst", "plain": "plain", "twice": "twice.pz", "both.pz": "both.pz.gz",
		"b": "b", ".": ".", "stream": "stream.zst",
	} {
		stored, info, err := f.Stored(name)
		if err != nil || stored != want {
			t.Errorf("%s: %s, %v", name, stored, err)
			continue
		}
		if direct, err := os.Stat(filepath.Join(dir, want)); err != nil || info.Size() != direct.Size() {
			t.Errorf("%s: size %d, %v", name, info.Size(), err)
		}
	}
	if len(f.open) > 0 {
		t.Error("Stored has opened a file")
	}
	for _, name := range []string{"none", "../a", "a.txt.pz"} {
		if _, _, err := f.Stored(name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p, err := fs.ReadFile(f, "b/d")
	if err != nil || len(p) != 80_000 || blocks["b/d.zst"] != len(p) || len(blocks) != 1 {
		t.Errorf("%d bytes, %v, blocks %v", len(p), err, blocks)
	}
}
