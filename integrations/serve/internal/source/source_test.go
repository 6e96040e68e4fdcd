package source

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
)

// silent is an Observer.
type silent struct{}

func (silent) Stored(int, time.Duration, error)        {}
func (silent) Decoded(string, string, *compress.Stage) {}
func (silent) Waited(time.Duration)                    {}
func (silent) Reopened(error)                          {}

// open opens operands.
func open(t *testing.T, allow []string, operands ...string) (*Set, error) {
	t.Helper()
	list, err := ParseAllowList(allow)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(t.Context(), operands, Config{
		Memory: Memory{Cache: 1 << 20, Loads: 32 << 20}, Allow: list, WaitTimeout: 100 * time.Millisecond,
		Observer: silent{}, Log: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		t.Cleanup(set.Close)
	}
	return set, err
}

func TestAllowList(t *testing.T) {
	list, err := ParseAllowList([]string{
		"https://a.example/data", "http://b.example:81", "https://c.example/d/",
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"https://a.example/data":                true,
		"https://a.example/data/x.tar.pz?sig=1": true,
		"https://A.EXAMPLE/data/x":              true,
		"https://a.example/database":            false,
		"https://a.example/data/../secret":      false,
		"https://a.example/data/%2e%2e/secret":  false,
		"https://a.example/data/./x":            false,
		"https://a.example/":                    false,
		"http://a.example/data":                 false,
		"https://a.example:444/data":            false,
		"https://a.example.evil/data":           false,
		"https://a.example@evil.example/data":   false,
		"https://user:pw@a.example/data/x":      true,
		"http://b.example:81":                   true,
		"http://b.example:81/":                  true,
		"http://b.example:81/any/thing":         true,
		"http://b.example/any":                  false,
		"https://c.example/d":                   true,
		"https://c.example/d/x":                 true,
		"https://c.example/dx":                  false,
		"file:///data":                          false,
		"/data":                                 false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.Allows(u); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{
		"a.example", "ftp://a", "https://", "https://u@a/", "https://a/?q", "https://a/#f", ":",
	} {
		if _, err := ParseAllowList([]string{text}); err == nil {
			t.Errorf("%q is a prefix", text)
		}
	}
}

// TestRedirect has a server redirect to where no prefix allows.
func TestRedirect(t *testing.T) {
	p := servetest.Pack(t, servetest.Tree{"a": []byte("secret")}.Tar(t), compress.PZ)
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", servetest.Day, bytes.NewReader(p))
	}))
	defer inner.Close()
	outer := httptest.NewServer(http.RedirectHandler(inner.URL+"/x.tar.pz", http.StatusFound))
	defer outer.Close()
	if _, err := open(t, []string{outer.URL}, outer.URL+"/x.tar.pz"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("redirect to another server: %v", err)
	}
	if _, err := open(t, []string{outer.URL, inner.URL}, outer.URL+"/x.tar.pz"); err != nil {
		t.Error(err)
	}
	if _, err := open(t, nil, outer.URL+"/x.tar.pz?secret=1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("no list: %v", err)
	}
}

