package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// contents are what the programs compress: an empty file, one byte, and more than a window of lz4.
func contents() map[string][]byte {
	return map[string][]byte{
		"empty": nil,
		"byte":  {'x'},
		"log":   corpus.ByName("log").Make(300_000),
		"mixed": append(corpus.ByName("text").Make(100_000), corpus.ByName("random").Make(200_000)...),
	}
}

// writers lists programs that write the formats to standard output.
var writers = []struct {
	suffix string
	args   []string
}{
	{".xz", []string{"xz", "-c"}},
	{".xz", []string{"xz", "-c", "-9e", "--check=sha256"}},
	{".xz", []string{"xz", "-c", "--x86", "--lzma2=preset=1", "--check=none"}},
	{".xz", []string{"xz", "-c", "--delta=dist=4", "--lzma2", "--block-size=65536", "--check=crc32"}},
	{".bz2", []string{"bzip2", "-c"}},
	{".lz4", []string{"lz4", "-c", "-q"}},
	{".lz4", []string{"lz4", "-c", "-q", "-9", "-BD", "-B4", "--content-size", "-BX"}},
	{".lz4", []string{"lz4", "-c", "-q", "-l"}},
	{".Z", []string{"compress", "-c", "-f"}},
	{".Z", []string{"compress", "-c", "-f", "-b12"}},
	{".Z", []string{"compress", "-c", "-f", "-b10"}},
	{".br", []string{"brotli", "-c"}},
	{".br", []string{"brotli", "-c", "-q", "1", "--lgwin=24"}},
}

func run(t *testing.T, content []byte, args []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, args[0]), args[1:]...)
	cmd.Stdin = bytes.NewReader(content)
	out, err := cmd.Output()
	if err != nil && (args[0] != "compress" || len(out) == 0 && len(content) > 0) {
		t.Fatalf("%q: %v", args, err) // compress exits with 2 if the result is longer
	}
	return out
}

// TestPrograms reads what the real programs write: whole, byte by byte, and twice in one file where
// the format allows that.
func TestPrograms(t *testing.T) {
	for _, w := range writers {
		t.Run(strings.Join(w.args, " "), func(t *testing.T) {
			f, _, _ := BySuffix("x" + w.suffix)
			for name, content := range contents() {
				packed := run(t, content, w.args)
				if got := Detect(packed[:min(len(packed), MagicSize)], "x"+w.suffix); got != f {
					t.Errorf("%s: detected %v", name, got)
				}
				check(t, name, f, packed, content)
				twice := append(packed, packed...)
				switch w.suffix {
				case ".Z": // has no end
				case ".br":
					_, err := io.ReadAll(f.NewReader(bytes.NewReader(twice), 0))
					if !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s twice: %v", name, err)
					}
				default:
					check(t, name+" twice", f, twice, append(content, content...))
				}
			}
		})
	}
}

func check(t *testing.T, name string, f *Format, packed, content []byte) {
	t.Helper()
	readers := []io.Reader{bytes.NewReader(packed)}
	if len(packed) < 100_000 {
		readers = append(readers, iotest.OneByteReader(bytes.NewReader(packed)))
	}
	for _, r := range readers {
		got, err := io.ReadAll(f.NewReader(r, 0))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
		}
	}
}

