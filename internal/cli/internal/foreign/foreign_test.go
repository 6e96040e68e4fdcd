package foreign

import (
	"bufio"
	"bytes"
	"encoding/binary"
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
	{".lzma", []string{"xz", "-c", "--format=lzma"}},
	{".lzma", []string{"xz", "-c", "--format=lzma", "--lzma1=preset=1,lc=0,lp=2,pb=1"}},
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
				case ".br", ".lzma":
					checkTrailing(t, name+" twice", f, twice, content, packed)
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
	for _, suffix := range []string{".xz", ".bz2", ".Z", ".lz", ".lzma"} {
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

// checkTrailing checks that the reader stops where the format ends, and returns what follows.
func checkTrailing(t *testing.T, name string, f *Format, packed, content, rest []byte) {
	t.Helper()
	for _, src := range []io.Reader{bytes.NewReader(packed), iotest.HalfReader(bytes.NewReader(packed))} {
		r := f.NewReader(src, 0)
		got, err := io.ReadAll(r)
		var trailing *TrailingError
		if !errors.As(err, &trailing) || trailing.Offset != int64(len(packed)-len(rest)) ||
			!bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
			continue
		}
		if left, err := io.ReadAll(r.Rest()); err != nil || !bytes.Equal(left, rest) {
			t.Errorf("%s: %d bytes of %d behind the end, %v", name, len(left), len(rest), err)
		}
	}
}

// TestBehindEnd puts data behind files. xz 5.4, bzip2 1.0, lz4 1.9, lzip 1.23 and brotli 1.0 take
// it for what kinds says.
func TestBehindEnd(t *testing.T) {
	content, files := packedFiles(t)
	files[".lz4 -l"] = legacyLZ4(content)
	const zeros = "\x00\x00\x00\x00"
	for suffix, packed := range files {
		f, _, _ := BySuffix("x" + strings.Fields(suffix)[0])
		if suffix == ".Z" { // has no end
			continue
		}
		for rest, kinds := range map[string]string{
			"x":                      "lz4 -l: cut",
			"plain text behind it":   "",
			"\x1f\x8b\x08":           "lz4 -l: cut",
			zeros:                    "xz: padding; sz: damaged; s2: damaged; lz4 -l: damaged",
			zeros + zeros + "text":   "sz: damaged; s2: damaged; lz4 -l: damaged",
			zeros[:3]:                "xz: damaged; sz: damaged; s2: damaged; lz4 -l: cut",
			"B":                      "bz2: cut; lz4 -l: cut",
			"BZh":                    "bz2: cut; lz4 -l: cut",
			"BZh9":                   "bz2: cut",
			"BZh0 no level":          "",
			"BZh9 no block":          "bz2: damaged",
			"LZ":                     "lz: cut; lz4 -l: cut",
			"LZXP no member of it":   "lz: damaged",
			"LZIP":                   "lz: cut",
			"LZIP\x01\x0c":           "lz: cut",
			"LZIP\x00\x0c no member": "lz: feature",
			lz4Magic:                 "lz4: cut; lz4 -l: cut",
			lz4LegacyMagic:           "lz4: whole; lz4 -l: whole",
			"\xff\x06\x00\x00sNaPpX": "lz4 -l: cut",
		} {
			kind := "other"
			for _, k := range strings.Split(kinds, "; ") {
				if k, is := strings.CutPrefix(k, suffix[1:]+": "); is {
					kind = k
				}
			}
			name := fmt.Sprintf("%s and %q", suffix, rest)
			both := append(bytes.Clone(packed), rest...)
			if kind == "other" && suffix == ".xz" {
				rest = strings.TrimLeft(rest, "\x00") // is padding
			}
			if kind == "other" {
				checkTrailing(t, name, f, both, content, []byte(rest))
				continue
			}
			_, err := io.ReadAll(f.NewReader(bytes.NewReader(both), 0))
			want := map[string]error{"cut": ErrCut, "damaged": ErrCorrupt, "feature": ErrFeature}[kind]
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %s", name, err, kind)
			}
		}
	}
}

// legacyLZ4 makes a file of the format of 2012, as lz4 -l does.
func legacyLZ4(content []byte) []byte {
	block := make([]byte, lz4.CompressBlockBound(len(content)))
	n, err := lz4.CompressBlock(content, block, nil)
	if err != nil || n == 0 {
		panic(err)
	}
	packed := binary.LittleEndian.AppendUint32([]byte(lz4LegacyMagic), uint32(n))
	return append(packed, block[:n]...)
}

