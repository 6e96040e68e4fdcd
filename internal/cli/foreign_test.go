package cli

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestForeignFormats restores files of formats that pz does not write.
func TestForeignFormats(t *testing.T) {
	content := string(corpus.ByName("log").Make(60_000))
	for _, suffix := range []string{".xz", ".bz2", ".Z", ".lz", ".lzma"} {
		data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		packed := string(data)
		dir := t.TempDir()
		path := write(t, packed, dir, "log"+suffix)
		pz(t, "", "-t", path).want(t, exitOK)
		pz(t, "", "-tv", path).want(t, exitOK, "60000 bytes of content")
		pz(t, "", "-d", path).want(t, exitOK)
		wantFiles(t, dir, "log", "log"+suffix)
		if got, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(got) != content {
			t.Errorf("%s: other content, %v", suffix, err)
		}
		for _, args := range [][]string{{"-dc"}, {"-dcf"}} {
			got := runProcess(t, strings.NewReader(packed), args...).want(t, exitOK).out
			if got != content {
				t.Errorf("%s: other content through a pipe", suffix)
			}
			if got := pz(t, "", append(args, path)...).want(t, exitOK).out; got != content {
				t.Errorf("%s: other content by -dc", suffix)
			}
		}
		pz(t, "", "-l", path).want(t, exitError, "; use -t or -d, which read such files")
		pz(t, "", "--recover", "-c", path).want(t, exitError,
			`; use "pz -dc FILE", which restores the content before damage`)
		// A name without a suffix, a recursive run, and --rm, which keeps a file whose damage may
		// go unseen.
		plain := write(t, packed, dir, "plain")
		pz(t, "", "-d", plain).want(t, exitWarning, "has an unknown suffix")
		pz(t, "", "-d", "-o", filepath.Join(dir, "named"), plain).want(t, exitOK)
		tree := filepath.Join(dir, "tree")
		if err := os.Mkdir(tree, 0o777); err != nil {
			t.Fatal(err)
		}
		other := write(t, packed, tree, "x"+suffix)
		pz(t, "", "-tr", tree).want(t, exitOK)
		pz(t, "", "-dr", tree).want(t, exitOK)
		wantFiles(t, tree, "x", "x"+suffix)
		os.Remove(filepath.Join(tree, "x"))
		if suffix == ".Z" || suffix == ".lzma" {
			pz(t, "", "-d", "--rm", other).want(t, exitWarning, "; the file is not removed\n")
			wantFiles(t, tree, "x", "x"+suffix)
		} else {
			pz(t, "", "-d", "--rm", other).want(t, exitOK)
			wantFiles(t, tree, "x")
		}
	}
}

// TestForeignDamage restores damaged files: an error, and no result.
func TestForeignDamage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log.xz"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cut := write(t, string(data[:len(data)/2]), dir, "cut.xz")
	pz(t, "", "-d", cut).want(t, exitError, "is cut short; the end is missing; "+dcBeforeDamage+"\n")
	pz(t, "", "-dc", cut).want(t, exitError, "is cut short; the end is missing\n")
	bad := bytes.Clone(data)
	bad[len(bad)/2] ^= 1
	path := write(t, string(bad), dir, "bad.xz")
	pz(t, "", "-d", "--rm", path).want(t, exitError, "is damaged; "+dcBeforeDamage+"\n")
	pz(t, "", "-tv", path).want(t, exitError, "is damaged; "+dcBeforeDamage+"; details: xz data damaged")
	wantFiles(t, dir, "bad.xz", "cut.xz")
	text := write(t, "no brotli", dir, "text.br")
	pz(t, "", "-d", text).want(t, exitError)
	wantFiles(t, dir, "bad.xz", "cut.xz", "text.br")
}

