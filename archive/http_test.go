package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

// TestHTTP compares the answers to random requests with those for the unpacked archive.
func TestHTTP(t *testing.T) {
	plain := makeTar(t, sampleHeaders, sampleContent)
	f := open(t, pack(t, plain, compress.PZ))
	dir := t.TempDir()
	unpack(t, dir)
	ours, theirs := http.FileServerFS(f), http.FileServerFS(os.DirFS(dir))
	paths := []string{"/none", "/dir", "/dir/", "/link/deep/c", "/dir/up", "/hard", "/../a.txt"}
	for _, h := range sampleHeaders {
		paths = append(paths, "/"+h.Name)
	}
	r := rand.New(rand.NewPCG(5, 6))
	rounds := 600
	if testenv.All() {
		rounds = 10_000
	}
	for range rounds {
		req := httptest.NewRequest([]string{"GET", "GET", "GET", "HEAD", "POST"}[r.IntN(5)], "/", nil)
		req.URL.Path = paths[r.IntN(len(paths))]
		if r.IntN(3) > 0 {
			req.Header.Set("Range", randomRange(r))
		}
		switch r.IntN(8) {
		case 0:
			req.Header.Set("If-Modified-Since", day.Format(http.TimeFormat))
		case 1:
			req.Header.Set("If-Range", day.Format(http.TimeFormat))
		case 2:
			req.Header.Set("If-Unmodified-Since", day.AddDate(-1, 0, 0).Format(http.TimeFormat))
		}
		got, want := httptest.NewRecorder(), httptest.NewRecorder()
		ours.ServeHTTP(got, req)
		theirs.ServeHTTP(want, req)
		// The boundaries of several parts are random.
		several := bytes.Contains([]byte(want.Header().Get("Content-Type")), []byte("multipart"))
		if several {
			got.Header().Del("Content-Type")
			want.Header().Del("Content-Type")
			if got.Body.Len() != want.Body.Len() {
				t.Errorf("%s: %d bytes, want %d", req.Header, got.Body.Len(), want.Body.Len())
			}
		}
		if got.Code != want.Code || !reflect.DeepEqual(got.Header(), want.Header()) ||
			!several && !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Fatalf("%s %s %v: %d %v, %d bytes; want %d %v, %d bytes", req.Method, req.URL, req.Header,
				got.Code, got.Header(), got.Body.Len(), want.Code, want.Header(), want.Body.Len())
		}
	}
}

// randomRange returns a Range header, which may be invalid.
func randomRange(r *rand.Rand) string {
	one := func() string {
		a, b := r.IntN(1000), r.IntN(320_000)
		all := []string{fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("%d-", b), fmt.Sprintf("-%d", a), "x"}
		return all[r.IntN(len(all))]
	}
	if r.IntN(10) == 0 {
		return "bytes=" + one() + "," + one()
	}
	return "bytes=" + one()
}

// unpack makes the files of sampleHeaders in a directory.
func unpack(t *testing.T, dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range sampleHeaders {
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		switch h.Typeflag {
		case tar.TypeDir:
			must(os.MkdirAll(path, 0o755))
		case tar.TypeSymlink:
			must(os.Symlink(h.Linkname, path))
		case tar.TypeLink:
			must(os.Link(filepath.Join(dir, filepath.FromSlash(h.Linkname)), path))
		default:
			must(os.WriteFile(path, sampleContent(i), 0o644))
			when := h.ModTime
			if when.IsZero() {
				when = day
			}
			must(os.Chtimes(path, when, when))
		}
	}
	// Directories are listed without their times, but a request for one may be conditional.
	must(fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return os.Chtimes(filepath.Join(dir, name), day, day)
	}))
}
