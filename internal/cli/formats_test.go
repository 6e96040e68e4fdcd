package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

// runTool runs a program with in as its standard input and returns its standard output.
func runTool(t *testing.T, in string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, errs.String())
	}
	return out.String()
}

// contents are inputs of all kinds.
var contents = map[string]string{
	"empty": "",
	"one":   "x",
	"text":  sample(300_000),
	"noise": noise(100_000),
	"zeros": string(make([]byte, 200_000)),
}

// Magic numbers of the formats.
const (
	pzMagic  = "PZ"
	gzMagic  = "\x1f\x8b\x08"
	zstMagic = "\x28\xb5\x2f\xfd"
)

// TestFormats checks that each option that names a format gives files of that format and suffix. pz
// restores them from files and from pipes.
func TestFormats(t *testing.T) {
	for i, c := range []struct{ args, suffix, magic string }{
		{"", ".pz", pzMagic},
		{"--format pz", ".pz", pzMagic},
		{"--format=pz -p lzr", ".pz", pzMagic},
		{"-p lzseqr", ".pz", pzMagic},
		{"--format gz", ".gz", gzMagic},
		{"--format .gz", ".gz", gzMagic},
		{"--format gzip", ".gz", gzMagic},
		{"-p deflate", ".gz", gzMagic},
		{"--format gz -p deflate", ".gz", gzMagic},
		{"--format gzip -p deflate", ".gz", gzMagic},
		{"--format zst", ".zst", zstMagic},
		{"--format=zstd", ".zst", zstMagic},
		{"-p lzf", ".zst", zstMagic},
		{"-p lzf -S .x", ".x", zstMagic},
	} {
		for j, name := range slices.Sorted(maps.Keys(contents)) {
			if oneOf(3, i, j) {
				testFormat(t, strings.Fields(c.args), c.suffix, c.magic, name, contents[name])
			}
		}
	}
}

// TestRsyncable compares the files of --rsyncable with those of the library, from FILE and standard
// input.
func TestRsyncable(t *testing.T) {
	content := sample(700_000)
	in := write(t, content, t.TempDir(), "a")
	for f, args := range map[compress.Format]string{
		compress.PZ: "-c", compress.Gzip: "-nc --format gz", compress.Zstd: "-c --format zst",
	} {
		for _, size := range []int{0, 32 << 10} {
			all := append(strings.Fields(args), "--rsyncable")
			if size > 0 {
				all = append(all, fmt.Sprint("-B", size))
			}
			opts := []compress.WriterOption{
				compress.WithFormat(f), compress.WithRsyncable(true), compress.WithBlockSize(size),
			}
			sized, err := compress.AppendEncode(nil, []byte(content), opts...)
			if err != nil {
				t.Fatal(err)
			}
			if got := pz(t, "", append(all, in)...).want(t, exitOK).out; got != string(sized) {
				t.Errorf("%v, blocks of %d: file differs", f, size)
			}
			if got := pz(t, content, all...).want(t, exitOK).out; got != string(sized) {
				t.Errorf("%v, blocks of %d: file from standard input differs", f, size)
			}
		}
	}
}

func testFormat(t *testing.T, args []string, suffix, magic, name, content string) {
	t.Helper()
	dir := t.TempDir()
	in := write(t, content, dir, name)
	pz(t, "", append(args, "-T3", "-B64K", "--rm", in)...).want(t, exitOK)
	wantFiles(t, dir, name+suffix)
	b, _ := os.ReadFile(in + suffix)
	if !strings.HasPrefix(string(b), magic) {
		t.Errorf("%q, %s: the file begins with % x", args, name, b[:min(8, len(b))])
	}
	pz(t, "", "-t", in+suffix).want(t, exitOK)
	if got := pz(t, "", "-dc", in+suffix).want(t, exitOK).out; got != content {
		t.Errorf("%q, %s: got %d bytes back, want %d", args, name, len(got), len(content))
	}
	if name == "text" || name == "empty" { // two contents suffice for pipes
		piped := runProcess(t, strings.NewReader(content), args...).want(t, exitOK).out
		got := runProcess(t, strings.NewReader(piped), "-d").want(t, exitOK).out
		if got != content {
			t.Errorf("%q, %s, pipe: got %d bytes back, want %d", args, name, len(got), len(content))
		}
	}
	// -d ignores --format.
	pz(t, "", append(args, "-d", "--rm", "-S", suffix, in+suffix)...).want(t, exitOK)
	wantFile(t, in, content)
	wantFiles(t, dir, name)
}