// TestMissingFilter reads xz files with filters that pz does not have. Older versions of xz lack
// them too. So the test replaces the ID of another filter.
func TestMissingFilter(t *testing.T) {
	const sparc, lzma2 = 0x09, "\x21\x01"
	for id, want := range map[byte]string{
		0x0a: `the filter for ARM64, which pz does not have; use "xz -dc FILE"`,
		0x0b: `the filter for RISC-V, which pz does not have; use "xz -dc FILE"`,
		0x0c: "a feature that pz does not have",
	} {
		for _, options := range []string{
			"--sparc", "--sparc=start=4096", "--delta --sparc", "--sparc --delta",
			"--sparc -T2 --block-size=4096",
		} {
			p := []byte(runTool(t, sample(10_000), "xz", strings.Fields("-c "+options+" --lzma2")...))
			size := 4 + 4*int(p[12]) // of the block's header
			p[bytes.LastIndexByte(p[:bytes.Index(p, []byte(lzma2))], sparc)] = id
			header := p[12 : 12+size]
			binary.LittleEndian.PutUint32(header[size-4:], crc32.ChecksumIEEE(header[:size-4]))
			pz(t, string(p), "-dc").want(t, exitError, "needs "+want)
		}
	}
}

// TestForeignHead restores what is left if nearly all of a file is lost: an error, and it stays.
func TestForeignHead(t *testing.T) {
	const gone = "is cut short; the end is missing"
	_, files := packedLog(t)
	for suffix, n := range map[string]int{".lz": 8, ".lzma": 15} {
		dir := t.TempDir()
		head := files[suffix][:n]
		path := write(t, head, dir, "a"+suffix)
		for _, flags := range []string{"-t", "-d --rm", "-x", "-l --tar"} {
			pz(t, "", append(strings.Fields(flags), path)...).want(t, exitError, gone)
		}
		wantFiles(t, dir, "a"+suffix)
		runProcess(t, strings.NewReader(head), "-dc").want(t, exitError, gone)
		if suffix == ".lz" {
			pz(t, files[".gz"]+head, "-dc").want(t, exitError, gone)
		}
	}
}

// TestExtractDamage extracts an archive that lzip has written, with damage in the middle: the files
// in front of it, even though the whole archive fits the dictionary.
func TestExtractDamage(t *testing.T) {
	var headers []tar.Header
	for i := range 100 {
		headers = append(headers, tar.Header{Name: fmt.Sprintf("f%02d", i)})
	}
	cmd := exec.Command(testenv.Tool(t, "lzip"), "-c")
	cmd.Stdin = strings.NewReader(tarOf(t, headers...))
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := write(t, flip(string(packed), len(packed)*3/4), dir, "a.tar.lz")
	out := filepath.Join(dir, "out")
	const partial = "only the entries in front of that were read"
	pz(t, "", "-x", "--output-dir", out, path).want(t, exitError, partial)
	found, err := os.ReadDir(out)
	if err != nil || len(found) < 50 || len(found) == len(headers) {
		t.Errorf("%d files of %d, %v", len(found), len(headers), err)
	}
	list := pz(t, "", "-lq", "--tar", path).want(t, exitError).out
	if n := strings.Count(list, "\n"); n < len(found) {
		t.Errorf("%d entries of %d in the list", n, len(found))
	}
}

// TestForeignPart restores files of pz that files of other formats follow, from FILE and from
// pipes.
func TestForeignPart(t *testing.T) {
	content := string(corpus.ByName("log").Make(60_000))
	first := sample(200_000)
	for _, format := range []string{"pz", "gz", "zst"} {
		ours := pz(t, first, "--format", format).want(t, exitOK).out
		for _, suffix := range []string{".xz", ".bz2"} {
			data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log"+suffix))
			if err != nil {
				t.Fatal(err)
			}
			both, dir := ours+string(data), t.TempDir()
			path := write(t, both, dir, "a."+format)
			pz(t, "", "-d", "--rm", path).want(t, exitOK)
			wantFiles(t, dir, "a")
			wantFile(t, filepath.Join(dir, "a"), first+content)
			write(t, both, path)
			pz(t, "", "-tv", path).want(t, exitOK, "260000 bytes of content, ", fmt.Sprint(len(both)))
			got := runProcess(t, strings.NewReader(both), "-dc").want(t, exitOK).out
			wantContent(t, got, first+content)
			wantContent(t, pz(t, both, "-dc").want(t, exitOK).out, first+content)
			// The first write to the pipe ends within the magic number.
			at := len(ours) + 1
			halves := io.MultiReader(strings.NewReader(both[:at]), strings.NewReader(both[at:]))
			wantContent(t, runProcess(t, halves, "-dc").want(t, exitOK).out, first+content)
			code := exitWarning
			if format == "zst" {
				code = exitError
			}
			pz(t, "", "-l", path).want(t, code, "goes on in another format", "-d restores all")
			bad := flip(both, len(both)-len(data)/2)
			pz(t, "", "-t", write(t, bad, dir, "bad")).want(t, exitError, "bad: is damaged")
		}
		// Garbage, some of which begins like a file of compress or bzip2.
		for _, rest := range []string{"\x1f\x9d\x90 garbage", "BZ", "text that goes on for a while"} {
			path := write(t, ours+rest, t.TempDir(), "a")
			r := pz(t, "", "-t", path)
			if r.code == exitOK || strings.Contains(r.err, "another format") {
				t.Errorf(".%s and %q: %+v", format, rest, r)
			}
		}
	}
}

