package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParity writes files with parity and damages them. -d, -t and --repair must give back what
// was.
func TestParity(t *testing.T) {
	content := sample(200_000) + noise(300_000)
	const healed = `is damaged; `
	for _, format := range []string{"pz", "zst"} {
		dir := t.TempDir()
		in := write(t, content, dir, "a")
		pz(t, "", "--parity", "5%", "--format", format, in).want(t, exitOK)
		path := in + "." + format
		good := mustRead(t, path)
		if plain := pz(t, content, "-c", "--format", format).out; len(good) < len(plain)*105/100 ||
			len(good) > len(plain)*111/100 {
			t.Errorf("%s: %d bytes with parity, %d without", format, len(good), len(plain))
		}
		wantContent(t, unpz(t, path), content)
		pz(t, "", "-t", path).want(t, exitOK)
		if out := pz(t, "", "-l", path).want(t, exitOK).out; !strings.Contains(out, "500000") {
			t.Errorf("-l prints %q", out)
		}
		fixed := filepath.Join(dir, "fixed")
		pz(t, "", "--repair", path, "-o", fixed).want(t, exitOK, "is intact")
		wantFile(t, fixed, good)

		half := len(good) / 2
		for name, bad := range map[string]string{
			"flips":   good[:half] + string([]byte{good[half] ^ 1}) + good[half+1:],
			"zeros":   good[:half] + strings.Repeat("\x00", 4096) + good[half+4096:],
			"deleted": good[:half] + good[half+5000:],
			"more":    good[:half] + noise(5000) + good[half:],
			"header":  strings.Repeat("\x00", 20) + good[20:],
		} {
			damaged := write(t, bad, dir, "bad."+format)
			pz(t, "", "-t", damaged).want(t, exitWarning, healed)
			res := pz(t, "", "-dc", damaged).want(t, exitWarning, "were restored from its parity", "--repair")
			wantContent(t, res.out, content)
			const advice = "; its parity can restore it: pz --repair FILE -o OUT"
			if res := pz(t, "", "--recover", "-c", damaged); !strings.Contains(res.err, advice) {
				t.Errorf("--recover: exit code %d, %s", res.code, res.err)
			}
			pz(t, "", "--repair", damaged, "-fo", fixed).want(t, exitOK, "repaired: ")
			wantFile(t, fixed, good)
			if t.Failed() {
				t.Fatalf("%s: %s", format, name)
			}
		}
		// The parity of the end is cut off, and its content is whole.
		cut := write(t, good[:len(good)-3000], dir, "cut."+format)
		pz(t, "", "-t", cut).want(t, exitWarning, healed)
		wantContent(t, pz(t, "", "-dc", cut).want(t, exitWarning, healed).out, content)
		pz(t, "", "--repair", cut, "-fo", fixed).want(t, exitOK, "repaired: its parity")
		wantFile(t, fixed, good)
		// Only the parity is damaged.
		at := len(good) - 2000
		other := write(t, good[:at]+string([]byte{good[at] ^ 1})+good[at+1:], dir, "parity."+format)
		pz(t, "", "-t", other).want(t, exitWarning, healed)
		wantContent(t, pz(t, "", "-dc", other).want(t, exitWarning, healed).out, content)
		// More is damaged than there is parity.
		lost := write(t, good[:half]+noise(40_000)+good[half+40_000:], dir, "lost."+format)
		two := write(t, mustRead(t, lost)+flip(good, half), dir, "two."+format)
		for _, args := range [][]string{{"-t"}, {"--recover", "-c"}} {
			if res := pz(t, "", append(args, lost)...); strings.Contains(res.err, "--repair") {
				t.Errorf("%s, %s: %s", format, args[0], res.err)
			}
			res := pz(t, "", append(args, two)...)
			if !strings.Contains(res.err, "; its parity can restore a part of it: pz --repair FILE -o OUT") {
				t.Errorf("%s, %s of two: %s", format, args[0], res.err)
			}
		}
		pz(t, "", "--repair", lost, "-fo", fixed).want(t, exitWarning, "not repaired: ", "--recover")
	}
}

func TestParityOptions(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(1000), dir, "a")
	for _, c := range []struct{ args, text string }{
		{"--parity 0", "--parity 0: the parity must be a number from 1 to 100"},
		{"--parity 101", "from 1 to 100"},
		{"--parity x", "from 1 to 100"},
		{"--parity 5 --format gz", "--parity is for .pz and .zst files"},
		{"--parity 5 --long", "--parity does not go with --long"},
		{"--repair", "--repair needs -o FILE or -c"},
		{"--repair --rm -c", "--rm does not go with --repair"},
	} {
		pz(t, "", append(strings.Fields(c.args), in)...).want(t, exitError, c.text)
	}
	pz(t, "", "--repair", in, "-c").want(t, exitError, "has no parity; --recover saves what is intact")
	wantFiles(t, dir, "a")
	// Small content, an archive, and a pipe have parity too.
	for _, args := range [][]string{{"-c", in}, {"--tar", "-c", in}, {"-c"}} {
		packed := pz(t, sample(1000), append([]string{"--parity", "10"}, args...)...).want(t, exitOK).out
		path := write(t, packed[:20]+"x"+packed[21:], dir, "b.pz")
		pz(t, "", "-t", path).want(t, exitWarning, "is damaged")
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}
