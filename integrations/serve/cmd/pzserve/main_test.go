package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/integrations/serve/internal/stats"
	"github.com/gopz/compress/internal/corpus"
)

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.tar.pz")
	servetest.WriteFile(t, cut, servetest.Pack(t, corpus.ByName("log").Make(9999), compress.PZ)[:60])
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{"--help"}, 0, "Usage: pzserve"},
		{[]string{"aggregate", "--help"}, 0, "Usage: pzserve"},
		{[]string{"--version"}, 0, "pzserve "},
		{nil, 2, "name a directory"},
		{[]string{"--nope", dir}, 2, "unknown flag"},
		{[]string{"--memory", "1MiB", dir}, 2, "--memory: 1.0 MiB is not in 64 MiB"},
		{[]string{"--memory", "much", dir}, 2, "512MiB"},
		{[]string{"--cache", "512MiB", dir}, 2, "--cache"},
		{[]string{"--listen", "8080", dir}, 2, "HOST:PORT"},
		{[]string{"--idle-timeout", "0s", dir}, 2, "--idle-timeout: 0s is not positive"},
		{[]string{"--profile", "most", dir}, 2, "counters, top or full"},
		{[]string{"--profile", "full", dir}, 2, "--profile-dir"},
		{[]string{"--allow-url", "ftp://x", dir}, 2, "ftp://x"},
		{[]string{"http://127.0.0.1:1/x"}, 1, "--allow-url http://127.0.0.1:1"},
		{[]string{filepath.Join(dir, "none")}, 1, "none: no such file"},
		{[]string{"--listen", "127.0.0.1:99999", dir}, 1, "another address with --listen"},
		{[]string{"--listen", "127.0.0.1:99999", filepath.Join(dir, "none")}, 1, "another address"}, // first
		{[]string{cut}, 1, "cut.tar.pz: compress: block 0 at byte 60: input is cut short; \"pz -t"},
		{[]string{dir, dir}, 1, "NAME=OPERAND"},
		{[]string{"aggregate"}, 2, "name directories"},
		{[]string{"aggregate", dir}, 1, "no snapshots"},
	} {
		var out bytes.Buffer
		if status := run(c.args, &out, &out); status != c.status || !strings.Contains(out.String(), c.text) {
			t.Errorf("%q: status %d, %s", c.args, status, out.String())
		}
	}
}