// packedLog returns files of all formats with checksums, by suffix, and their content.
func packedLog(t *testing.T) (content string, files map[string]string) {
	t.Helper()
	content = string(corpus.ByName("log").Make(60_000))
	files = map[string]string{}
	for _, f := range formats {
		files["."+f.String()] = pz(t, content, "--format", f.String()).want(t, exitOK).out
	}
	for _, suffix := range []string{".xz", ".bz2", ".lz", ".lzma"} {
		data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = string(data)
	}
	return content, files
}

// TestBehindEnd puts plain data behind compressed data. Without -f pz does what the format's own
// program does (xz 5.4, bzip2 1.0.8, lzip 1.23), but a warning has exit code 2 as in gzip. With
// -dcf it prints the data, as gzip 1.12 and zstd 1.5 do.
func TestBehindEnd(t *testing.T) {
	content, files := packedLog(t)
	codes := map[string]int{
		".pz": exitWarning, ".gz": exitWarning, ".zst": exitError, ".xz": exitError, ".bz2": exitWarning,
		".lz": exitOK, ".lzma": exitError,
	}
	for suffix, packed := range files {
		dir := t.TempDir()
		for _, rest := range []string{
			"plain text\n", "x", "text and then " + files[".gz"], "\x00\x00\x00\x00",
		} {
			code := codes[suffix]
			if rest[0] == 0 && (suffix == ".gz" || suffix == ".xz") {
				code = exitOK // is padding
			}
			both := packed + rest
			path := write(t, both, dir, "a"+suffix)
			for _, r := range []result{
				pz(t, "", "-dc", path), runProcess(t, strings.NewReader(both), "-dc"),
			} {
				if r.code != code || r.out != content {
					t.Errorf("%s and %q: exit code %d, %d bytes: %s", suffix, rest, r.code, len(r.out), r.err)
				}
			}
			pz(t, "", "-t", path).want(t, code, "")
			want := content + rest
			if rest[0] == 0 && (suffix == ".gz" || suffix == ".xz") {
				want = content
			}
			for _, r := range []result{
				pz(t, "", "-dcf", path), runProcess(t, strings.NewReader(both), "-dcf"),
			} {
				if r.code != exitOK || r.out != want {
					t.Errorf("-dcf, %s and %q: exit code %d, %d bytes: %s", suffix, rest, r.code,
						len(r.out), r.err)
				}
			}
			os.Remove(filepath.Join(dir, "a"))
			pz(t, "", "-d", "--rm", path).want(t, code, "")
			if exists(filepath.Join(dir, "a")) != (code != exitError) {
				t.Errorf("%s and %q: the result is not there, or is", suffix, rest)
			}
		}
	}
}

// TestPassThrough compares -dcf with gzip and zstd on data that is partly compressed.
func TestPassThrough(t *testing.T) {
	_, files := packedLog(t)
	for suffix, tool := range map[string]string{".gz": "gzip", ".zst": "zstd"} {
		packed := files[suffix]
		for _, rest := range []string{
			"text", "text" + packed, packed + "text", "\x00\x00text", "x", "PZ is text", "BZh9 is text",
			"LZIP is text",
		} {
			path := write(t, packed+rest, t.TempDir(), "a")
			want := runTool(t, "", tool, "-dcf", path)
			wantContent(t, pz(t, "", "-dcf", path).want(t, exitOK).out, want)
			wantContent(t, runProcess(t, strings.NewReader(packed+rest), "-dcf").want(t, exitOK).out, want)
		}
	}
	// The magic number of snappy, S2 or compress begins no such file.
	for _, plain := range []string{
		"\xff\x06\x00\x00sNaPpYtext", "\xff\x06\x00\x00S2sTwO\n", "\x1f\x9dtext and more",
	} {
		wantContent(t, pz(t, plain, "-dcf").want(t, exitOK).out, plain)
		content := pz(t, files[".gz"], "-dc").out + plain
		wantContent(t, pz(t, files[".gz"]+plain, "-dcf").want(t, exitOK).out, content)
		pz(t, plain, "-d").want(t, exitError)
	}
}

