package httpcompress

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

type headers []string

const json = "Content-Type: application/json"

// responses are what TestResponses checks.
var responses = []struct {
	name    string
	request headers
	options []Option
	status  int
	header  headers // of the handler
	size    int
	want    string // Content-Encoding
	vary    bool
}{
	{name: "json", header: headers{json}, size: 5000, want: "zstd", vary: true},
	{name: "parameters", header: headers{"Content-Type: Text/HTML; charset=utf-8"}, size: 5000,
		want: "zstd", vary: true},
	{name: "sniffed", size: 5000, want: "zstd", vary: true},
	{name: "error", status: 500, header: headers{json}, size: 5000, want: "zstd", vary: true},
	{name: "just large enough", header: headers{json}, size: 1024, want: "zstd", vary: true},
	{name: "small", header: headers{json}, size: 1023, vary: true},
	{name: "announced", header: headers{json, "Content-Length: 5000"}, size: 5000, want: "zstd",
		vary: true},
	{name: "announced small", header: headers{json, "Content-Length: 99"}, size: 99, vary: true},
	{name: "empty", header: headers{json}, vary: true},
	{name: "picture", header: headers{"Content-Type: image/png"}, size: 5000},
	{name: "wasm", header: headers{"Content-Type: application/wasm"}, size: 5000, want: "zstd",
		vary: true},
	{name: "binary", header: headers{"Content-Type: application/octet-stream"}, size: 5000},

	{name: "no client support", request: headers{"Accept-Encoding: br"}, header: headers{json},
		size: 5000, vary: true},
	{name: "gzip only", request: headers{"Accept-Encoding: gzip"}, header: headers{json},
		size: 5000, want: "gzip", vary: true},
	{name: "plain refused", request: headers{"Accept-Encoding: gzip, identity;q=0"}, size: 9,
		header: headers{"Content-Type: image/png"}, want: "gzip", vary: true},
	{name: "all refused", request: headers{"Accept-Encoding: *;q=0"}, header: headers{json},
		size: 5000, vary: true},
	{name: "server order", options: []Option{WithEncodings(Gzip, Zstd)}, header: headers{json},
		size: 5000, want: "gzip", vary: true},
	{name: "one encoding", options: []Option{WithEncodings(Gzip)}, header: headers{json},
		size: 5000, want: "gzip", vary: true},
	{name: "default type", options: []Option{WithContentType(nil)}, header: headers{json}, size: 5000,
		want: "zstd", vary: true},

	{name: "encoded already", header: headers{json, "Content-Encoding: br"}, size: 5000},
	{name: "no-transform", header: headers{json, "Cache-Control: public, no-transform"},
		size: 5000},
	{name: "request no-transform", header: headers{json}, size: 5000,
		request: headers{"Accept-Encoding: gzip", "Cache-Control: no-transform"}},
	{name: "digest", header: headers{json, "Repr-Digest: sha-256=:AA==:"}, size: 5000},
	{name: "range", status: 206, header: headers{json, "Content-Range: bytes 0-4999/6000"},
		size: 5000, vary: true},
	{name: "range not satisfiable", status: 416, size: 2000, vary: true,
		header: headers{json, "Content-Range: bytes */6000"}},
	{name: "no content", status: 204, header: headers{json}},
	{name: "not modified", status: 304, header: headers{json}, vary: true},

	{name: "vary kept", header: headers{json, "Vary: Origin, accept-encoding"}, size: 5000,
		want: "zstd", vary: true},
	{name: "vary star", header: headers{json, "Vary: *"}, size: 5000, want: "zstd"},
	{name: "skipped", options: []Option{WithSkip(func(*http.Request) bool { return true })},
		header: headers{json}, size: 5000},
	{name: "least size", options: []Option{WithMinSize(2000)}, header: headers{json},
		size: 1999, vary: true},
	{name: "no least size", options: []Option{WithMinSize(0)}, header: headers{json}, size: 1,
		want: "zstd", vary: true},
	{name: "no least size, sniffed", options: []Option{WithMinSize(0)}, size: 1, want: "zstd",
		vary: true},
	{name: "other types",
		options: []Option{WithContentType(func(m string) bool { return m == "image/png" })},
		header:  headers{"Content-Type: image/PNG;a=b"}, size: 5000, want: "zstd", vary: true},
	{name: "level",
		options: []Option{WithWriterOptions(Zstd, compress.WithLevel(9), compress.WithBlockSize(8<<20))},
		header:  headers{json}, size: 5000, want: "zstd", vary: true},
}

