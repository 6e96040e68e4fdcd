package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestForeignFormats restores files of formats that pz does not write.
func TestForeignFormats(t *testing.T) {
	content := string(corpus.ByName("log").Make(60_000))
	for _, suffix := range []string{".xz", ".bz2", ".Z"} {
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
		if suffix == ".Z" {
			pz(t, "", "-d", "--rm", other).want(t, exitWarning, "; the file is not removed\n")
			wantFiles(t, tree, "x", "x.Z")
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
		// What could be garbage is garbage: formats without checksums, and text.
		for _, rest := range []string{"\x1f\x9d\x90 garbage", "BZ", "text that goes on for a while"} {
			path := write(t, ours+rest, t.TempDir(), "a")
			r := pz(t, "", "-t", path)
			if r.code == exitOK || strings.Contains(r.err, "another format") {
				t.Errorf(".%s and %q: %+v", format, rest, r)
			}
		}
	}
}
