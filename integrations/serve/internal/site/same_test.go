package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/internal/testenv"
)

// TestLikeFileServer compares the answers to random requests with those of net/http for the
// unpacked tree, byte for byte. The pages of directories differ, so only their redirects and errors
// are compared.
func TestLikeFileServer(t *testing.T) {
	rounds := 1000
	if testenv.All() {
		rounds = 10_000
	}
	for _, seed := range testenv.Seeds(t, 1) {
		tree := servetest.Make(seed)
		operands, url := sources(t, tree)
		theirs := http.FileServer(http.Dir(operands["plain"]))
		for name, operand := range operands {
			t.Run(name, func(t *testing.T) {
				ours, _ := open(t, []string{url}, operand)
				r := rand.New(rand.NewPCG(seed, 2))
				tags := map[string]string{}
				seen := map[int]int{}
				for range rounds {
					seen[compare(t, r, ours, theirs, paths(tree), tags)]++
				}
				t.Log(seen)
				for _, code := range []int{200, 206, 301, 304, 404, 412, 416} {
					if seen[code] == 0 {
						t.Errorf("no request had the status %d", code)
					}
				}
			})
		}
	}
}

// paths returns paths of requests.
func paths(tree servetest.Tree) []string {
	list := []string{"/none", "/d0", "/d0/none", "/index", "/index/", "/index/index.html", "/d0/../one.bin",
		"/../one.bin", "/one.bin/", "/one.bin/x", "/deep/er", "//noext"}
	for name := range tree {
		list = append(list, "/"+name)
	}
	return list
}

// compare makes a random request and returns the status.
func compare(
	t *testing.T, r *rand.Rand, ours, theirs http.Handler, paths []string, tags map[string]string,
) int {
	t.Helper()
	path := paths[r.IntN(len(paths))]
	if _, ok := tags[path]; !ok {
		tags[path] = get(ours, "HEAD", path, nil).Header().Get("ETag")
	}
	method, header := randomRequest(r, tags[path])
	got := get(ours, method, path, header)
	want := httptest.NewRecorder()
	if tag := tags[path]; tag != "" {
		want.Header().Set("ETag", tag)
	}
	req := httptest.NewRequest(method, "/", nil)
	req.URL.Path, req.Header = path, header
	theirs.ServeHTTP(want, req)
	g, w := normal(got), normal(want)
	if got.Code != want.Code || !reflect.DeepEqual(got.Header(), want.Header()) || !bytes.Equal(g, w) {
		t.Fatalf("%s %s %v:\n got %d %v, %d bytes\nwant %d %v, %d bytes", method, path, header,
			got.Code, got.Header(), len(g), want.Code, want.Header(), len(w))
	}
	return got.Code
}

// normal removes from a response what differs for good reason, and returns the body.
func normal(w *httptest.ResponseRecorder) []byte {
	h := w.Header()
	body := w.Body.Bytes()
	kind, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if boundary := params["boundary"]; boundary != "" {
		body = bytes.ReplaceAll(body, []byte(boundary), []byte("boundary"))
		h.Set("Content-Type", kind)
	}
	h.Del("X-Content-Type-Options")
	h.Del("Vary")
	switch w.Code {
	case http.StatusMovedPermanently, http.StatusNotFound:
		h.Del("ETag") // which the test has set before it knew
	}
	return body
}

// randomRequest returns a method and a header with ranges and conditions.
func randomRequest(r *rand.Rand, tag string) (method string, header http.Header) {
	header = http.Header{}
	method = []string{"GET", "GET", "GET", "HEAD"}[r.IntN(4)]
	if r.IntN(3) > 0 {
		header.Set("Range", randomRange(r))
	}
	if tag == "" || r.IntN(4) == 0 {
		tag = []string{`"other"`, `W/"weak"`, "*", "malformed"}[r.IntN(4)]
	}
	day := servetest.Day.AddDate(0, 0, r.IntN(3)-1).Format(http.TimeFormat)
	switch r.IntN(8) {
	case 0:
		header.Set("If-None-Match", tag)
	case 1:
		header.Set("If-Match", `"a", `+tag)
	case 2:
		header.Set("If-Range", tag)
	case 3:
		header.Set("If-Range", day)
	case 4:
		header.Set("If-Modified-Since", day)
	case 5:
		header.Set("If-Unmodified-Since", day)
	}
	return method, header
}

// randomRange returns a Range header, which may be invalid.
func randomRange(r *rand.Rand) string {
	one := func() string {
		a, b := r.IntN(1000), r.IntN(450_000)
		all := []string{fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("%d-", b), fmt.Sprintf("-%d", a),
			fmt.Sprintf("%d-%d", b, a), fmt.Sprintf("%d-%d", b, b+a), "x", "", "-", "0-0", "-0",
			"99999999999999999999-"}
		return all[r.IntN(len(all))]
	}
	parts := []string{one()}
	for r.IntN(4) == 0 {
		parts = append(parts, one())
	}
	return []string{"bytes=", "bytes=", "bytes=", "bytes= ", "lines="}[r.IntN(5)] + strings.Join(parts, ",")
}

// TestDirectoriesExist checks that every directory of the tree has a page that links to its
// entries.
func TestDirectoriesExist(t *testing.T) {
	tree := servetest.Make(3)
	operands, url := sources(t, tree)
	for name, operand := range operands {
		h, _ := open(t, []string{url}, operand)
		root := os.DirFS(operands["plain"])
		fs.WalkDir(root, ".", func(dir string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() || dir == "index" {
				return err
			}
			path := "/" + dir + "/"
			if dir == "." {
				path = "/"
			}
			body := get(h, "GET", path, nil).Body.String()
			list, err := os.ReadDir(filepath.Join(operands["plain"], dir))
			if err != nil {
				return err
			}
			for _, e := range list {
				if !strings.Contains(body, "href=\""+htmlLink(e.Name(), e.IsDir())+"\"") {
					t.Errorf("%s: the page %s has no link to %s:\n%s", name, path, e.Name(), body)
				}
			}
			return nil
		})
	}
}

// htmlLink is the link in the form that the template writes.
func htmlLink(name string, dir bool) string {
	return strings.NewReplacer("&", "&amp;", "'", "%27", "+", "&#43;").Replace(link(name, dir))
}