// TestResponses checks which responses are compressed, and their headers.
func TestResponses(t *testing.T) {
	for _, c := range responses {
		content := page(c.size)
		if c.request == nil {
			c.request = headers{"Accept-Encoding: gzip, deflate, br, zstd"}
		}
		for _, chunk := range []int{1 << 20, 700, 1} {
			h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				setHeaders(w.Header(), c.header)
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				for p := range slices.Chunk(content, chunk) {
					if n, err := w.Write(p); n != len(p) || err != nil {
						t.Errorf("%s: Write: %d, %v", c.name, n, err)
					}
				}
			}), c.options...)
			w := do(h, "GET", c.request...)
			got := w.Header()
			if got.Get("Content-Encoding") != c.want && got.Get("Content-Encoding") != "br" {
				t.Errorf("%s: Content-Encoding %q, want %q", c.name, got.Get("Content-Encoding"),
					c.want)
				continue
			}
			if hasToken(got["Vary"], "accept-encoding") != c.vary || len(got["Vary"]) > 1 {
				t.Errorf("%s: Vary %q, want %v", c.name, got["Vary"], c.vary)
			}
			if w.Code != max(c.status, 200) {
				t.Errorf("%s: status %d", c.name, w.Code)
			}
			if c.want != "" && got.Get("Content-Length") != "" {
				t.Errorf("%s: Content-Length %q", c.name, got.Get("Content-Length"))
			}
			if !slices.Contains(c.header, "Content-Encoding: br") {
				wantContent(t, c.name, c.want, w.Body.Bytes(), content)
			}
		}
	}
}

// TestServers checks real servers: of HTTP/1.1, where a plain response keeps its Content-Length,
// and of HTTP/2.
func TestServers(t *testing.T) {
	for _, size := range []int{10, 5000, 200_000, 1_500_000} {
		content := page(size)
		for _, http2 := range []bool{false, true} {
			s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Write(content)
			})), http2)
			for _, encoding := range []string{"zstd", "gzip", "br"} {
				what := fmt.Sprintf("%d bytes, %s, HTTP/2 %v", size, encoding, http2)
				resp, body := get(t, s, "GET", "Accept-Encoding: "+encoding)
				used := resp.Header.Get("Content-Encoding")
				if want := size > DefaultMinSize && encoding != "br"; want != (used == encoding) {
					t.Errorf("%s: Content-Encoding %q", what, used)
				}
				if got := resp.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
					t.Errorf("%s: Content-Type %q", what, got)
				}
				if size == 10 && resp.ContentLength != 10 {
					t.Errorf("%s: Content-Length %d", what, resp.ContentLength)
				}
				wantContent(t, what, used, body, content)
			}
			// The client of net/http asks for gzip by itself, and decompresses.
			s.Client().Transport.(*http.Transport).DisableCompression = false
			resp, body := get(t, s, "GET")
			if resp.Uncompressed != (size > DefaultMinSize) {
				t.Errorf("%d bytes: uncompressed by the client: %v", size, resp.Uncompressed)
			}
			wantContent(t, "http.Client", "", body, content)
		}
	}
}

