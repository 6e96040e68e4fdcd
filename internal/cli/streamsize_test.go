package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestStreamSize checks that the size of standard input makes the file that FILE makes.
func TestStreamSize(t *testing.T) {
	for _, size := range []string{"0", "1", "5000", "100K"} {
		n, err := parseSize(size)
		if err != nil {
			t.Fatal(err)
		}
		content := sample(int(n))
		in := write(t, content, t.TempDir(), "a")
		for _, args := range []string{"", "--format zst", "-n --format gz", "-B4K --long=20"} {
			fields := append(strings.Fields(args), "--stream-size", size)
			want := pz(t, "", append(strings.Fields(args), "-c", in)...).want(t, exitOK).out
			got := runProcess(t, strings.NewReader(content), fields...).want(t, exitOK).out
			if got != want && n > 0 { // an empty FILE may be one of /proc, so its size does not count
				t.Errorf("%s of %s: %d bytes, FILE makes %d", args, size, len(got), len(want))
			}
			wantContent(t, pz(t, got, "-dc").want(t, exitOK).out, content)
			// A file that has this size is no error.
			if got := pz(t, "", append(fields, "-c", in)...).want(t, exitOK).out; got != want && n > 0 {
				t.Errorf("%s of a FILE of %s: %d bytes, want %d", args, size, len(got), len(want))
			}
		}
	}
}

// TestStreamSizeWrong checks content of another size: an error, and no file.
func TestStreamSizeWrong(t *testing.T) {
	const n = 300_000
	content := sample(n)
	dir := t.TempDir()
	in := write(t, content, dir, "in")
	out := filepath.Join(dir, "out.pz")
	for size, text := range map[string]string{
		"300001": "standard input: ends after 300000 bytes; --stream-size says 300001",
		"1M":     "standard input: ends after 300000 bytes; --stream-size says 1048576",
		"299999": "standard input: has more than the 299999 bytes of --stream-size",
		"0":      "standard input: has more than the 0 bytes of --stream-size",
	} {
		for _, args := range []string{"", "--format zst", "--format gz", "-T1 -B4K"} {
			fields := append(strings.Fields(args), "--stream-size", size)
			runProcess(t, strings.NewReader(content), fields...).want(t, exitError, text)
			runProcess(t, strings.NewReader(content), append(fields, "-o", out)...).want(t, exitError, text)
			wantFiles(t, dir, "in")
		}
		redirected := pz(t, content, "--stream-size", size, "-o", out).want(t, exitError)
		if !strings.Contains(redirected.err, "standard input: has 300000 bytes, --stream-size says ") {
			t.Errorf("redirected: %s", redirected.err)
		}
		pz(t, "", "--stream-size", size, in).want(t, exitError, "in: has 300000 bytes, --stream-size says ")
		wantFiles(t, dir, "in")
	}
	pz(t, "", "-o", out, "--stream-size", "1").want(t, exitError, "ends after 0 bytes; --stream-size says 1")
	wantFiles(t, dir, "in")
}