// TestCompressBehind puts a file of compress behind others, as gzip takes it.
func TestCompressBehind(t *testing.T) {
	content, files := packedLog(t)
	data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log.Z"))
	if err != nil {
		t.Fatal(err)
	}
	packed := string(data)
	for _, first := range []string{".gz", ".zst", ".pz", ".xz"} {
		both := files[first] + packed
		path := write(t, both, t.TempDir(), "a"+first)
		for _, args := range []string{"-dc", "-dcf"} {
			wantContent(t, pz(t, "", args, path).want(t, exitOK).out, content+content)
			wantContent(t, runProcess(t, strings.NewReader(both), args).want(t, exitOK).out, content+content)
		}
		if first == ".gz" {
			wantContent(t, runTool(t, both, "gzip", "-dc"), content+content)
		}
	}
}

// TestForeignFirst puts files of pz and of other formats behind files of other formats.
func TestForeignFirst(t *testing.T) {
	content, files := packedLog(t)
	for first, packed := range files {
		for second, more := range files {
			if second == ".lzma" {
				continue // has no checksum
			}
			both := packed + more
			path := write(t, both, t.TempDir(), "a"+first)
			wantContent(t, pz(t, "", "-dc", path).want(t, exitOK).out, content+content)
			wantContent(t, runProcess(t, strings.NewReader(both), "-dc").want(t, exitOK).out, content+content)
			bad := flip(both, len(both)-len(more)/2)
			r := pz(t, "", "-t", write(t, bad, path))
			if r.code != exitError {
				t.Errorf("%s and damaged %s: exit code %d: %s", first, second, r.code, r.err)
			}
		}
	}
}

// TestExtractBehindEnd extracts archives with other data behind their end, as tar does.
func TestExtractBehindEnd(t *testing.T) {
	archive := tarOf(t, tar.Header{Name: "a"}, tar.Header{Name: "b"})
	for _, c := range []struct {
		suffix string
		args   []string
		code   int
	}{
		{"tgz", []string{"gzip", "-c"}, exitWarning},
		{"tar.bz2", []string{"bzip2", "-c"}, exitWarning},
		{"tar.lz4", []string{"lz4", "-qc"}, exitError},
		{"tlz4", []string{"lz4", "-qcl"}, exitError},
		{"tar.xz", []string{"xz", "-c"}, exitError},
		{"tar.zst", []string{"zstd", "-qc"}, exitError},
		{"tar.lzma", []string{"xz", "-c", "--format=lzma"}, exitError},
		{"tar.lz", []string{"lzip", "-c"}, exitOK},
		{"tlz", []string{"lzip", "-c"}, exitOK},
	} {
		packed := runTool(t, archive, c.args[0], c.args[1:]...)
		for _, rest := range []string{"", "text behind it"} {
			code := c.code
			if rest == "" {
				code = exitOK
			}
			dir := t.TempDir()
			path := write(t, packed+rest, dir, "x."+c.suffix)
			for i, args := range [][]string{{path}, {"-"}} {
				out := filepath.Join(dir, fmt.Sprint(i))
				stdin := strings.NewReader(packed + rest)
				args := append([]string{"-x", "--output-dir", out}, args...)
				runProcess(t, stdin, args...).want(t, code, "")
				wantFiles(t, out, "a", "b")
			}
			got := pz(t, "", "-l", "--tar", "-q", path)
			if got.code != code && !(got.code == exitOK && code == exitWarning) || got.out != "a\nb\n" {
				t.Errorf("-l --tar %s and %q: %+v", c.suffix, rest, got)
			}
		}
	}
}
