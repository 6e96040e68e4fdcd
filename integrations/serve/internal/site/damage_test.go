package site

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/internal/corpus"
)

// fetch requests a path over the network. err is that of the body: a response that was cut short
// has one.
func fetch(t *testing.T, client *http.Client, url string) (code int, body []byte, err error) {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err = io.ReadAll(r.Body)
	return r.StatusCode, body, err
}

// TestDamage flips bits of an archive and of files. A response has the right bytes, an error
// status, or is cut short.
func TestDamage(t *testing.T) {
	tree := servetest.Tree{
		"a.txt": corpus.ByName("log").Make(300_000), "b.bin": corpus.ByName("random").Make(90_000),
	}
	suffixes := map[compress.Format]string{compress.PZ: ".pz", compress.Gzip: ".gz", compress.Zstd: ".zst"}
	for _, format := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		tar := servetest.Pack(t, tree.Tar(t), format)
		single := servetest.Pack(t, tree["a.txt"], format)
		suffix := suffixes[format]
		failed, cut := 0, 0
		for i := range 12 {
			dir := t.TempDir()
			flip := func(p []byte) []byte {
				p = bytes.Clone(p)
				p[len(p)*(2*i+1)/24] ^= 1 << (i % 8)
				return p
			}
			servetest.WriteFile(t, filepath.Join(dir, "x", "a.txt"+suffix), flip(single))
			operands := []string{filepath.Join(dir, "x")}
			if format != compress.Gzip { // which fails at once
				file := filepath.Join(dir, "t.tar"+suffix)
				servetest.WriteFile(t, file, flip(tar))
				if canOpen(file) {
					operands = append(operands, file)
				}
			}
			h, counters := open(t, nil, operands...)
			server := httptest.NewServer(h)
			paths := map[string]string{"/x/a.txt": "a.txt", "/t/a.txt": "a.txt", "/t/b.bin": "b.bin"}
			if len(operands) == 1 {
				paths = map[string]string{"/a.txt": "a.txt"}
			}
			before := failed + cut
			for path, name := range paths {
				code, body, err := fetch(t, server.Client(), server.URL+path)
				switch {
				case code == 200 && err != nil:
					cut++
					if !bytes.HasPrefix(tree[name], body) {
						t.Errorf("%s: wrong bytes before the damage", path)
					}
				case code >= 500:
					failed++
				case code != 200 || !bytes.Equal(body, tree[name]):
					t.Errorf("%v %s: status %d, %d bytes", format, path, code, len(body))
				}
			}
			server.Close()
			if n := failed + cut - before; counters.Snapshot("live").Errors["damaged"] != int64(n) {
				t.Errorf("%d responses failed: %v", n, counters.Snapshot("live").Errors)
			}
		}
		t.Logf("%v: %d responses with an error, %d cut short", format, failed, cut)
		if failed+cut < 6 {
			t.Errorf("%v: only %d responses failed", format, failed+cut)
		}
	}
}

// canOpen reports whether an archive can be opened.
func canOpen(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	info, _ := f.Stat()
	a, err := archive.Open(f, info.Size())
	if err != nil {
		return false
	}
	a.Close()
	return true
}