// TestFormatOfOutputName checks that the suffix of -o sets the format unless --format or -p does.
func TestFormatOfOutputName(t *testing.T) {
	for _, c := range []struct{ args, name, magic string }{
		{"", "x.pz", pzMagic},
		{"", "x.gz", gzMagic},
		{"", "x.tgz", gzMagic},
		{"-9", "x.zst", zstMagic},
		{"", "x.tar.zst", zstMagic},
		{"", "x.GZ", gzMagic},
		{"", "x", pzMagic},
		{"", ".gz", pzMagic},
		{"", "gz", pzMagic},
		{"-S .zst", "x.gz", gzMagic},
	} {
		dir := t.TempDir()
		out := filepath.Join(dir, c.name)
		in := write(t, "content", dir, "in")
		pz(t, "", append(strings.Fields(c.args), "-o", out, in)...).want(t, exitOK)
		b, err := os.ReadFile(out)
		if err != nil || !strings.HasPrefix(string(b), c.magic) {
			t.Errorf("%s -o %s: the file begins with % x, %v",
				c.args, c.name, b[:min(8, len(b))], err)
		}
		// When restoring, the name of the result says nothing about the source.
		pz(t, "", "-d", "-o", filepath.Join(dir, "back.zst"), out).want(t, exitOK)
		wantFile(t, filepath.Join(dir, "back.zst"), "content")
	}
}

// TestMisleadingName checks the warning about a name of -o that stands for another format than that
// of --format or -p.
func TestMisleadingName(t *testing.T) {
	for _, c := range []struct{ args, name, format string }{
		{"--format pz", "x.xz", ".pz"},
		{"--format pz", "x.GZ", ".pz"},
		{"--format zst", "x.gz", ".zst"},
		{"--format zst", "x.pz", ".zst"},
		{"-p lzr", "x.gz", ".pz"},
		{"-p deflate", "x.tzst", ".gz"},
		{"", "x", ""},
		{"", "x.dat", ""},
		{"", ".xz", ""},
		{"--format gz", "x.GZ", ""},
		{"-S .xz", "x.xz", ""},
		{"-q --format gz", "x.xz", ""},
	} {
		dir := t.TempDir()
		in, out := write(t, "content", dir, "in"), filepath.Join(dir, c.name)
		want := ""
		if c.format != "" {
			want = fmt.Sprintf("pz: %s: contains %s data; the suffix does not say so\n", out, c.format)
		}
		r := pz(t, "", append(strings.Fields(c.args), "-o", out, in)...)
		if r.code != exitOK || r.err != want {
			t.Errorf("%s -o %s: exit code %d, message %q, want %q", c.args, c.name, r.code, r.err, want)
		}
		if format := "." + formatOf(t, out); c.format != "" && format != c.format {
			t.Errorf("%s -o %s: the file has format %s, want %s", c.args, c.name, format, c.format)
		}
		// When restoring, the name of the result says nothing about its format.
		pz(t, "", "-d", "-o", filepath.Join(dir, "back.xz"), out).want(t, exitOK)
	}
	if r := pz(t, "content", "-o", "/dev/null"); r.err != "" {
		t.Errorf("-o /dev/null: %s", r.err)
	}
}

// formatOf returns the name of the format of a file.
func formatOf(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := compress.DetectFormat(b)
	if !ok {
		t.Fatalf("%s is in no known format", path)
	}
	return f.String()
}

// TestParts checks that -v counts what -l lists: blocks, members or frames.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(50_000), dir, "in")
	for args, want := range map[string]string{
		"-B4K --format=pz": " 13 blocks, ", "-B4K --format=gz": " 1 member, ",
		"-B4K --format=zst": " 1 frame, ", "--seekable=4K --format=zst": " 13 frames, ",
		"-B4K --parity=5 --format=zst": " 13 frames, ",
	} {
		format, out := args, filepath.Join(dir, "out")
		pz(t, "", append(strings.Fields(args), "-vfo", out, in)...).want(t, exitOK, want)
		listed := strings.Fields(pz(t, "", "-lq", out).out)[0]
		if listed != strings.Fields(want)[0] {
			t.Errorf("%s: -l lists %s, -v says%s", format, listed, want)
		}
	}
}