// TestEmbedded reads an xz file whose content holds whole xz files as they are, and each end of
// these looks like its own.
func TestEmbedded(t *testing.T) {
	_, files := packedFiles(t)
	content := bytes.Repeat(append(files[".xz"], "text"...), 5)
	content = append(content, corpus.ByName("random").Make(100_000)...)
	packed := run(t, content, []string{"xz", "-c"})
	f := Detect(packed, "")
	check(t, "embedded", f, packed, content)
	checkTrailing(t, "embedded", f, append(packed, "YZ text"...), content, []byte("YZ text"))
}

// TestBeginning detects files by their beginnings. What has the suffix of a format needs less.
func TestBeginning(t *testing.T) {
	for _, c := range []struct{ head, name, want string }{
		{"BZh91AY&SY", "", "bzip2"},
		{"BZh1\x17rE8P\x90", "", "bzip2"},
		{"BZhello world", "", ""},
		{"BZh9 is a magic number", "", ""},
		{"BZh9", "", ""},
		{"BZh9 damaged", "a.bz2", "bzip2"},
		{"BZh01AY&SY", "", ""},
		{"LZIP\x01\x0c", "", "lzip"},
		{"LZIP\x00\x0c", "", "lzip"},
		{"LZIP is a format", "", ""},
		{"LZIP is a format", "a.tlz", "lzip"},
		{"LZIP\x01\x00", "", ""},
		{"\x1f\x9d\x90", "", "compress"},
		{"\x1f\x9d\xff", "", ""},
		{"\x1f\x9d\x88", "", ""},
		{"\x1f\x9d\x88", "a.Z", "compress"},
		{"]\x00\x00\x80\x00" + strings.Repeat("\xff", 8) + "\x00", "", "lzma"},
		{"]\x00\x00\x80\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00", "a", "lzma"},
		{"]\x00\x00\x80\x00\x10\x00\x00\x00\x00\x00\x00\x00\x01", "a.lzma", ""},
		{"] is a bracket", "", ""},
		{"] is a bracket", "a.lzma", ""},
		{strings.Repeat("\x00", MagicSize), "", ""},
		{"", "", ""},
	} {
		got := ""
		if f := Detect([]byte(c.head), c.name); f != nil {
			got = f.Name
		}
		if got != c.want {
			t.Errorf("%q, named %q: %q, want %q", c.head, c.name, got, c.want)
		}
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
				var trailing *TrailingError
				switch {
				case err == nil && change == "cut" && f.Endless && bytes.HasPrefix(content, got):
				case err == nil && !f.Unchecked && !bytes.Equal(got, content):
					t.Fatalf("%s: %s at %d gave other content", suffix, change, at)
				case errors.As(err, &trailing) && (f.Unchecked || bytes.Equal(got, content)):
				case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrCut) &&
					!errors.Is(err, ErrFeature) && !errors.Is(err, ErrMemory):
					t.Fatalf("%s: %s at %d: %v", suffix, change, at, err)
				}
			}
		}
	}
}

// TestEveryCut cuts files at every byte. Each format's own program gives an error.
func TestEveryCut(t *testing.T) {
	content := corpus.ByName("text").Make(300)
	for _, write := range []string{
		"lzip -c", "xz -c --format=lzma", "xz -c", "bzip2 -c", "lz4 -c", "brotli -c",
	} {
		packed := run(t, content, strings.Fields(write))
		suffix := map[string]string{"brotli -c": ".br"}[write]
		f := Detect(packed[:MagicSize], "x"+suffix)
		for n := 1; n < len(packed); n++ {
			files := [][]byte{packed[:n]}
			if !f.single || f.Name == "bzip2" {
				files = append(files, append(bytes.Clone(packed), packed[:n]...))
			}
			for i, file := range files {
				if _, err := io.ReadAll(f.NewReader(bytes.NewReader(file), 0)); err == nil {
					t.Errorf("%q: %d bytes of %d of file %d pass", write, n, len(packed), i+1)
				}
			}
		}
	}
}

