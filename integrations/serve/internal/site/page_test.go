package site

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
)

var linkText = regexp.MustCompile(`<td class="name"><a href="([^"]*)"><bdi>([^<]*)</bdi>`)

// names returns the names of a page, in order.
func names(t *testing.T, h http.Handler, path, query string) (list []string, body string) {
	t.Helper()
	r, err := http.NewRequest("GET", path+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := record(h, r)
	if w.Code != 200 {
		t.Fatalf("%s: status %d", path, w.Code)
	}
	for _, m := range linkText.FindAllStringSubmatch(w.Body.String(), -1) {
		list = append(list, m[2])
	}
	return list, w.Body.String()
}

// TestPage checks order, sizes, pages and errors of directory pages.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b", "a", "c.txt.pz", "sub/x"} {
		content := make([]byte, 100*(i+1))
		if strings.HasSuffix(name, ".pz") {
			content = servetest.Pack(t, make([]byte, 1<<20), compress.PZ)
		}
		servetest.WriteFile(t, filepath.Join(dir, name), content)
	}
	h, _ := open(t, nil, dir)
	for query, want := range map[string]string{
		"": "sub a b c.txt", "?sort=name": "a b c.txt sub", "?sort=-name": "sub c.txt b a",
		"?sort=size": "sub b a c.txt", "?sort=-size": "c.txt a b sub", "?sort=x": "sub a b c.txt",
	} {
		if list, body := names(t, h, "/", query); strings.Join(list, " ") != want {
			t.Errorf("%s: %v\n%s", query, list, body)
		}
	}
	_, body := names(t, h, "/", "")
	if !strings.Contains(body, "<small>pz</small>") || !strings.Contains(body, "2024-02-29 12:30") {
		t.Error(body)
	}
	tree := servetest.Tree{}
	for i := range 2*pageRows + 10 {
		tree[fmt.Sprintf("many/f%05d", i)] = nil
	}
	servetest.WriteFile(t, filepath.Join(dir, "large.tar"), tree.Tar(t))
	h, _ = open(t, nil, filepath.Join(dir, "large.tar"))
	var all []string
	for n := 1; n <= 3; n++ {
		list, body := names(t, h, "/many/", fmt.Sprintf("?page=%d", n))
		all = append(all, list...)
		if strings.Contains(body, "Next") != (n < 3) || strings.Contains(body, "Previous") != (n > 1) ||
			!strings.Contains(body, fmt.Sprintf("2,010 entries, page %d of 3", n)) {
			t.Errorf("page %d:\n%s", n, body[:2000])
		}
	}
	if len(all) != 2*pageRows+10 || !slices.IsSorted(all) {
		t.Errorf("%d names", len(all))
	}
	for _, query := range []string{"?page=0", "?page=4", "?page=x"} {
		if list, _ := names(t, h, "/many/", query); list[0] != "f00000" {
			t.Errorf("%s: %s", query, list[0])
		}
	}
}

// TestPageHeaders checks conditions, compression and safety of pages.
func TestPageHeaders(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		servetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("<script>%d", i)), nil)
	}
	h, c := open(t, nil, dir)
	w := get(h, "GET", "/", http.Header{"Accept-Encoding": {"gzip"}})
	plain, err := compress.AppendDecode(nil, w.Body.Bytes())
	if w.Header().Get("Content-Encoding") != "gzip" || err != nil || w.Body.Len() > len(plain)/4 {
		t.Errorf("%v, %v", w.Header(), err)
	}
	policy := w.Header().Get("Content-Security-Policy")
	if strings.Contains(string(plain), "<script") || !strings.Contains(policy, "'none'") {
		t.Errorf("%v %s", w.Header(), plain)
	}
	tag := http.Header{"Accept-Encoding": {"gzip"}, "If-None-Match": {w.Header().Get("ETag")}}
	if w := get(h, "GET", "/", tag); w.Code != 304 {
		t.Errorf("status %d", w.Code)
	}
	if w := get(h, "HEAD", "/", nil); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("HEAD: status %d, %d bytes", w.Code, w.Body.Len())
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "CONNECT"} {
		if w := get(h, method, "/", nil); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
	w = get(h, "GET", "/<none>", http.Header{"Accept": {"text/html,*/*"}})
	body := w.Body.String()
	if w.Code != 404 || !strings.Contains(body, "<h1>") || strings.Contains(body, "<none>") {
		t.Errorf("status %d: %s", w.Code, body)
	}
	if e := c.Snapshot("live").Errors; len(e) > 0 {
		t.Errorf("errors of the server: %v", e)
	}
}

// TestRedirect checks redirects to names with characters that mean something in URLs.
func TestRedirect(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a?b#c", "x:y", "sp ace"} {
		servetest.WriteFile(t, filepath.Join(dir, name, "f"), nil)
	}
	h, _ := open(t, nil, dir)
	for path, want := range map[string]string{
		"/a?b#c": "a%3Fb%23c/", "/x:y": "./x:y/", "/sp ace": "sp%20ace/", "/sp ace/f/": "../f",
	} {
		w := get(h, "GET", path, nil)
		if got := w.Header().Get("Location"); w.Code != 301 || got != want {
			t.Errorf("%s: status %d, %s", path, w.Code, got)
		}
	}
}