func TestFormatErrors(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"--format xz", "--format xz: the format must be pz, gz (gzip) or zst (zstd)"},
		{"--format GZ", "the format must be pz, gz (gzip) or zst (zstd), in lower case"},
		{"--format", "--format needs a value"},
		{"--format=zst -p deflate", "-p deflate writes .gz files; use it without --format zst"},
		{"--format=zstd -p deflate", "-p deflate writes .gz files; use it without --format zst"},
		{"-p lzr --format gz", "-p lzr writes .pz files; use it without --format gz"},
		{"-d -p lzr --format gz", "use it without --format"},
		{"-p lzf -B 64M", "-B: "},
		{"-p zst",
			"-p zst: the pipelines are lzr, lzseqr, deflate, lzf; did you mean --format zst?"},
		{"-p4", "-p 4: the pipelines are lzr, lzseqr, deflate, lzf; did you mean -T 4?"},
		{"-p gzip", "; did you mean --format gz?"},
		{"--gzip", "did you mean --format gz?"},
		{"-n=x", "takes no value"},
	} {
		pz(t, "", strings.Fields(c.args)...).want(t, exitError, c.text, " (try pz --help)\n")
	}
	pz(t, "text", "-d", "-p", "lzf", "-B64M").want(t, exitError, unknownFormat) // -d ignores -B
	pz(t, "", "-h", "--format", "xz").want(t, exitOK)
}

// TestFormatTools checks that the usual programs restore files of pz, and pz those of the programs,
// at many levels and concatenated.
func TestFormatTools(t *testing.T) {
	t.Run("gz", func(t *testing.T) {
		testTools(t, "gz",
			[]string{"gzip -1", "gzip -6", "gzip -9", "pigz -1", "pigz -9", "pigz -b 128 -p 3",
				"pigz -i", "libdeflate-gzip -12"},
			[]string{"gzip -dc", "pigz -dc", "libdeflate-gunzip -c"})
	})
	t.Run("zst", func(t *testing.T) {
		testTools(t, "zst",
			[]string{"zstd -1", "zstd -3", "zstd -19", "zstd --fast=5", "zstd --no-check",
				"zstd --long=27", "zstd -T2 -B512K", "zstd --no-content-size"},
			[]string{"zstd -dc"})
	})
}

// testTools checks one format. pack and unpack are commands of other programs.
func testTools(t *testing.T, format string, pack, unpack []string) {
	all, packed := "", ""
	for i, name := range slices.Sorted(maps.Keys(contents)) {
		content := contents[name]
		ours := pz(t, content, "--format", format, "-T2", "-B16K").want(t, exitOK).out
		all, packed = all+content, packed+ours
		for _, u := range unpack {
			args := strings.Fields(u)
			if got := runTool(t, ours, args[0], args[1:]...); got != content {
				t.Errorf("%s, %s: got %d bytes, want %d", u, name, len(got), len(content))
			}
		}
		path := write(t, content, t.TempDir(), name)
		for j, p := range pack {
			if name != "text" && !oneOf(3, i, j) {
				continue
			}
			// From a pipe, and by name, so that the program knows the size.
			args := strings.Fields(p)
			piped := runTool(t, content, args[0], append(args[1:], "-c")...)
			named := runTool(t, "", args[0], append(args[1:], "-c", path)...)
			for _, theirs := range []string{piped, named} {
				if got := pz(t, theirs, "-d").want(t, exitOK).out; got != content {
					t.Errorf("%s, %s: got %d bytes, want %d", p, name, len(got), len(content))
				}
				all, packed = all+content, packed+theirs
			}
		}
	}
	if got := pz(t, packed, "-d").want(t, exitOK).out; got != all {
		t.Errorf("concatenated: got %d bytes, want %d", len(got), len(all))
	}
	if got := runProcess(t, strings.NewReader(packed), "-d", "-T2").want(t, exitOK).out; got != all {
		t.Errorf("concatenated, through a pipe: got %d bytes, want %d", len(got), len(all))
	}
}

