package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

// TestIndex writes indexes, and lists files by them.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	content := noise(2_000_000)
	packed := pz(t, content, "--format", "gz").out
	in := write(t, packed, dir, "a.gz")
	pz(t, "", "--index", in).want(t, exitOK)
	wantFiles(t, dir, "a.gz", "a.gz.gzidx")
	// It does not overwrite a file without -f.
	side := write(t, "mine", dir, "a.gz.gzidx")
	pz(t, "", "--index", in).want(t, exitWarning, "a.gz.gzidx: already exists")
	wantFile(t, side, "mine")
	pz(t, "", "-l", in).want(t, exitWarning, "a.gz.gzidx: is not used")
	pz(t, "", "--index", "-f", in).want(t, exitOK)

	var got []map[string]any
	out := pz(t, "", "-l", "--json", in).want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 {
		t.Fatal(out, err)
	}
	l := got[0]
	if l["index"] != side || l["seekable"] != true || l["uncompressed"] != 2e6 ||
		l["check"] != "crc32" || l["blocks"].(float64) < 3 {
		t.Errorf("%v", l)
	}

	for _, args := range [][]string{
		{"--index", in, "-o", filepath.Join(dir, "b.gzi")}, {"--index", "-c", in},
	} {
		p := []byte(pz(t, "", args...).want(t, exitOK).out)
		if args[1] == in {
			p, _ = os.ReadFile(filepath.Join(dir, "b.gzi"))
			if !bytes.HasPrefix(p, []byte("\x00\x00\x00\x00\x00\x00\x00\x00gzipindx")) {
				t.Errorf("-o b.gzi: %q", p[:min(len(p), 20)])
			}
		}
		r, err := compress.NewReaderAt(strings.NewReader(packed), int64(len(packed)),
			compress.WithIndex(bytes.NewReader(p), int64(len(p))))
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1000)
		if _, err := r.ReadAt(b, 1_500_000); err != nil || string(b) != content[1_500_000:1_501_000] {
			t.Errorf("%q: %v", args, err)
		}
		r.Close()
	}
}

// TestIndexErrors asks for indexes that cannot be.
func TestIndexErrors(t *testing.T) {
	dir := t.TempDir()
	packed := pz(t, sample(100_000), "--format", "gz").out
	for name, c := range map[string]struct{ content, text string }{
		"a.pz":      {pz(t, "x").out, "is not a .gz file, which --index needs"},
		"cut.gz":    {packed[:len(packed)-20], "is cut short"},
		"behind.gz": {packed + "garbage", "has other data behind its content"},
	} {
		in := write(t, c.content, dir, name)
		pz(t, "", "--index", in).want(t, exitError, name+": "+c.text)
		if exists(in + indexSuffix) {
			t.Errorf("%s has an index", name)
		}
	}
	in := write(t, packed, dir, "good.gz")
	pz(t, "", "--index", "--rm", in).want(t, exitError, "--index does not go with")
	runProcess(t, strings.NewReader(packed), "--index", "-c").want(t, exitError, "is not a regular file")
}

// TestIndexBroken has indexes beside an intact .gz file that are of no use: empty, cut short,
// damaged, of another file, and of the file before it was written anew. Each is left aside with a
// warning.
func TestIndexBroken(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const tree = "tree"
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	content := noise(2_000_000)
	write(t, content, tree, "x")
	const in, other = "a.tar.gz", "b.tar.gz"
	pz(t, "", "--tar", tree, "-o", in).want(t, exitOK)
	archived := pz(t, "", "-dc", in).want(t, exitOK).out
	write(t, "another", tree, "y")
	pz(t, "", "--tar", tree, "-o", other).want(t, exitOK)
	for _, suffix := range []string{".gzidx", ".gzi"} {
		side := in + suffix
		pz(t, "", "--index", in, "-o", side).want(t, exitOK)
		good := fileBytes(t, side)
		pz(t, "", "--index", other, "-o", other+suffix).want(t, exitOK)
		for name, index := range map[string]string{
			"empty": "", "a byte": good[:1], "cut short": good[:len(good)/2], "garbage": noise(1000),
			"another file's": fileBytes(t, other+suffix),
			"in its head":    good[:3] + "\xff" + good[4:],
		} {
			write(t, index, dir, filepath.Base(side))
			what := suffix + ", " + name
			r := pz(t, "", "-dc", "--range", "1M:1000", in).
				want(t, exitWarning, filepath.Base(side)+": is not used")
			if r.out != archived[1<<20:][:1000] {
				t.Errorf("%s: --range has other content", what)
			}
			r = pz(t, "", "-l", "--tar", in).want(t, exitWarning, "is not used")
			if !strings.Contains(r.out, "2000000") {
				t.Errorf("%s: -l --tar: %q", what, r.out)
			}
			r = pz(t, "", "-x", "-c", in, "tree/x").want(t, exitWarning, "is not used")
			if r.out != content {
				t.Errorf("%s: -x gives %d bytes of %d", what, len(r.out), len(content))
			}
		}
		os.Remove(side)
	}
}

// TestIndexedReader has an index that proves wrong when the content is read.
func TestIndexedReader(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const tree = "tree"
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	content := noise(2_000_000)
	write(t, content, tree, "x")
	const in = "a.tar.gz"
	pz(t, "", "--tar", tree, "-o", in).want(t, exitOK)
	pz(t, "", "--index", in).want(t, exitOK)
	// The second checkpoint of the index is one byte further on in the file.
	index := []byte(fileBytes(t, in+indexSuffix))
	const head, entry = 35, 18
	index[head+entry]++
	write(t, string(index), dir, "a.tar.gz.gzidx")
	r := pz(t, "", "-x", "-c", in, "tree/x").want(t, exitWarning, "is not used")
	if r.out != content {
		t.Errorf("-x gives %d bytes of %d", len(r.out), len(content))
	}
	archived := pz(t, "", "-dc", in).want(t, exitOK).out
	r = pz(t, "", "-dc", "--range", "1000:1500000", in).want(t, exitWarning, "is not used")
	if r.out != archived[1000:1501000] {
		t.Errorf("--range gives %d bytes", len(r.out))
	}
}

// fileBytes returns the content of a file.
func fileBytes(t *testing.T, name string) string {
	t.Helper()
	p, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}
