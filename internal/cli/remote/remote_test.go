package remote

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/cli"
)

// TestMain lets the test binary act as pz.
func TestMain(m *testing.M) {
	if os.Getenv("PZ_TEST_CHILD") != "" {
		cli.Main(Open)
	}
	os.Exit(m.Run())
}

// pz runs the command in a process of its own.
func pz(t *testing.T, args ...string) (out, messages string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PZ_TEST_CHILD=1", "PZ_LEVEL=", "PZ_THREADS=", "GORACE=atexit_sleep_ms=10",
		"no_proxy=127.0.0.1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// server serves a file, and counts requests. A test sets it up by begin.
type server struct {
	*httptest.Server
	file    []byte
	latency time.Duration

	mu       sync.Mutex
	requests int
	faults   int // so many answers are broken off before others are right
	noRange  bool
}

func newServer(t *testing.T, file []byte, latency time.Duration) *server {
	s := &server{file: file, latency: latency}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// begin forgets the requests so far.
func (s *server) begin(faults int, noRange bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.faults, s.noRange = 0, faults, noRange
}

// count returns the number of requests.
func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	broken, noRange := s.requests <= s.faults, s.noRange
	s.mu.Unlock()
	time.Sleep(s.latency)
	if r.URL.RawQuery != "sig=secret" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.Header().Set("ETag", `"1"`)
	if noRange {
		r.Header.Del("Range")
	}
	if broken {
		w = &breaking{w, 30_000}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.file))
}

// breaking ends the connection after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	n, _ := b.ResponseWriter.Write(p[:min(b.left, len(p))])
	if b.left -= n; b.left == 0 {
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// content returns n bytes that compress to about a half.
func content(n int) []byte {
	p := make([]byte, n)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(rnd.Uint32()) & 15
	}
	return p
}

func encode(t *testing.T, p []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	file, err := compress.AppendEncode(nil, p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// received matches what -v says about requests.
var received = regexp.MustCompile(`(\d+) requests, (\d+) bytes received`)

// TestRequests checks how many requests a listing and a small part of a file take.
func TestRequests(t *testing.T) {
	const size = 12 << 20
	p := content(size)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := encode(t, p, compress.WithFormat(format), compress.WithLevel(1),
			compress.WithSeekable(1<<20))
		s := newServer(t, file, 10*time.Millisecond)
		for _, c := range []struct {
			args           []string
			requests, size int
			want           string
		}{
			{[]string{"-l"}, 2, 300_000, ""},
			{[]string{"-dc", "--range=7000000:10000"}, 3, 1_200_000, string(p[7_000_000:7_010_000])},
		} {
			s.begin(0, false)
			out, messages, code := pz(t, append(c.args, "-v", s.URL+"/file?sig=secret")...)
			m := received.FindStringSubmatch(messages)
			if code != 0 || m == nil || c.want != "" && out != c.want {
				t.Fatalf("%v %v: exit code %d, %d bytes; %s", format, c.args, code, len(out), messages)
			}
			n, _ := strconv.Atoi(m[1])
			bytes, _ := strconv.Atoi(m[2])
			if n != c.requests || s.count() != n || bytes > c.size {
				t.Errorf("%v %v: %d requests (%d), %d bytes", format, c.args, n, s.count(), bytes)
			}
		}
	}
}

// TestWhole reads a file from a server that breaks connections, and from one without ranges.
func TestWhole(t *testing.T) {
	p := content(3 << 20)
	s := newServer(t, encode(t, p, compress.WithBlockSize(64<<10)), 0)
	for _, c := range []struct {
		noRange bool
		faults  int
		args    string
		want    string
		code    int
		text    string
	}{
		{false, 3, "-dcv", string(p), 0, " repeated"},
		{true, 0, "-dcv", string(p), 0, "1 request,"},
		{true, 0, "-t", "", 0, ""},
		{true, 0, "-dc --range=1000000:5", string(p[1_000_000:1_000_005]), 0, ""},
		{true, 2, "-dc", "", 1, "byte 30000: unexpected EOF: the answer is cut short"},
	} {
		s.begin(c.faults, c.noRange)
		out, messages, code := pz(t, append(strings.Fields(c.args), s.URL+"/file?sig=secret")...)
		if code != c.code || out != c.want || !strings.Contains(messages, c.text) {
			t.Errorf("%s, without ranges %v: exit code %d, %d bytes; %s",
				c.args, c.noRange, code, len(out), messages)
		}
	}
	out, messages, code := pz(t, "-dc", s.URL+"/file?sig=wrong")
	want := fmt.Sprintf("pz: %s/file: the server reports status 403 Forbidden\n", s.URL)
	if code != 1 || out != "" || messages != want {
		t.Errorf("exit code %d, %d bytes; %s", code, len(out), messages)
	}
}

// TestStoredName lists the name that a .gz file stores.
func TestStoredName(t *testing.T) {
	s := newServer(t, encode(t, content(1000), compress.WithFormat(compress.Gzip),
		compress.WithName("stored.txt", time.Time{})), 0)
	out, messages, code := pz(t, "-l", "-v", s.URL+"/a.gz?sig=secret")
	if code != 0 || !strings.Contains(messages, "stored.txt") || strings.Contains(out+messages, "secret") {
		t.Errorf("exit code %d; %s; %s", code, out, messages)
	}
}

// TestExclude leaves out a URL, and keeps its secrets.
func TestExclude(t *testing.T) {
	s := newServer(t, nil, 0)
	url := strings.Replace(s.URL, "http://", "http://secret:secret@", 1) + "/dir/a.gz?sig=secret"
	out, messages, _ := pz(t, "-dc", "-v", "--exclude", "dir/*.gz", url)
	if s.count() > 0 || !strings.Contains(messages, "--exclude") || strings.Contains(out+messages, "secret") {
		t.Errorf("%d requests; %s; %s", s.count(), out, messages)
	}
}
