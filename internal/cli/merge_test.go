package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMerge merges copies that are damaged at different places.
func TestMerge(t *testing.T) {
	content := sample(300_000) + noise(100_000)
	for _, format := range []string{"pz", "zst", "gz"} {
		dir := t.TempDir()
		blocks := "--seekable=64K"
		if format == "gz" {
			blocks = "-B64K"
		}
		good := pz(t, content, "-c", blocks, "--format", format).want(t, exitOK).out
		third := len(good) / 3
		spoil := func(at, n int) string {
			return good[:at] + strings.Repeat("x", n) + good[at+n:]
		}
		a := write(t, spoil(third, 500), dir, "a")
		b := write(t, spoil(2*third, 4096)[:len(good)-5], dir, "b")
		out := filepath.Join(dir, "out")
		pz(t, "", "-t", a).want(t, exitError)
		pz(t, "", "-t", b).want(t, exitError)
		pz(t, "", "--merge", a, b, "-o", out).want(t, exitOK,
			a+": 4", b+": 5", " bytes that differ were taken from this copy")
		wantFile(t, out, good)
		res := pz(t, "", "-q", "--merge", "-c", b, a).want(t, exitOK)
		wantContent(t, res.out, good)
		if res.err != "" {
			t.Errorf("-q prints %q", res.err)
		}
		c := write(t, good, dir, "c")
		d := write(t, good, dir, "d")
		pz(t, "", "--merge", c, d, "-fo", out).want(t, exitOK, "the copies are equal, and intact")
		// All copies are damaged at the same place.
		e := write(t, spoil(third+100, 10), dir, "e")
		lost := "cannot be merged: the file (byte "
		if format != "gz" {
			lost = "intact in no copy: bytes "
		}
		pz(t, "", "--merge", a, e, "-o", filepath.Join(dir, "none")).want(t, exitError, lost,
			") is damaged in all copies; ")
		pz(t, "", "-v", "--merge", a, e, "-c").want(t, exitError, "; details: ")
		// A copy is not overwritten.
		pz(t, "", "--merge", "-f", a, b, "-o", b).want(t, exitError,
			b+": is one of the copies; name another file with -o")
		pz(t, "", "--merge", "-f", a, b, "-o", a).want(t, exitError, "is the input itself")
		wantFile(t, b, spoil(2*third, 4096)[:len(good)-5])
		wantFiles(t, dir, "a", "b", "c", "d", "e", "out")
	}
}

// TestMergeOthers merges files that are not copies of one file.
func TestMergeOthers(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000) + noise(100_000)
	good := pz(t, content, "-c", "-B64K").want(t, exitOK).out
	other := pz(t, noise(150_000), "-c", "-B64K").want(t, exitOK).out
	a := write(t, good, dir, "a.pz")
	for _, c := range []struct{ name, data, text string }{
		{"b.gz", pz(t, content, "-c", "--format", "gz").want(t, exitOK).out, "different formats"},
		{"other.pz", other, "two copies are intact and differ"},
		{"plain", content, "most bytes of the copies differ; are they of the same file"},
		{"longer.pz", good + "garbage", "garbage after the compressed data (byte " +
			strconv.Itoa(len(good)) + "); cut it off, or leave out the copy that has it"},
		{"level.pz", pz(t, content, "-c", "-9").want(t, exitOK).out, "two copies are intact and differ"},
	} {
		b := write(t, c.data, dir, c.name)
		out := filepath.Join(dir, "out")
		pz(t, "", "--merge", b, a, "-o", out).want(t, exitError, "cannot be merged: ", c.text)
		pz(t, "", "--merge", a, b, "-o", out).want(t, exitError, "cannot be merged: ", c.text)
	}
	bad := write(t, good[:9000]+"damage"+good[9006:], dir, "bad.pz")
	shifted := write(t, good[:40]+good[41:], dir, "shifted.pz")
	pz(t, "", "--merge", "-c", bad, shifted).want(t, exitError,
		"block 0 (byte 18) is damaged in all copies; most bytes of the copies differ; are they of the same "+
			"file, with no bytes missing or inserted?")
	for _, path := range []string{bad, shifted} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	d := write(t, other[:90_000]+"damage"+other[90_006:], dir, "d.pz")
	res := pz(t, "", "--merge", "-c", a, d).want(t, exitWarning,
		d+": differs from the result in 99% of its bytes; is it a copy of the same file?")
	wantContent(t, res.out, good)
	wantFiles(t, dir, "a.pz", "b.gz", "d.pz", "level.pz", "longer.pz", "other.pz", "plain")
}

// TestMergeParity merges copies that parity has to complete.
func TestMergeParity(t *testing.T) {
	dir := t.TempDir()
	good := pz(t, noise(400_000), "-c", "--parity", "5").want(t, exitOK).out
	half := len(good) / 2
	a := write(t, good[:half]+"damage"+good[half+6:], dir, "a")
	b := write(t, good[:100]+strings.Repeat("x", 50_000)+good[50_100:half]+"DAMAGE"+good[half+6:], dir, "b")
	out := filepath.Join(dir, "out")
	pz(t, "", "--merge", b, a, "-o", out).want(t, exitOK,
		"bytes that no copy has intact were restored from the parity")
	wantFile(t, out, good)
}

func TestMergeOptions(t *testing.T) {
	dir := t.TempDir()
	in := write(t, pz(t, "content", "-c").out, dir, "a")
	for _, c := range []struct{ args, text string }{
		{"--merge A -c", "--merge needs two copies of a file, or more"},
		{"--merge A A", "--merge needs -o FILE or -c"},
		{"--merge --rm A A -c", "--rm does not go with --merge"},
		{"--merge -r A A -c", "--merge does not go with -r"},
		{"--merge --no-check A A -c", "--merge does not go with --no-check"},
		{"--merge A A -c", "a: is named twice; name another copy"},
		{"--merge A DIR/../" + filepath.Base(dir) + "/a -c", " is the same file as "},
		{"--merge A - -c", "standard input and URLs cannot be merged; store the copy in a file"},
		{"--merge A http://host/a -c", "standard input and URLs cannot be merged"},
		{"--merge A A/missing -c", "the copy "},
		{"--merge A DIR -c", "is not a regular file"},
	} {
		args := strings.Fields(strings.NewReplacer("DIR", dir, "A", in).Replace(c.args))
		pz(t, "", args...).want(t, exitError, c.text)
	}
	bare := pz(t, sample(1000), "-c", "--no-check").out
	x := write(t, bare, dir, "x")
	y := write(t, bare[:500]+"y"+bare[501:], dir, "y")
	pz(t, "", "--merge", x, y, "-c").want(t, exitError, "cannot be merged: ")
	wantFiles(t, dir, "a", "x", "y")
}
