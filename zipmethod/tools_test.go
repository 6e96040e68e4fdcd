package zipmethod

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

var testTime = time.Unix(1_700_000_000, 0)

// toolFiles are files with names that all programs can write.
func toolFiles() map[string][]byte {
	return map[string][]byte{
		"empty": {}, "small.txt": []byte("some text\n"), "large.json": corpus.ByName("json").Make(1_300_000),
		"noise": corpus.ByName("random").Make(100_000),
	}
}

// run runs a program in dir and returns its output.
func run(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(testenv.Tool(t, name), args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

// checkDir checks the files in a directory.
func checkDir(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// extract extracts an archive of toolFiles with a program.
func extract(t *testing.T, method uint16, name string, args ...string) {
	t.Run(name, func(t *testing.T) {
		files := toolFiles()
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, "a.zip"), archive(t, files, method), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		run(t, dir, name, args...)
		checkDir(t, dir, files)
	})
}

// TestExtract has other programs extract our archives.
func TestExtract(t *testing.T) {
	const python = "import zipfile; z = zipfile.ZipFile('a.zip'); assert z.testzip() is None; z.extractall()"
	extract(t, Deflate, "python3", "-c", python)
	extract(t, Deflate, "unzip", "-q", "a.zip")
	extract(t, Deflate, "7z", "x", "a.zip")
	// Not all versions know zstd.
	if out, _ := exec.Command(testenv.Tool(t, "7z"), "i").Output(); bytes.Contains(out, []byte("zstd")) {
		extract(t, Zstd, "7z", "x", "a.zip")
	}
	zstd := exec.Command(testenv.Tool(t, "python3"), "-c", "import zipfile; zipfile.ZIP_ZSTANDARD")
	if zstd.Run() == nil {
		extract(t, Zstd, "python3", "-c", python)
	}
}

// TestOfPrograms reads archives that other programs made.
func TestOfPrograms(t *testing.T) {
	files := toolFiles()
	dir := t.TempDir()
	for name, p := range files {
		if err := os.WriteFile(filepath.Join(dir, name), p, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][]string{
		{"zip", "-q", "-9", "a.zip", "empty", "small.txt", "large.json", "noise"},
		{"7z", "a", "-tzip", "-mx=9", "-mm=Deflate", "a.zip", "empty", "small.txt", "large.json", "noise"},
		{"python3", "-c", `import zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for name in ["empty", "small.txt", "large.json", "noise"]: z.write(name)`},
	} {
		t.Run(c[0], func(t *testing.T) {
			name := filepath.Join(dir, "a.zip")
			os.Remove(name)
			run(t, dir, c[0], c[1:]...)
			r, err := zip.OpenReader(name)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.RegisterDecompressor(Deflate, Decompressor(Deflate))
			check(t, &r.Reader, files)
		})
	}
}

func BenchmarkCompress(b *testing.B) {
	content := corpus.ByName("json").Make(1_000_000)
	for _, c := range []struct {
		name   string
		method uint16
		ours   bool
	}{{"archive/zip", Deflate, false}, {"Deflate", Deflate, true}, {"Zstd", Zstd, true}} {
		b.Run(c.name, func(b *testing.B) {
			comp := Compressor(c.method)
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				var out bytes.Buffer
				w := zip.NewWriter(&out)
				if c.ours {
					w.RegisterCompressor(c.method, comp)
				}
				f, err := w.CreateHeader(&zip.FileHeader{Name: "a", Method: c.method})
				if err != nil {
					b.Fatal(err)
				}
				f.Write(content)
				w.Close()
				b.ReportMetric(float64(out.Len()), "out")
			}
		})
	}
}

func BenchmarkDecompress(b *testing.B) {
	content := corpus.ByName("json").Make(1_000_000)
	for _, c := range []struct {
		name   string
		method uint16
		ours   bool
	}{{"archive/zip", Deflate, false}, {"Deflate", Deflate, true}, {"Zstd", Zstd, true}} {
		b.Run(c.name, func(b *testing.B) {
			r := open(b, archive(b, map[string][]byte{"a": content}, c.method))
			if !c.ours {
				p := archive(b, map[string][]byte{"a": content}, c.method)
				r, _ = zip.NewReader(bytes.NewReader(p), int64(len(p)))
			}
			b.SetBytes(int64(len(content)))
			p := make([]byte, 32<<10)
			for b.Loop() {
				f, err := r.File[0].Open()
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = f.Read(p)
				}
				f.Close()
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}