// TestProfile runs a server in each mode, ends it by SIGTERM and adds up what all have left.
func TestProfile(t *testing.T) {
	dir, profiles := t.TempDir(), t.TempDir()
	content := corpus.ByName("log").Make(300_000)
	servetest.WriteFile(t, filepath.Join(dir, "a.log.pz"), servetest.Pack(t, content, compress.PZ))
	for _, mode := range []string{"counters", "top", "full"} {
		p := launch(t, "--profile", mode, "--profile-dir", filepath.Join(profiles, mode),
			"--snapshot-interval", "50ms", "--snapshots", "3", dir)
		for range 2 {
			if got := p.get(p.url + "/a.log"); !bytes.Equal(got, content) {
				t.Fatal("other content")
			}
		}
		waitFor(t, "five snapshots", func() bool {
			return len(glob(t, profiles, mode, "*.00000[5-9].json")) > 0
		})
		p.end()
		if n := len(glob(t, profiles, mode, "*.json")); n != 3 {
			t.Errorf("%s: %d snapshots, want the last 3", mode, n)
		}
		if n := len(glob(t, profiles, mode, ".*")); n != 0 {
			t.Errorf("%s: %d temporary files", mode, n)
		}
	}
	for _, c := range []struct {
		kind    string
		columns int
		rows    int
	}{{"requests", 9, 3}, {"blocks", 8, 5*4 + 1}} {
		names := glob(t, profiles, "full", "*."+c.kind+".csv")
		if len(names) != 1 {
			t.Fatalf("%d files of %s", len(names), c.kind)
		}
		text, err := os.ReadFile(names[0])
		rows, cerr := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || cerr != nil || len(rows) < c.rows || len(rows[0]) != c.columns {
			t.Errorf("%s: %d rows, %v, %v", c.kind, len(rows), err, cerr)
		}
	}
	var out bytes.Buffer
	sums := filepath.Join(t.TempDir(), "all")
	if status := run([]string{"aggregate", "--out", sums, profiles}, &out, &out); status != 0 {
		t.Fatal(out.String())
	}
	for _, want := range []string{
		"# pzserve: 3 runs", "| requests | 6 |", "final", "/a.log", "a.log.pz block 0",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(filepath.Join(sums, "sum.json"))
	sum := &stats.Sum{}
	if err != nil || json.Unmarshal(text, sum) != nil || len(sum.Runs) != 3 ||
		sum.Total.Requests.ByStatus["200"] != 6 || sum.Total.Requests.Bytes != 6*int64(len(content)) ||
		sum.Total.Decode.Items != 3*5 || len(sum.Total.Blocks) != 5 || sum.Total.Blocks[0].Count != 2 {
		t.Errorf("%v: %s", err, text)
	}
	if status := run([]string{"aggregate", "--out", sums, profiles}, &out, &out); status != 1 {
		t.Error("aggregate has written over its output")
	}
}

func glob(t *testing.T, elements ...string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestDebug checks the pages of the debug listener, and that the main one has none of them.
func TestDebug(t *testing.T) {
	dir := t.TempDir()
	servetest.WriteFile(t, filepath.Join(dir, "a"), []byte("x"))
	p := launch(t, dir)
	p.get(p.url + "/a")
	text := string(p.get(p.debug + "/debug/stats?format=prometheus"))
	for _, want := range []string{`pzserve_requests_total{status="200"} 1`, "pzserve_request_seconds_bucket",
		"pzserve_cache_limit_bytes 2.68435456e+08", "go_goroutines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	req, _ := http.NewRequest("GET", p.debug+"/debug/stats", nil)
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("a scraper gets %s", kind)
	}
	if s := p.snapshot(); s.Requests.Total() != 1 || s.Kind != "live" || s.Process.MemoryLimit != 512<<20 {
		t.Errorf("%+v", s)
	}
	for _, path := range []string{"/debug/stats", "/debug/pprof/"} {
		r, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 404 {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
	p.end()
}

// TestShutdown checks that a response under way completes after SIGTERM.
func TestShutdown(t *testing.T) {
	dir := t.TempDir()
	content := corpus.ByName("random").Make(32 << 20)
	servetest.WriteFile(t, filepath.Join(dir, "a.pz"), servetest.Pack(t, content, compress.PZ))
	p := launch(t, dir)
	r, err := http.Get(p.url + "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	ended := make(chan string)
	go func() { ended <- p.end() }()
	waitFor(t, "the end of listening", func() bool {
		r, err := http.Get(p.url + "/")
		if err == nil {
			r.Body.Close()
		}
		return err != nil
	})
	if got := servetest.Read(t, r.Body); !bytes.Equal(got, content) {
		t.Errorf("%d bytes", len(got))
	}
	<-ended
}

// TestLimits checks the limits on clients: size and time of headers, time of writes, connections.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	servetest.WriteFile(t, filepath.Join(dir, "a"), make([]byte, 64<<20))
	p := launch(t, "--max-header", "1KiB", "--header-timeout", "300ms", "--write-timeout", "300ms",
		"--max-connections", "2", dir)
	dial := func(request string) net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(30 * time.Second))
		io.WriteString(c, request)
		return c
	}
	answer := func(c net.Conn) string {
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.TrimSpace(line)
	}
	const end = "Host: x\r\n\r\n"
	large := dial("GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 20_000) + "\r\n" + end)
	if got := answer(large); !strings.Contains(got, "431") {
		t.Errorf("large header: %q", got)
	}
	large.Close()
	slow := dial("GET / HTTP/1.1\r\nHos")
	if got := answer(slow); strings.Contains(got, "200") {
		t.Errorf("slow header: %q", got)
	}
	slow.Close()
	stuck := dial("GET /a HTTP/1.1\r\n" + end) // and reads nothing
	waitFor(t, "the end of the response", func() bool { return p.snapshot().Requests.Slow == 1 })
	stuck.Close()
	for _, method := range []string{"GET", "POST"} {
		noBody := dial(method + " / HTTP/1.1\r\nContent-Length: 1000\r\n" + end)
		if rest, err := io.ReadAll(noBody); err != nil || len(rest) == 0 {
			t.Errorf("%s without its body: %d bytes, %v", method, len(rest), err)
		}
		noBody.Close()
	}
	idle := []net.Conn{dial(""), dial("")}
	waitFor(t, "two connections", func() bool { return p.snapshot().Process.Connections == 2 })
	third := dial("HEAD /a HTTP/1.1\r\n" + end)
	idle[0].Close()
	if got := answer(third); !strings.Contains(got, "200") {
		t.Errorf("third connection: %q", got)
	}
	if s := p.snapshot(); s.Requests.Cut != 0 || len(s.Errors) > 0 {
		t.Errorf("%+v %v", s.Requests, s.Errors)
	}
	p.end()
}
