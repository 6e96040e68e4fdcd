package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestRedirect checks that each request begins at the original URL, and that secrets stay with its
// host.
func TestRedirect(t *testing.T) {
	content := random(10_000)
	target := newServer(t, content)
	var headers http.Header
	target.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
		headers = r.Header.Clone()
		return false
	})
	n := 0
	from := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		if r.Header.Get("X-Token") != "secret" || r.Header.Get("Authorization") != "Basic secret" {
			t.Errorf("the request lacks headers: %v", r.Header)
		}
		http.Redirect(w, r, target.URL+"/signed?sig=1", http.StatusFound)
	}))
	defer from.Close()
	r, err := Open(context.Background(), from.URL+"/file?key=secret", WithSegment(1<<10), WithTail(0),
		WithHeader(http.Header{"X-Token": {"secret"}, "Authorization": {"Basic secret"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read(t, r, content, 5000, 100)
	if n != 2 || len(target.ranges()) != 2 {
		t.Errorf("%d requests at the origin, %d at the target", n, len(target.ranges()))
	}
	for name, values := range headers {
		if strings.Contains(strings.Join(values, " "), "secret") {
			t.Errorf("the target received %s: %s", name, values)
		}
	}
	if headers.Get("If-Range") != `"v1"` {
		t.Error("the target received no If-Range")
	}
}

// TestCheckRedirect checks which redirects the default client refuses.
func TestCheckRedirect(t *testing.T) {
	at := func(s string) *http.Request {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u, Header: http.Header{}}
	}
	via := []*http.Request{at("https://a/")}
	if err := checkRedirect(at("http://a/"), via); err != errDowngrade {
		t.Errorf("https to http: %v", err)
	}
	if err := checkRedirect(at("https://b/"), via); err != nil {
		t.Errorf("https to https: %v", err)
	}
	if err := checkRedirect(at("https://a/"), make10(via)); err != errRedirects {
		t.Errorf("10 redirects: %v", err)
	}
}

// TestRefusedRedirect checks that a redirect that the client does not follow is no reason to ask
// again.
func TestRefusedRedirect(t *testing.T) {
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer s.Close()
	refusal := errors.New("refused")
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return refusal }}
	_, err := Open(context.Background(), s.URL, WithClient(c), WithTail(0))
	if !errors.Is(err, refusal) || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

func make10(via []*http.Request) []*http.Request {
	for len(via) < 10 {
		via = append(via, via[0])
	}
	return via
}

// TestSecrets checks that errors do not have user, password, query and fragment of the URL.
func TestSecrets(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/status":
			w.WriteHeader(404)
		case "/location":
			w.Header().Set("Location", "http://bad host/?sig=secret")
			w.WriteHeader(http.StatusFound)
		case "/user":
			w.Header().Set("Location", "http://secret:secret@bad host/")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop?sig=secret", http.StatusFound)
		case "/none":
			w.Write(random(3000))
		}
	}))
	defer s.Close()
	base := strings.Replace(s.URL, "http://", "http://secret:secret@", 1)
	down := httptest.NewServer(nil)
	down.Close()
	for _, u := range []string{
		base + "/status?sig=secret#secret", base + "/location?sig=secret", base + "/loop?sig=secret",
		base + "/user",
		base + "/none?sig=secret", down.URL + "/x?sig=secret", "ftp://secret:secret@host/x?sig=secret",
		"http://host/%zz?sig=secret", "http://?sig=secret", "file?sig=secret",
	} {
		_, err := Open(context.Background(), u, quick(0), WithSegment(1<<10))
		if err == nil {
			t.Errorf("%s: no error", u)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", u, err)
		}
		if e := (*Error)(nil); errors.As(err, &e) && strings.Contains(e.URL, "secret") {
			t.Errorf("%s: Error.URL is %s", u, e.URL)
		}
		t.Log(err)
	}
}

// TestUnreachable checks that Open and Get do not wait for a server that is not there, and that
// ReadAt does.
func TestUnreachable(t *testing.T) {
	s := newServer(t, random(10_000))
	r := open(t, s)
	s.Close()
	_, err1 := Open(context.Background(), s.URL)
	_, err2 := Get(context.Background(), s.URL)
	_, err3 := r.ReadAt(make([]byte, 10), 5000)
	for i, err := range []error{err1, err2, err3} {
		var e *Error
		if !errors.As(err, &e) || e.Attempts != []int{1, 1, 4}[i] || e.Status != 0 {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestHugeSize opens files of which the server states a size near the largest int64.
func TestHugeSize(t *testing.T) {
	for _, size := range []int64{1<<63 - 1, 1<<63 - 4096, 1<<62 + 1, 1 << 62} {
		s := newServer(t, nil)
		s.setFault(func(_ int, w http.ResponseWriter, req *http.Request) bool {
			var first, last int64
			if n, _ := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-%d", &first, &last); n < 2 {
				first, last = size-3000, size-1 // the tail
			}
			last = min(last, size-1)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(make([]byte, last-first+1))
			return true
		})
		r, err := Open(context.Background(), s.URL, WithSegment(1<<10), quick(0))
		if size > 1<<62 {
			if !errors.Is(err, ErrAnswer) {
				t.Errorf("%d: %v", size, err)
			}
			if err != nil {
				continue
			}
		} else if err != nil {
			t.Errorf("%d: %v", size, err)
			continue
		}
		p := make([]byte, 5000)
		if n, err := r.ReadAt(p, size-4500); n != 4500 || err != io.EOF {
			t.Errorf("%d: %d bytes, %v", size, n, err)
		}
		r.Close()
	}
}

// TestOptions checks that Open refuses options out of range.
func TestOptions(t *testing.T) {
	for i, opt := range []Option{
		WithSegment(1000), WithSegment(512), WithSegment(8 << 20), WithCacheSize(-1), WithReadAhead(-1),
		WithTail(-1), WithReadWhole(-1), WithMaxRequests(0), quick(-1), WithRetries(1, -1),
		WithStallTimeout(0),
	} {
		r, err := Open(context.Background(), "http://127.0.0.1:0/", opt)
		if r != nil || errors.As(err, new(*Error)) {
			t.Errorf("option %d: %v", i, err)
		}
	}
}

// TestParseContentRange checks valid and invalid headers.
func TestParseContentRange(t *testing.T) {
	for s, want := range map[string]contentRange{
		"bytes 0-0/1": {0, 0, 1}, "bytes 5-9/10": {5, 9, 10}, "bytes 5-9/*": {5, 9, -1},
		"bytes */10": {-1, -1, 10},
		"BYTES 0-9223372036854775806/9223372036854775807": {0, 1<<63 - 2, 1<<63 - 1},
	} {
		if got, ok := parseContentRange(s); !ok || got != want {
			t.Errorf("%q: %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{
		"", "bytes", "bytes 0-0", "bytes */*", "bytes 5-4/10", "bytes 5-10/10", "bytes -1-4/10",
		"bytes 0-+4/10", "items 0-0/1",
		"bytes 0-9223372036854775808/*", "bytes 0-1/-1", "bytes 0/1", "bytes 0-1/0x5",
	} {
		if got, ok := parseContentRange(s); ok {
			t.Errorf("%q: %v", s, got)
		}
	}
}