// packedFiles returns a small file of each format, made by libraries or stored in testdata.
func packedFiles(t testing.TB) (content []byte, files map[string][]byte) {
	content = corpus.ByName("log").Make(60_000)
	files = map[string][]byte{}
	add := func(name string, w io.WriteCloser, b *bytes.Buffer) {
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	var l, s, y, b bytes.Buffer
	add(".lz4", lz4.NewWriter(&l), &l)
	add(".s2", s2.NewWriter(&s), &s)
	add(".sz", s2.NewWriter(&y, s2.WriterSnappyCompat()), &y)
	add(".br", brotli.NewWriter(&b), &b)
	for _, suffix := range []string{".xz", ".bz2", ".Z"} {
		p, err := os.ReadFile(filepath.Join("testdata", "log"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = p
	}
	return content, files
}

func TestFiles(t *testing.T) {
	content, files := packedFiles(t)
	for suffix, packed := range files {
		f := Detect(packed[:MagicSize], "x"+suffix)
		if f == nil {
			t.Fatalf("%s: not detected", suffix)
		}
		check(t, suffix, f, packed, content)
	}
}

// TestDamage cuts files and changes bytes: an error of the package, or for a format without
// checksums other content, and never a panic.
func TestDamage(t *testing.T) {
	content, files := packedFiles(t)
	tries := 30
	if testenv.All() {
		tries = 1000
	}
	for suffix, packed := range files {
		f := Detect(packed[:MagicSize], "x"+suffix)
		step := 1 + len(packed)/tries
		for at := MagicSize; at < len(packed); at += step {
			for _, change := range []string{"cut", "flip"} {
				bad := bytes.Clone(packed)
				if change == "cut" {
					bad = bad[:at]
				} else {
					bad[at] ^= 1 << (at % 8)
				}
				got, err := io.ReadAll(io.LimitReader(f.NewReader(bytes.NewReader(bad), 0), 1<<24))
				switch {
				case err == nil && change == "cut" && f.Endless && bytes.HasPrefix(content, got):
				case err == nil && !f.Unchecked && !bytes.Equal(got, content):
					t.Fatalf("%s: %s at %d gave other content", suffix, change, at)
				case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrCut) &&
					!errors.Is(err, ErrFeature) && !errors.Is(err, ErrMemory):
					t.Fatalf("%s: %s at %d: %v", suffix, change, at, err)
				}
			}
		}
	}
}

// TestMemory gives an xz file of a larger dictionary than allowed.
func TestMemory(t *testing.T) {
	packed := run(t, []byte("content"), []string{"xz", "-c", "--lzma2=dict=200MiB"})
	f := Detect(packed, "")
	if _, err := io.ReadAll(f.NewReader(bytes.NewReader(packed), 0)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	got, err := io.ReadAll(f.NewReader(bytes.NewReader(packed), 256<<20))
	if err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSourceError passes an error of the underlying reader on.
func TestSourceError(t *testing.T) {
	_, files := packedFiles(t)
	broken := errors.New("broken disk")
	for suffix, packed := range files {
		f, _, _ := BySuffix("x" + suffix)
		r := io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(broken))
		if _, err := io.ReadAll(f.NewReader(r, 0)); err != broken {
			t.Errorf("%s: %v", suffix, err)
		}
	}
}

// TestPanic turns a panic of a library into an error.
func TestPanic(t *testing.T) {
	f := &Format{Name: "x", open: func(*bufio.Reader, int64) (io.Reader, error) {
		panic("index out of range")
	}}
	if _, err := f.NewReader(strings.NewReader(""), 0).Read(make([]byte, 1)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestBySuffix(t *testing.T) {
	for name, want := range map[string]string{
		"a.tar.xz": "a.tar .xz xz", "a.txz": "a.tar .txz xz", "a.Z": "a .Z compress", "a.br": "a .br brotli",
	} {
		f, content, suffix := BySuffix(name)
		if got := fmt.Sprint(content, " ", suffix, " ", f.Name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{".xz", "a.zip", "a"} {
		if f, _, _ := BySuffix(name); f != nil {
			t.Errorf("%s: %s", name, f.Name)
		}
	}
	for _, name := range []string{"a.z", "a.XZ"} {
		if f, content, _ := BySuffix(name); (f != nil) != IgnoresCase || IgnoresCase && content != "a" {
			t.Errorf("%s: %v, %q", name, f, content)
		}
	}
	if n := len(Suffixes()); n < 10 {
		t.Errorf("%d suffixes", n)
	}
}

// FuzzReader decodes any input, with the format of its magic number or as brotli.
func FuzzReader(f *testing.F) {
	for _, packed := range [][]byte{
		{0x1f, 0x9d, 0x90, 'a', 2, 5, 7}, {0xb, 2, 0x80, 'h', 'e', 'l', 'l', 'o', 3},
	} {
		f.Add(packed)
	}
	_, files := packedFiles(f)
	for suffix, packed := range files {
		if suffix != ".bz2" {
			f.Add(packed[:min(len(packed), 3000)])
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		format := Detect(packed[:min(len(packed), MagicSize)], "x.br")
		r := io.LimitReader(format.NewReader(bytes.NewReader(packed), 1<<20), 1<<20)
		if _, err := io.Copy(io.Discard, r); err != nil && !errors.Is(err, ErrCorrupt) &&
			!errors.Is(err, ErrCut) && !errors.Is(err, ErrFeature) && !errors.Is(err, ErrMemory) {
			t.Error(err)
		}
	})
}
