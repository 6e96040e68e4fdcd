package cli

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestNamedAndRedirected checks that a file gives the same output by name and redirected. In a file
// shorter than a block the announced size reduces the block size. A pipe has no size to announce.
func TestNamedAndRedirected(t *testing.T) {
	for _, n := range []int{0, 1, 5000, 300_000, 3 << 20} {
		content := sample(n)
		in := write(t, content, t.TempDir(), "in")
		named := pz(t, "", "-c", in).want(t, exitOK).out
		if pz(t, content, "-c").want(t, exitOK).out != named {
			t.Errorf("%d bytes: the output differs between a name and a redirection", n)
		}
		piped := runProcess(t, strings.NewReader(content), "-c").want(t, exitOK).out
		if got := pz(t, piped, "-d").want(t, exitOK).out; got != content {
			t.Errorf("%d bytes through a pipe: got %d back", n, len(got))
		}
	}
}

// TestRestOfStandardInput checks that pz processes the rest of a partly read standard input.
func TestRestOfStandardInput(t *testing.T) {
	content := sample(10_000)
	rest := func(content string, skip int64, args ...string) string {
		t.Helper()
		f, err := os.Open(write(t, content, t.TempDir(), "in"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.Seek(skip, io.SeekStart)
		return runProcess(t, f, args...).want(t, exitOK).out
	}
	if rest(content, 3000) != pz(t, content[3000:]).out {
		t.Error("output differs from that of the rest alone")
	}
	for _, skip := range []int64{10_000, 20_000} {
		if rest(content, skip) != pz(t, "").out {
			t.Errorf("offset %d of 10000: output differs from that of an empty file", skip)
		}
	}
	packed := pz(t, content).out
	for _, args := range []string{"-d", "-dcf"} {
		if rest("12345"+packed, 5, args) != content {
			t.Errorf("%s: wrong content", args)
		}
	}
	wantContent(t, rest("12345plain", 5, "-dcf"), "plain")
}

// TestReaderGetsTheFile checks that a Reader gets a regular file itself, so that it prefetches.
func TestReaderGetsTheFile(t *testing.T) {
	f, err := os.Open(write(t, "content", t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	a := newApp()
	m := a.newMeter(&source{app: a, f: f, info: info}, &output{})
	a.cfg.mode = modeDecompress
	if m.reader() != io.Reader(f) {
		t.Errorf("a Reader gets a %T", m.reader())
	}
}