// TestLzipTrailer changes each byte of the trailer: the checksum and both sizes.
func TestLzipTrailer(t *testing.T) {
	_, files := packedFiles(t)
	packed := files[".lz"]
	for at := len(packed) - lzipTrailer; at < len(packed); at++ {
		bad := bytes.Clone(packed)
		bad[at] ^= 1
		f := Detect(bad[:MagicSize], "")
		if _, err := io.ReadAll(f.NewReader(bytes.NewReader(bad), 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d of %d: %v", at, len(packed), err)
		}
	}
}

// TestCutEnd cuts files near the end, and gives what the format's own program gives before its
// error, but for the last bytes of LZMA: programs decode them before they need more input.
func TestCutEnd(t *testing.T) {
	content := corpus.ByName("text").Make(200_000)
	for _, c := range []struct{ write, read string }{
		{"lz4 -c", "lz4 -dc"}, {"lz4 -BD -B4 -c", "lz4 -dc"}, {"lz4 -l -c", "lz4 -dc"},
		{"bzip2 -c", "bzip2 -dc"}, {"lzip -c", "lzip -dc"}, {"compress -c", "gzip -dc"},
		{"xz -c --format=lzma", "xz -dc"}, {"xz -c", "xz -dc"},
	} {
		packed := run(t, content, strings.Fields(c.write))
		f := Detect(packed[:MagicSize], "")
		for _, n := range []int{1, 4, 5, 8, 12, 20, 28, 100, 1000} {
			cut := packed[:len(packed)-n]
			want := runDamaged(t, cut, strings.Fields(c.read))
			got, err := io.ReadAll(f.NewReader(bytes.NewReader(cut), 0))
			if err == nil && !f.Endless || len(got) < len(want)-100 || !bytes.HasPrefix(content, got) {
				t.Errorf("%q cut by %d bytes: %d bytes, want %d, %v", c.write, n, len(got), len(want), err)
			}
		}
	}
}

// runDamaged returns what a program restores before it fails.
func runDamaged(t *testing.T, packed []byte, args []string) []byte {
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, args[0]), args[1:]...)
	cmd.Stdin = bytes.NewReader(packed)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out
}

// TestFlip changes a bit in the middle, and gives what the format's own program gives before its
// error. Up to there, both decode the same wrong content. The files are larger and smaller than the
// dictionary of LZMA.
func TestFlip(t *testing.T) {
	content := corpus.ByName("text").Make(600_000)
	for _, c := range []struct {
		write, read string
		lost        int // bytes that may be missing
	}{
		{"lzip -c", "lzip -dc", 0}, {"lzip -c -s 64KiB", "lzip -dc", 0},
		{"xz -c --format=lzma", "xz -dc", 0}, {"xz -c --format=lzma --lzma1=dict=64KiB", "xz -dc", 0},
		{"xz -c", "xz -dc", xzStep}, {"lz4 -BD -B4 -BX -c", "lz4 -dc", 0},
	} {
		packed := run(t, content, strings.Fields(c.write))
		f := Detect(packed[:MagicSize], "")
		packed[len(packed)/2] ^= 4
		want := runDamaged(t, packed, strings.Fields(c.read))
		got, err := io.ReadAll(f.NewReader(bytes.NewReader(packed), 0))
		if !errors.Is(err, ErrCorrupt) || !bytes.HasPrefix(want, got) || len(got) < len(want)-c.lost {
			t.Errorf("%q: %d bytes, want %d, %v", c.write, len(got), len(want), err)
		}
		if len(want) < len(content)/3 {
			t.Errorf("%q gives %d bytes", c.read, len(want))
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
	for _, large := range []string{"LZIP\x01\x1d", "]\x00\x00\x00\x20" + strings.Repeat("\xff", 8)} {
		r := Detect([]byte(large+"\x00"), "").NewReader(strings.NewReader(large+"\x00"), 0)
		if _, err := io.ReadAll(r); !errors.Is(err, ErrMemory) {
			t.Errorf("%q: %v", large, err)
		}
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
		"a.z": "a .Z compress", "a.XZ": "a .xz xz", "a.TLZ4": "a.tar .tlz4 lz4", "a.tb2": "a.tar .tb2 bzip2",
		"a.lz": "a .lz lzip", "a.tlz": "a.tar .tlz lzip", "a.lzma": "a .lzma lzma",
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
		var trailing *TrailingError
		format := Detect(packed[:min(len(packed), MagicSize)], "x.br")
		r := io.LimitReader(format.NewReader(bytes.NewReader(packed), 1<<20), 1<<20)
		if _, err := io.Copy(io.Discard, r); err != nil && !errors.Is(err, ErrCorrupt) &&
			!errors.Is(err, ErrCut) && !errors.Is(err, ErrFeature) && !errors.Is(err, ErrMemory) &&
			!errors.As(err, &trailing) {
			t.Error(err)
		}
	})
}