func read(v *View, name string) (string, error) {
	f, err := v.Open(context.Background(), name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	p, err := io.ReadAll(f)
	return string(p), err
}

// TestEscape checks that neither names nor links lead out of a directory, and that pipes do not
// block.
func TestEscape(t *testing.T) {
	dir := t.TempDir()
	servetest.WriteFile(t, filepath.Join(dir, "secret"), []byte("secret"))
	servetest.WriteFile(t, filepath.Join(dir, "in", "a"), []byte("a"))
	servetest.WriteFile(t, filepath.Join(dir, "in", "b.pz"), servetest.Pack(t, []byte("b"), compress.PZ))
	for link, target := range map[string]string{
		"up": "../secret", "abs": filepath.Join(dir, "secret"), "dir": "..", "up.gz": "../secret", "ok": "a",
		"loop": "loop", "b2.pz": "b.pz",
	} {
		if err := os.Symlink(target, filepath.Join(dir, "in", link)); err != nil {
			t.Skip(err)
		}
	}
	makePipe(t, filepath.Join(dir, "in", "pipe"))
	set, err := open(t, nil, filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Sources[0].Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	for name, want := range map[string]string{"a": "a", "b": "b", "ok": "a", "b2": "b"} {
		if got, err := read(v, name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"up", "abs", "dir/secret", "../secret", "loop", "pipe", "a/b", "none",
		strings.Repeat("x", 300), "/a", ""} {
		if got, err := read(v, name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%.20s: %q, %v", name, got, err)
		}
	}
}

// TestHostileArchive checks names of an archive that lead out of it.
func TestHostileArchive(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "../../etc/x", Typeflag: tar.TypeReg}, {Name: "/abs", Typeflag: tar.TypeReg},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "up", Typeflag: tar.TypeSymlink, Linkname: "../../etc/passwd"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"},
		{Name: "fifo", Typeflag: tar.TypeFifo}, {Name: "dev", Typeflag: tar.TypeChar},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	file := filepath.Join(t.TempDir(), "a.tar")
	servetest.WriteFile(t, file, b.Bytes())
	set, err := open(t, nil, file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Sources[0].Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	for name, ok := range map[string]bool{
		"etc/x": true, "abs": true, "link": false, "up": false, "hard": false,
		"fifo": false, "dev": false, "../etc/passwd": false,
	} {
		if got, err := read(v, name); (err == nil) != ok || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestOperands checks kinds and names of sources.
func TestOperands(t *testing.T) {
	dir := t.TempDir()
	tree := servetest.Tree{"a.txt": []byte("a")}
	put := func(name string, p []byte) string {
		servetest.WriteFile(t, filepath.Join(dir, name), p)
		return filepath.Join(dir, name)
	}
	tarFile := tree.Tar(t)
	for _, c := range []struct{ operand, name, kind, file string }{
		{dir, filepath.Base(dir), "directory", ""},
		{put("photos.tar.pz", servetest.Pack(t, tarFile, compress.PZ)), "photos", "archive", "a.txt"},
		{put("x.tgz", servetest.Pack(t, tarFile, compress.Gzip)), "x", "archive", "a.txt"},
		{put("noname", tarFile), "noname", "archive", "a.txt"},
		{put("big.log.pz", servetest.Pack(t, []byte("log"), compress.PZ)), "big.log.pz", "file", "big.log"},
		{put("plain.txt", []byte("plain")), "plain.txt", "file", "plain.txt"},
		{"my.name=" + filepath.Join(dir, "x.tgz"), "my.name", "archive", "a.txt"},
		{put("a=b.tar", tarFile), "a=b", "archive", "a.txt"},
	} {
		set, err := open(t, nil, c.operand)
		if err != nil {
			t.Errorf("%s: %v", c.operand, err)
			continue
		}
		s := set.Sources[0]
		if s.Name != c.name || s.Kind != c.kind {
			t.Errorf("%s: name %s, kind %s", c.operand, s.Name, s.Kind)
		}
		v, err := s.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(v, c.file); err != nil && c.file != "" {
			t.Errorf("%s: %v", c.operand, err)
		}
		v.Release()
	}
	bad := servetest.Pack(t, []byte("not a tar file"), compress.PZ)
	for _, c := range []struct{ operand, text string }{
		{put("bad.tar.pz", bad), "tar"},
		{put("cut.log.pz", bad[:len(bad)-3]), "cut"},
		{put("big.tar.zst", compressWhole(t, 64<<20)), "compress it again with \"pz --seekable\""},
		{"..=" + dir, "name cannot be"},
	} {
		if _, err := open(t, nil, c.operand); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.operand, err)
		}
	}
}

// compressWhole returns a .zst file of zeros without a seek table.
func compressWhole(t *testing.T, n int) []byte {
	t.Helper()
	p, err := compress.AppendEncode(nil, make([]byte, n), compress.WithFormat(compress.Zstd))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBusy checks that a read ends that waits for memory for too long.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	servetest.WriteFile(t, filepath.Join(dir, "a"), []byte("a"))
	set, err := open(t, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	s := set.Sources[0]
	v, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	if err := s.budget.acquire(t.Context(), s.budget.size); err != nil {
		t.Fatal(err)
	}
	if _, err := read(v, "a"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	s.budget.release(s.budget.size)
	if _, err := read(v, "a"); err != nil {
		t.Error(err)
	}
}
