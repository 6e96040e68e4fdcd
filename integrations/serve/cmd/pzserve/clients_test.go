package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/internal/testenv"
)

// TestClients has many clients read at the same time: from a directory, an archive and a URL. No
// response has wrong bytes, and the memory stays within the limit.
func TestClients(t *testing.T) {
	t.Run("intact", func(t *testing.T) { clients(t, false) })
	t.Run("faults", func(t *testing.T) { clients(t, true) })
}

// clients runs the clients. With faults blocks of the archive and of files are damaged, and
// requests of the URL fail in several ways.
func clients(t *testing.T, faults bool) {
	tree := servetest.Make(7)
	dir := t.TempDir()
	tree.WriteTo(t, filepath.Join(dir, "tree"), servetest.Mixed(t))
	tar := tree.Tar(t)
	packed := servetest.Pack(t, tar, compress.PZ)
	bad := bytes.Clone(packed)
	if faults {
		for i := range 6 {
			bad[len(bad)*(2*i+5)/20] ^= 1 // blocks in the middle
		}
	}
	file := filepath.Join(dir, "a.tar.pz")
	servetest.WriteFile(t, file, packed)
	var calls atomic.Int64
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if n := calls.Add(1); faults && n > 2 {
			switch n % 5 {
			case 0:
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			case 1:
				w = &cutWriter{ResponseWriter: w, left: 100_000}
			}
		}
		http.ServeContent(w, r, "", servetest.Day, bytes.NewReader(packed))
	}))
	defer remote.Close()
	const memory = 256 << 20
	p := launch(t, "--memory", "256MiB", "--cache", "2MiB", "--max-connections", "1000", "--profile", "top",
		"--allow-url", remote.URL, filepath.Join(dir, "tree"), file, "remote="+remote.URL+"/r.tar.pz")
	if faults {
		// Damage in place, but with the time of the file: nothing but checks can show it.
		servetest.WriteFile(t, file, bad)
	}
	count, each := 100, 10
	if testenv.All() {
		count, each = 1000, 30
	}
	result := runClients(p.url, tree, count, each)
	peak := p.peak()
	s := p.snapshot()
	log := p.end()
	t.Logf("%d clients, %d responses: %d whole, %d failed, %d cut; %.1f MB; peak memory %d MiB",
		count, count*each, result.whole.Load(), result.failed.Load(), result.cut.Load(),
		float64(result.bytes.Load())/1e6, peak>>20)
	for _, err := range result.wrong {
		t.Error(err)
	}
	if peak > memory && !testenv.Race {
		t.Errorf("peak memory of %d bytes is more than %d", peak, memory)
	}
	bad5xx := result.failed.Load() + result.cut.Load()
	switch {
	case !faults && bad5xx > 0:
		t.Errorf("%d responses failed\n%s", bad5xx, tail(log))
	case faults && (bad5xx == 0 || s.Errors["damaged"] == 0 || s.Remote.Retries == 0):
		t.Errorf("the faults had no effect: %d responses failed, %v, %+v", bad5xx, s.Errors, s.Remote)
	// A client repeats a request of which it has got nothing.
	case s.Requests.InFlight != 0 || s.Requests.Total() < int64(count*each):
		t.Errorf("%+v", s.Requests)
	}
	n := int64(strings.Count(log, "request failed"))
	if n < bad5xx || n != s.Requests.Cut+s.Requests.ByStatus["500"]+s.Requests.ByStatus["502"] {
		t.Errorf("%d responses failed, the log has %d: %+v", bad5xx, n, s.Requests)
	}
}

func tail(log string) string { return log[max(0, len(log)-2000):] }

// outcome is what clients have seen.
type outcome struct {
	whole, failed, cut, bytes atomic.Int64

	mu    sync.Mutex
	wrong []error
}

// runClients has count clients make each requests, one after the other.
func runClients(url string, tree servetest.Tree, count, each int) *outcome {
	out := &outcome{}
	names := tree.Names()
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			transport := &http.Transport{DisableCompression: i%2 == 0}
			c := &http.Client{Transport: transport, Timeout: 5 * time.Minute}
			defer c.CloseIdleConnections()
			for range each {
				name := names[r.IntN(len(names))]
				source := []string{"tree", "a", "remote"}[r.IntN(3)]
				if err := out.request(c, r, url+"/"+source, name, tree[name]); err != nil {
					out.mu.Lock()
					out.wrong = append(out.wrong, fmt.Errorf("%s/%s: %w", source, name, err))
					out.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return out
}

// request makes a request and checks the response.
func (o *outcome) request(c *http.Client, r *rand.Rand, base, name string, content []byte) error {
	req, err := http.NewRequest("GET", base, nil)
	if err != nil {
		return err
	}
	req.URL.Path += "/" + strings.TrimSuffix(name, "index.html")
	want, code := content, 200
	if len(content) > 10 && r.IntN(2) == 0 {
		from := r.IntN(len(content))
		to := from + r.IntN(len(content)-from)
		want, code = content[from:to+1], 206
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to))
	}
	resp, err := c.Do(req)
	if errors.Is(err, io.EOF) {
		o.cut.Add(1) // before the header was sent
		return nil
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	o.bytes.Add(int64(len(body)))
	switch {
	case resp.StatusCode >= 500:
		o.failed.Add(1)
	case resp.StatusCode != code:
		return fmt.Errorf("status %d, want %d", resp.StatusCode, code)
	case err != nil:
		o.cut.Add(1)
		if !bytes.HasPrefix(want, body) {
			return fmt.Errorf("wrong bytes in front of an end that is missing")
		}
	case !bytes.Equal(body, want):
		return fmt.Errorf("%d wrong bytes, want %d", len(body), len(want))
	default:
		o.whole.Add(1)
	}
	return nil
}

// cutWriter closes the connection after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return w.ResponseWriter.Write(p)
}
