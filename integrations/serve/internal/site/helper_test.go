package site

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/gopz/compress/integrations/serve/internal/stats"
)

// open returns a Handler for operands, and its counters.
func open(t testing.TB, allow []string, operands ...string) (*Handler, *stats.Counters) {
	t.Helper()
	list, err := source.ParseAllowList(allow)
	if err != nil {
		t.Fatal(err)
	}
	c := stats.NewCounters(stats.TopN, 10)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	ctx, cancel := context.WithCancel(context.Background())
	set, err := source.Open(ctx, operands, source.Config{
		Memory: source.Memory{Cache: 4 << 20, Loads: 64 << 20}, Allow: list, WaitTimeout: time.Minute,
		Observer: c, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close(); cancel() })
	return New(Config{Set: set, Counters: c, Log: log, WriteTimeout: time.Minute, Encoded: true}), c
}

// get answers a request in memory.
func get(h http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.URL.Path = path
	if header != nil {
		r.Header = header
	}
	return record(h, r)
}

func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// sources makes a tree in all forms that a server shows, and returns the operands by name. url is a
// server that has the archive as well.
func sources(t testing.TB, tree servetest.Tree) (operands map[string]string, url string) {
	t.Helper()
	dir := t.TempDir()
	plain, mixed := filepath.Join(dir, "plain"), filepath.Join(dir, "mixed")
	tree.WriteTo(t, plain, nil)
	tree.WriteTo(t, mixed, servetest.Mixed(t))
	tar := tree.Tar(t)
	operands = map[string]string{"plain": plain, "mixed": mixed}
	for name, p := range map[string][]byte{
		"a.tar": tar, "a.tar.pz": servetest.Pack(t, tar, compress.PZ),
		"a.tar.gz": servetest.Pack(t, tar, compress.Gzip), "a.tar.zst": servetest.Pack(t, tar, compress.Zstd),
	} {
		operands[name] = filepath.Join(dir, name)
		servetest.WriteFile(t, operands[name], p)
	}
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := os.ReadFile(operands["a.tar.pz"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "", servetest.Day, bytes.NewReader(p))
	}))
	t.Cleanup(remote.Close)
	operands["url"] = remote.URL + "/a.tar.pz"
	return operands, remote.URL
}
