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