// TestSuffixes checks the names of results for all formats and suffixes.
func TestSuffixes(t *testing.T) {
	packed := map[string]string{}
	for _, f := range formats {
		packed[f.String()] = pz(t, "content", "--format", f.String()).out
	}
	for i, c := range []struct{ from, to string }{
		{"a.pz", "a"},
		{"a.gz", "a"},
		{"a.zst", "a"},
		{"a.tgz", "a.tar"},
		{"a.tzst", "a.tar"},
		{"a.tar.gz", "a.tar"},
		{"a.gz.zst", "a.gz"},
		{".gz", ""},
		{".tgz", ""},
		{"gz", ""},
		{"a.GZ", "a"},
		{"a.Tar.Zst", "a.Tar"},
		{"a.TGZ", "a.tar"},
		{"a-gz", "a"},
		{"-gz", ""},
		{"a-z", ""},
		{"a.txt", ""},
		{"a.pzz", ""},
	} {
		for j, f := range slices.Sorted(maps.Keys(packed)) { // the suffix need not match the format
			if oneOf(2, i, j) {
				testSuffix(t, c.from, c.to, f, packed[f])
			}
		}
	}
	// -S adds a suffix and keeps the others.
	dir := t.TempDir()
	in := write(t, packed["gz"], dir, "a.x")
	pz(t, "", "-d", "-S.x", in).want(t, exitOK)
	wantFiles(t, dir, "a", "a.x")
	pz(t, "", "-d", "-S.x", "-f", write(t, packed["zst"], dir, "a.zst")).want(t, exitOK)
	pz(t, "", "-S.y", write(t, "content", dir, "b")).want(t, exitOK)
	pz(t, "", "--format", "gz", "-S.z", filepath.Join(dir, "b")).want(t, exitOK)
	wantFiles(t, dir, "a", "a.x", "a.zst", "b", "b.y", "b.z")

	// A missing suffix gives a hint.
	os.Remove(filepath.Join(dir, "a"))
	pz(t, "", "-d", filepath.Join(dir, "a")).want(t, exitError,
		"no such file", "; did you mean ", "a.zst?\n")
}

// testSuffix restores a file called from and checks that the result is called to, or that there is
// none if to is "". Then it compresses the file again.
func testSuffix(t *testing.T, from, to, format, packed string) {
	t.Helper()
	dir := t.TempDir()
	in := write(t, packed, dir, from)
	if to == "" {
		pz(t, "", "-d", in).want(t, exitWarning, "has an unknown suffix -- ignored")
		wantFiles(t, dir, from)
	} else {
		pz(t, "", "-d", in).want(t, exitOK)
		wantFile(t, filepath.Join(dir, to), "content")
		os.Remove(filepath.Join(dir, to))
	}
	pz(t, "", "-d", "-o", filepath.Join(dir, "out"), in).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "out"), "content")
	os.Remove(filepath.Join(dir, "out"))
	// To compress a compressed file again needs -f.
	if to != "" {
		ext := from[strings.LastIndexAny(from, ".-"):]
		pz(t, "", "--format", format, in).want(t, exitWarning,
			"already has suffix "+strings.ToLower(ext)+" -- not compressed")
	}
	pz(t, "", "--format", format, "-f", in).want(t, exitOK)
	wantFiles(t, dir, from, from+"."+format)
}

func TestDirectoriesOfFormats(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i, f := range []string{"gz", "pz", "zst"} {
		name := fmt.Sprint(i)
		write(t, pz(t, "content "+name, "--format", f).out, dir, name+"."+f)
		want = append(want, name)
	}
	write(t, "plain", dir, "p")
	pz(t, "", "-rfv", "--format", "zst", dir).want(t, exitOK,
		`0.gz: already has suffix .gz -- ignored; "pz -f FILE" compresses it again`)
	wantFiles(t, dir, "0.gz", "1.pz", "2.zst", "p", "p.zst")
	pz(t, "", "-rtv", dir).want(t, exitOK, "p: has no suffix of compressed files -- ignored")
	os.Remove(filepath.Join(dir, "p"))
	pz(t, "", "-rd", "--rm", dir).want(t, exitOK)
	wantFiles(t, dir, append(want, "p")...)
	for _, name := range want {
		wantFile(t, filepath.Join(dir, name), "content "+name)
	}
}
