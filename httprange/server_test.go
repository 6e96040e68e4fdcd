package httprange

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// modified is the time of a testServer's file.
var modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A testServer serves one file, and does what a test asks for in some requests.
type testServer struct {
	*httptest.Server
	latency time.Duration

	mu      sync.Mutex
	content []byte
	etag    string                                                          // "" for none
	undated bool                                                            // no Last-Modified
	fault   func(n int, w http.ResponseWriter, r *http.Request) (done bool) // n counts requests from 0
	log     []string                                                        // Range headers
}

func newServer(t *testing.T, content []byte) *testServer {
	s := &testServer{content: content, etag: `"v1"`}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.log)
	s.log = append(s.log, r.Header.Get("Range"))
	content, etag, undated, fault := s.content, s.etag, s.undated, s.fault
	s.mu.Unlock()
	time.Sleep(s.latency)
	if fault != nil && fault(n, w, r) {
		return
	}
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	var at time.Time
	if !undated {
		at = modified
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", at, bytes.NewReader(content))
}

// change replaces the file.
func (s *testServer) change(content []byte, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.etag = content, etag
}

// setFault sets what happens from the next request on, which has number 0.
func (s *testServer) setFault(f func(n int, w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.log = f, nil
}

// ranges returns the ranges of all requests so far.
func (s *testServer) ranges() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// reset breaks the connection after n bytes of the right answer.
func (s *testServer) reset(w http.ResponseWriter, r *http.Request, n int) {
	rec := httptest.NewRecorder()
	rec.Header().Set("ETag", s.etag)
	http.ServeContent(rec, r, "", modified, bytes.NewReader(s.content))
	c, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(buf, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n", rec.Code, rec.Body.Len())
	for _, name := range []string{"Content-Range", "Etag", "Last-Modified"} {
		fmt.Fprintf(buf, "%s: %s\r\n", name, rec.Header().Get(name))
	}
	fmt.Fprintf(buf, "\r\n%s", rec.Body.Bytes()[:min(n, rec.Body.Len())])
	buf.Flush()
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// random returns n bytes, the same for each run.
func random(n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

// quick makes a Reader repeat requests without long pauses.
func quick(n int) Option { return WithRetries(n, time.Millisecond) }

// open opens the file of a server, with segments of 1 KiB, no tail and no read-ahead.
func open(t *testing.T, s *testServer, opts ...Option) *Reader {
	t.Helper()
	small := []Option{WithSegment(1 << 10), WithTail(0), WithReadAhead(0), quick(3)}
	r, err := Open(context.Background(), s.URL+"/file?sig=secret", append(small, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// read reads n bytes at off, which have to be those of the content.
func read(t *testing.T, r *Reader, content []byte, off, n int) {
	t.Helper()
	p := make([]byte, n)
	if got, err := r.ReadAt(p, int64(off)); got != n || err != nil {
		t.Fatalf("ReadAt of %d bytes at %d: %d, %v", n, off, got, err)
	}
	if !bytes.Equal(p, content[off:off+n]) {
		t.Fatalf("wrong bytes at %d", off)
	}
}

// transport serves requests in this process, for tests in virtual time.
type transport func(r *http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// serve answers a request from memory.
func serve(content []byte, r *http.Request) *http.Response {
	rec := httptest.NewRecorder()
	rec.Header().Set("ETag", `"v1"`)
	http.ServeContent(rec, r, "", modified, bytes.NewReader(content))
	return rec.Result()
}