// TestHead checks that HEAD gets the headers of GET, by handlers that write a body and by others.
func TestHead(t *testing.T) {
	content := page(5000)
	for name, h := range map[string]http.HandlerFunc{
		"written": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"v1"`)
			w.Write(content)
		},
		"copied": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"v1"`)
			io.Copy(w, strings.NewReader(string(content)))
		},
		"announced": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Length", "5000")
			if r.Method != "HEAD" {
				w.Write(content)
			}
		},
	} {
		s := serve(t, Handler(h), false)
		for _, encoding := range []string{"zstd", "gzip", "br"} {
			a, _ := get(t, s, "GET", "Accept-Encoding: "+encoding)
			b, body := get(t, s, "HEAD", "Accept-Encoding: "+encoding)
			for _, name := range []string{"Content-Encoding", "Content-Type", "ETag", "Vary"} {
				if a.Header.Get(name) != b.Header.Get(name) {
					t.Errorf("%s, %s: %s is %q for GET and %q for HEAD", name, encoding, name,
						a.Header.Get(name), b.Header.Get(name))
				}
			}
			if len(body) > 0 || (a.Header.Get("Content-Encoding") == "") != (encoding == "br") {
				t.Errorf("%s, %s: %v", name, encoding, a.Header)
			}
			if encoding != "br" && b.ContentLength >= 0 {
				t.Errorf("%s, %s: HEAD has a Content-Length of %d", name, encoding, b.ContentLength)
			}
		}
	}
	// Without a body and a length, nothing is known.
	w := do(Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), "HEAD",
		"Accept-Encoding: gzip")
	if w.Header().Get("Content-Encoding") != "" {
		t.Errorf("HEAD of nothing: %v", w.Header())
	}
}

// TestOptionErrors checks that Handler panics for options out of their range.
func TestOptionErrors(t *testing.T) {
	for _, o := range []Option{
		WithEncodings(), WithEncodings("br"), WithEncodings(Gzip, Gzip), WithMinSize(-1),
		WithMinSize(2 << 20),
		WithWriterOptions("br"), WithWriterOptions(Zstd, compress.WithLevel(10)),
		WithWriterOptions(Gzip, compress.WithSeekable(0)),
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "httpcompress: ") {
					t.Errorf("panic %q", s)
				}
			}()
			Handler(http.NotFoundHandler(), o)
			t.Error("no panic")
		}()
	}
	// The format is not an option.
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		w.Write(page(5000))
	}),
		WithWriterOptions(Gzip, compress.WithFormat(compress.PZ)))
	decoded(t, "gzip", do(h, "GET", "Accept-Encoding: gzip").Body.Bytes())
}

// TestSniffing checks the Content-Type that a client gets of a response without one.
func TestSniffing(t *testing.T) {
	for name, c := range map[string]struct {
		start    string
		header   http.Header
		want     string
		encoding string
	}{
		"html":    {"<html>", nil, "text/html; charset=utf-8", "gzip"},
		"picture": {"\x89PNG\r\n\x1a\n", nil, "image/png", ""},
		// The handler wants no Content-Type: net/http sends none, or an empty one.
		"none":          {"<html>", http.Header{"Content-Type": nil}, "", "gzip"},
		"empty":         {"<html>", http.Header{"Content-Type": {""}}, "", "gzip"},
		"empty picture": {"\x89PNG\r\n\x1a\n", http.Header{"Content-Type": {""}}, "", ""},
	} {
		content := []byte(c.start + strings.Repeat("some text ", 500))
		s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(w.Header(), c.header)
			for p := range slices.Chunk(content, 3) { // too little to tell
				w.Write(p)
			}
		})), false)
		resp, body := get(t, s, "GET", "Accept-Encoding: gzip")
		media, encoding := resp.Header.Get("Content-Type"), resp.Header.Get("Content-Encoding")
		if media != c.want || encoding != c.encoding {
			t.Errorf("%s: %v", name, resp.Header)
			continue
		}
		wantContent(t, name, c.encoding, body, content)
	}
}
