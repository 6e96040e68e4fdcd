package archive

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestTar compares with an archive that GNU tar has made of a directory: with holes, links and long
// names.
func TestTar(t *testing.T) {
	tool := testenv.Tool(t, "tar")
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "d", strings.Repeat("x", 120), strings.Repeat("y", 120)), 0o755)
	write := func(name string, p []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("d/text", corpus.ByName("text").Make(50_000))
	write(filepath.Join("d", strings.Repeat("x", 120), strings.Repeat("y", 120), "z"), []byte("deep"))
	holes, err := os.Create(filepath.Join(dir, "d/holes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 1 << 17, 3<<17 + 4096, 5 << 17} {
		holes.WriteAt(corpus.ByName("log").MakeSeed(10_000, uint64(at)), at)
	}
	holes.Truncate(6 << 17)
	holes.Close()
	os.Symlink("text", filepath.Join(dir, "d/symlink"))
	os.Link(filepath.Join(dir, "d/text"), filepath.Join(dir, "d/link"))
	write("d/after", []byte("behind the holes"))
	formats := []string{"gnu", "pax", "ustar"}
	if testenv.All() {
		formats = append(formats, "v7", "pax --sparse-version=0.0", "pax --sparse-version=0.1")
	}
	for _, format := range formats {
		args := []string{"-C", dir, "-cf", "-", "--sort=name"}
		for i, f := range strings.Fields(format) {
			if i == 0 {
				f = "--format=" + f
			}
			args = append(args, f)
		}
		if format == "ustar" || format == "v7" {
			args = append(args, "--exclude=x*") // the name is too long
		} else {
			args = append(args, "--sparse")
		}
		p, err := exec.Command(tool, append(args, "d")...).Output()
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		f := open(t, pack(t, p, compress.PZ))
		n := 0
		fs.WalkDir(f, "d", func(name string, e fs.DirEntry, err error) error {
			n++
			if err != nil || e.IsDir() {
				return err
			}
			got, err := f.ReadFile(name)
			want, _ := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: %d bytes, want %d: %v", format, name, len(got), len(want), err)
			}
			return nil
		})
		if n < 6 {
			t.Errorf("%s: %d names", format, n)
		}
		if err := fstest.TestFS(f, "d/holes", "d/text", "d/symlink", "d/link"); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		checkHoles(t, f, filepath.Join(dir, "d/holes"))
	}
}

// checkHoles reads parts of a sparse file in any order, from several goroutines.
func checkHoles(t *testing.T, f *FS, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := f.Open("d/holes")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for range 20 {
				off := r.IntN(len(want) + 100)
				p := make([]byte, r.IntN(100_000))
				n, err := file.(io.ReaderAt).ReadAt(p, int64(off))
				rest := want[min(off, len(want)):]
				wantErr := err == nil
				if len(p) > len(rest) || len(rest) == 0 {
					wantErr = err == io.EOF
				}
				if !bytes.Equal(p[:n], rest[:min(len(rest), len(p))]) || !wantErr {
					t.Errorf("ReadAt of %d bytes at %d: %d, %v", len(p), off, n, err)
				}
			}
		})
	}
	wg.Wait()
	s := file.(io.Seeker)
	if at, err := s.Seek(-10, io.SeekEnd); err != nil || at != int64(len(want))-10 {
		t.Errorf("Seek: %d, %v", at, err)
	}
	if got, err := io.ReadAll(file); err != nil || len(got) != 10 {
		t.Errorf("%d bytes behind Seek, %v", len(got), err)
	}
	if _, err := s.Seek(-1, io.SeekStart); err == nil {
		t.Error("Seek to −1 is no error")
	}
}
