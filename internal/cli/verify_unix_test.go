//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVerify damages the result before it gets its name, as a fault of memory would. --rm must keep
// the source and drop the result, and --rm=fast must not notice.
func TestVerify(t *testing.T) {
	content := sample(200_000)
	for _, format := range []string{"pz", "zst", "gz"} {
		for name, damage := range map[string]func([]byte) []byte{
			"flip": func(p []byte) []byte { p[len(p)/2] ^= 4; return p },
			"cut":  func(p []byte) []byte { return p[:len(p)-1] },
			"other content": func([]byte) []byte {
				return []byte(pz(t, content[1:], "-c", "--format", format).out)
			},
			"less content": func([]byte) []byte {
				return []byte(pz(t, content[:100_000], "-c", "--format", format).out)
			},
			"more content": func([]byte) []byte {
				return []byte(pz(t, content+"x", "-c", "--format", format).out)
			},
		} {
			dir := t.TempDir()
			in := write(t, content, dir, "a")
			res := atStep(t, "compressed", func() { damageTemp(t, dir, damage) },
				"--rm", "--format", format, in)
			res.want(t, exitError, "does not restore to the source", "; the source is kept\n")
			wantFiles(t, dir, "a")
			if t.Failed() {
				t.Fatalf("%s, %s", format, name)
			}
			wantFile(t, in, content)
		}
	}
	dir := t.TempDir()
	in := write(t, content, dir, "a")
	cut := func(p []byte) []byte { return p[:len(p)-1] }
	atStep(t, "written", func() { damageTemp(t, dir, cut) }, "--rm=fast", in).want(t, exitOK)
	wantFiles(t, dir, "a.pz")
	pz(t, "", "--rm=slow", in).want(t, exitError, "--rm=slow: the only value is fast")
}

// damageTemp changes the only temporary file in dir.
func damageTemp(t *testing.T, dir string, change func([]byte) []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("temporary files %q, %v", names, err)
	}
	p, err := os.ReadFile(names[0])
	if err == nil {
		err = os.WriteFile(names[0], change(p), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
