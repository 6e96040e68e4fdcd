package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fakeRemote is a remote file in memory. Reads fail from byte failAt on, unless that is 0.
type fakeRemote struct {
	bytes.Reader
	failAt int64
	closed *int
	stream bool // it can only be read in order
}

func (f *fakeRemote) Size() int64 {
	if f.stream {
		return -1
	}
	return f.Reader.Size()
}

func (f *fakeRemote) ReadAt(p []byte, off int64) (int, error) {
	if f.stream || f.failAt > 0 && off+int64(len(p)) > f.failAt {
		return 0, fakeError{}
	}
	return f.Reader.ReadAt(p, off)
}

func (f *fakeRemote) Read(p []byte) (int, error) {
	if f.failAt > 0 && f.Reader.Size()-int64(f.Len()) >= f.failAt {
		return 0, fakeError{}
	}
	return f.Reader.Read(p)
}

func (f *fakeRemote) Close() error                                 { *f.closed++; return nil }
func (f *fakeRemote) LastModified() time.Time                      { return fakeTime }
func (f *fakeRemote) Traffic() (requests, retries, received int64) { return 3, 1, 1000 }

var fakeTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type fakeError struct{}

func (fakeError) Error() string  { return "https://host/file?sig=secret: the server is down" }
func (fakeError) Reason() string { return "the server is down" }

// withURL lets pz read a remote file of that content behind each URL.
func withURL(t *testing.T, content string, failAt int64) func(*app) {
	closed, opened := 0, 0
	t.Cleanup(func() {
		if closed != opened {
			t.Errorf("%d remote files were opened, %d closed", opened, closed)
		}
	})
	return func(a *app) {
		a.openURL = func(_ context.Context, url string, _ int64) (Remote, error) {
			if !strings.HasSuffix(url, "?sig=secret") {
				t.Errorf("pz opens %s", url)
			}
			if strings.Contains(url, "missing") {
				return nil, fakeError{}
			}
			opened++
			f := &fakeRemote{failAt: failAt, closed: &closed, stream: strings.Contains(url, "stream")}
			f.Reset([]byte(content))
			return f, nil
		}
	}
}

// TestURL restores, checks and lists remote files of each format, small and large.
func TestURL(t *testing.T) {
	dir := t.TempDir()
	const url = "https://user:secret@host/dir/file?sig=secret"
	for _, size := range []int{10, 300_000} {
		content := sample(size)
		for _, format := range []string{"pz", "gz", "zst"} {
			packed := pz(t, content, "-c", "-B64K", "--format", format).want(t, exitOK).out
			change := withURL(t, packed, 0)
			if r := pzWith(t, "", change, "-dc", url).want(t, exitOK); r.out != content {
				t.Errorf("%s: -dc returns %d bytes of %d", format, len(r.out), len(content))
			}
			const stream = "https://host/stream?sig=secret"
			pzWith(t, "", change, "-t", url, "HTTP://host?sig=secret", stream).want(t, exitOK)
			if r := pzWith(t, "", change, "-dc", stream).want(t, exitOK); r.out != content {
				t.Errorf("%s: -dc in order returns %d bytes of %d", format, len(r.out), len(content))
			}
			pzWith(t, "", change, "-l", stream).want(t, exitError, "a server without ranges, which -l needs")
			r := pzWith(t, "", change, "-lv", "--json", url).want(t, exitOK,
				"https://host/dir/file: 3 requests, 1000 bytes received, 1 repeated")
			if !strings.Contains(r.out, `"uncompressed": `) || strings.Contains(r.out+r.err, "secret") {
				t.Errorf("%s: -l returns %s, %s", format, r.out, r.err)
			}
			out := dir + "/" + format
			pzWith(t, "", change, "-df", url, "-o", out).want(t, exitOK)
			got, err := os.ReadFile(out)
			if err != nil || string(got) != content {
				t.Errorf("%s: -o: %d bytes, %v", format, len(got), err)
			}
			if fi, err := os.Stat(out); err != nil || !fi.ModTime().Equal(fakeTime) {
				t.Errorf("%s: -o: %v, %v", format, fi, err)
			}
		}
	}
}

// TestURLErrors checks messages: what pz refuses, a file that cannot be opened or read, and damage.
func TestURLErrors(t *testing.T) {
	const url = "https://host/file.pz?sig=secret"
	packed := pz(t, sample(300_000), "-c", "-B64K").want(t, exitOK).out
	for _, c := range []struct {
		args   string
		text   string
		failAt int64
	}{
		{"-d " + url, "https://host/file.pz: is a URL, which has no directory", 0},
		{"-d --output-dir x " + url, "is a URL, which has no directory", 0},
		{url, "is a URL, which only -d, -t, -l and -x read", 0},
		{"-c " + url, "is a URL, which only -d, -t, -l and -x read", 0},
		{"--recover -c " + url, "is a URL, which only", 0},
		{"--rm -d -o x " + url, "--rm cannot remove", 0},
		{"-l https://host/missing?sig=secret", "https://host/missing: the server is down", 0},
		{"-dc " + url, "the server is down", 100_000},
		{"-t " + url, "the server is down", 100_000},
		{"-l " + url, "the server is down", 100},
		{"-dc --range 0:10 " + url, "the server is down", 1000},
	} {
		r := pzWith(t, "", withURL(t, packed, c.failAt), strings.Fields(c.args)...).want(t, exitError, c.text)
		if strings.Contains(r.err, "secret") {
			t.Errorf("%s: %s", c.args, r.err)
		}
	}
	r := pzWith(t, "", withURL(t, packed[:len(packed)-100], 0), "-l", url).want(t, exitError, "cut short")
	if strings.Contains(r.err, "--recover") {
		t.Errorf("advice that does not work: %s", r.err)
	}
	pz(t, "", "-l", url).want(t, exitError, "this build of pz does not read")
	pz(t, "", "-l", "ftp://host/file").want(t, exitError, "no such file")
}

// TestURLFile checks that a file with the name of a URL comes first.
func TestURLFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no file has such a name
	}
	t.Chdir(t.TempDir())
	packed := pz(t, "content", "-c").want(t, exitOK).out
	write(t, packed, "http:/host/file?sig=secret")
	change := func(a *app) {
		a.openURL = func(context.Context, string, int64) (Remote, error) { return nil, errors.New("opened") }
	}
	if r := pzWith(t, "", change, "-dc", "http://host/file?sig=secret").want(t, exitOK); r.out != "content" {
		t.Errorf("-dc returns %q", r.out)
	}
}

// TestURLName checks what messages say of a URL.
func TestURLName(t *testing.T) {
	for url, want := range map[string]string{
		"https://host/a/b.pz":                  "https://host/a/b.pz",
		"https://u:p@host:8/a?x=1/2#f?g":       "https://host:8/a",
		"http://host":                          "http://host",
		"http://host?a@b/c":                    "http://host",
		"http://u:p@ss@host/a@b":               "http://host/a@b",
		"https://host/a#secret?not a question": "https://host/a",
	} {
		if got := urlName(url); got != want || !isURL(url) {
			t.Errorf("%s: %s, a URL: %v", url, got, isURL(url))
		}
	}
	for _, s := range []string{
		"", "http", "http:/host", "http://", "ftp://host/a", "xhttp://host", "a/http://b",
	} {
		if isURL(s) {
			t.Errorf("%q counts as a URL", s)
		}
	}
}