// TestChanged replaces an archive, and overwrites one in place.
func TestChanged(t *testing.T) {
	version := func(i int) (servetest.Tree, []byte) {
		tree := servetest.Tree{"a.txt": corpus.ByName("log").MakeSeed(400_000, uint64(i))}
		return tree, servetest.Pack(t, tree.Tar(t), compress.PZ)
	}
	dir := t.TempDir()
	file, inPlace := filepath.Join(dir, "a.tar.pz"), filepath.Join(dir, "b.tar.pz")
	put := func(i int) {
		_, p := version(i)
		if i > 0 {
			servetest.WriteFile(t, file+".new", p)
			os.Chtimes(file+".new", time.Time{}, servetest.Day.AddDate(0, 0, i))
			os.Rename(file+".new", file)
		} else {
			servetest.WriteFile(t, file, p)
		}
		f, err := os.OpenFile(inPlace, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(p)
		f.Truncate(int64(len(p)))
		f.Close()
		os.Chtimes(inPlace, time.Time{}, servetest.Day.AddDate(0, 0, i))
	}
	put(0)
	h, counters := open(t, nil, file, inPlace)
	for i := range 3 {
		if i > 0 {
			put(i)
		}
		want, _ := version(i)
		for _, path := range []string{"/a/a.txt", "/b/a.txt"} {
			deadline := time.Now().Add(20 * time.Second)
			for {
				w := get(h, "GET", path, nil)
				if w.Code == 200 && bytes.Equal(w.Body.Bytes(), want["a.txt"]) {
					break
				}
				old := servetest.Tree{}
				if i > 0 {
					old, _ = version(i - 1)
				}
				if w.Code == 200 && !bytes.Equal(w.Body.Bytes(), old["a.txt"]) {
					t.Fatalf("%s: wrong bytes", path)
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: still no version %d: status %d", path, i, w.Code)
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	os.Remove(file)
	time.Sleep(1100 * time.Millisecond) // it is looked at once a second
	if w := get(h, "GET", "/a/a.txt", nil); w.Code != 200 {
		t.Errorf("status %d of an archive that was removed", w.Code)
	}
	if r := counters.Snapshot("live").Reopened; r.Done < 4 || r.Failed > 0 {
		t.Errorf("opened again: %+v", r)
	}
}

// TestURLFails makes the server of a URL fail, and come back with another version.
func TestURLFails(t *testing.T) {
	tree := servetest.Tree{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		tree[name] = corpus.ByName("random").MakeSeed(3<<20, uint64(name[0]))
	}
	p := servetest.Pack(t, tree.Tar(t), compress.PZ)
	var tag atomic.Value
	var broken atomic.Bool
	tag.Store(`"1"`)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, "gone", http.StatusForbidden)
			return
		}
		w.Header().Set("ETag", tag.Load().(string))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p))
	}))
	defer remote.Close()
	h, counters := open(t, []string{remote.URL + "/dir"}, remote.URL+"/dir/x.tar.pz")
	// Opening the archive has read the blocks with the beginning of each file.
	middle := http.Header{"Range": {"bytes=1048576-1048675"}}
	if w := get(h, "GET", "/a", nil); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), tree["a"]) {
		t.Fatalf("status %d", w.Code)
	}
	broken.Store(true)
	if w := get(h, "GET", "/f", middle); w.Code != http.StatusBadGateway {
		t.Errorf("status %d of a URL that fails", w.Code)
	}
	broken.Store(false)
	tag.Store(`"2"`)
	if w := get(h, "GET", "/g", middle); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d of a URL that has changed", w.Code)
	}
	want := tree["g"][1<<20 : 1<<20+100]
	if w := get(h, "GET", "/g", middle); w.Code != 206 || !bytes.Equal(w.Body.Bytes(), want) {
		t.Errorf("status %d after a URL has changed", w.Code)
	}
	if e := counters.Snapshot("live").Errors; e["remote"] != 1 || e["changed"] != 1 {
		t.Errorf("errors %v", e)
	}
}

// TestCanceled checks that a request whose client has gone ends.
func TestCanceled(t *testing.T) {
	tree := servetest.Tree{"a": corpus.ByName("random").Make(8 << 20)}
	dir := t.TempDir()
	tree.WriteTo(t, dir, nil)
	h, counters := open(t, nil, dir)
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", server.URL+"/a", nil)
	r, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Body.Close()
	for deadline := time.Now().Add(20 * time.Second); counters.Snapshot("live").Requests.InFlight > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the request goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
	s := counters.Snapshot("live")
	if s.Requests.Slow != 1 || s.Requests.Cut != 0 || len(s.Errors) > 0 {
		t.Errorf("%+v %v", s.Requests, s.Errors)
	}
}
