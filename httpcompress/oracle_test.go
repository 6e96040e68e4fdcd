package httpcompress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
)

// modified is when the files of ServeContent were.
var modified = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

// serveFile serves content with an ETag.
func serveFile(mediaType string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "", modified, bytes.NewReader(page(size)))
	}
}

// oracles are handlers whose responses must be the same with and without the package.
var oracles = map[string]http.HandlerFunc{
	"nothing": func(http.ResponseWriter, *http.Request) {},
	"file":    serveFile("text/plain", 9000),
	"image":   serveFile("image/png", 9000),
	"trailers": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Trailer", "Declared")
		w.Write(page(size(r)))
		w.Header().Set("Declared", "a")
		w.Header().Set(http.TrailerPrefix+"Undeclared", "b")
	},
	"undeclared trailers": func(w http.ResponseWriter, r *http.Request) {
		w.Write(page(size(r)))
		w.Header().Set(http.TrailerPrefix+"Undeclared", "b")
	},
	"early trailers": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(http.TrailerPrefix+"Undeclared", "b")
		w.Write(page(size(r)))
		w.Header().Set(http.TrailerPrefix+"Undeclared", "c")
	},
	"late header": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Early", "a")
		w.WriteHeader(201)
		w.Header().Set("Early", "b")
		w.Header().Set("Late", "c")
		w.Header().Set("Content-Type", "image/png")
		w.Write(page(size(r)))
		w.Header().Del("Early")
	},
	"two statuses": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(103)
		w.WriteHeader(404)
		w.WriteHeader(103)
		w.WriteHeader(200)
		w.Write(page(size(r)))
	},
	"no status": func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			w.Header().Set("Panic", fmt.Sprint(recover()))
			w.Write(page(size(r)))
		}()
		w.WriteHeader(0)
	},
	"strings": func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			w.(io.StringWriter).WriteString(string(page(size(r))))
		}
	},
	"expect": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(413)
		w.Write(page(size(r)))
	},
	"announced": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size(r)))
		p := page(size(r))
		w.Write(p[:len(p)/2])
		w.Write(p[len(p)/2:])
		if r.ProtoMajor == 1 { // with HTTP/2 the server takes too much while it is in its buffer
			if n, err := w.Write([]byte("more")); n != 0 || err != http.ErrContentLength {
				panic(fmt.Sprint(n, err))
			}
		}
	},
	"announced too little": func(w http.ResponseWriter, r *http.Request) {
		p := page(size(r) + 10)
		if r.ProtoMajor == 2 {
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(p)-5))
		w.Write(p[:len(p)-10])
		w.Write(p[len(p)-10:])
	},
	"announced too much": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", fmt.Sprint(size(r)+5))
		w.Write(page(size(r)))
	},
	"no content": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.WriteHeader(204)
		if _, err := w.Write([]byte("a")); err != http.ErrBodyNotAllowed {
			panic(err)
		}
	},
	"flushes": func(w http.ResponseWriter, r *http.Request) {
		p := page(size(r))
		w.Write(p[:len(p)/2])
		w.(http.Flusher).Flush()
		w.Header().Set("Late", "a")
		io.Copy(w, bytes.NewReader(p[len(p)/2:]))
		w.Header().Set(http.TrailerPrefix+"Undeclared", "b")
	},
	"hijack": func(w http.ResponseWriter, r *http.Request) {
		hijack(w, nil)
	},
	"status, hijack": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Early", "a")
		w.WriteHeader(202)
		w.Header().Set("Late", "a")
		hijack(w, nil)
	},
	"body, hijack": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write(page(size(r)))
		w.(http.Flusher).Flush()
		hijack(w, page(size(r)))
	},
	"switch protocols": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Upgrade", "x")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(101)
		hijack(w, nil)
	},
}

// size is what the request says.
func size(r *http.Request) (n int) {
	fmt.Sscan(r.Header.Get("Size"), &n)
	return n
}

// hijack takes the connection over and closes it. With HTTP/2 nothing can.
func hijack(w http.ResponseWriter, sent []byte) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	n, err := w.Write([]byte("hijacked"))
	if n != 0 || !errors.Is(err, http.ErrHijacked) {
		fmt.Fprintf(c, "HTTP/1.1 500 Internal Server Error\r\n\r\nWrite: %d, %v", n, err)
	}
	if len(sent) == 0 {
		fmt.Fprint(c, "HTTP/1.1 299 Hijacked\r\nConnection: close\r\n\r\n")
	}
}

// An exchange is what a client sees of a response.
type exchange struct {
	status   int
	header   http.Header
	trailer  http.Header
	body     []byte
	err      bool // of the request or the body
	interim  string
	encoding string
}

// ask makes a request and returns what comes.
func ask(t *testing.T, s *httptest.Server, method, path string, headers ...string) (x exchange) {
	t.Helper()
	var body io.Reader
	if method == "PUT" {
		body = strings.NewReader("body")
	}
	r, err := http.NewRequest(method, s.URL+"/"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(r.Header, headers)
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			x.interim += fmt.Sprint(code, " ", h["Link"], " ")
			return nil
		},
	}))
	r.Close = !s.EnableHTTP2 // handlers break connections
	resp, err := s.Client().Do(r)
	if err != nil {
		x.err = true
		return x
	}
	defer resp.Body.Close()
	p, err := io.ReadAll(resp.Body)
	x.err = err != nil
	x.status, x.header, x.trailer = resp.StatusCode, resp.Header, resp.Trailer
	x.encoding = x.header.Get("Content-Encoding")
	x.body = p
	if x.encoding != "" && len(p) > 0 && !x.err {
		x.body, err = compress.AppendDecode(nil, p)
		if err != nil {
			t.Fatalf("%s %s %q: %v", method, path, headers, err)
		}
	}
	return x
}

// normalize takes away what the package may change.
func (x *exchange) normalize() {
	for _, name := range []string{"Date", "Vary", "Content-Encoding", "Content-Length", "Accept-Ranges"} {
		x.header.Del(name)
	}
	if tag := x.header.Get("ETag"); tag != "" {
		tag = strings.NewReplacer("-zstd", "", "-gzip", "").Replace(tag)
		x.header.Set("ETag", tag)
	}
}

// TestOracle compares responses of handlers with and without the package over servers. Nothing but
// the encoding and its headers may differ.
func TestOracle(t *testing.T) {
	mux, wrapped := http.NewServeMux(), http.NewServeMux()
	for name, h := range oracles {
		path := "/" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
		mux.Handle(path, h)
		wrapped.Handle(path, Handler(h))
	}
	conditions := []string{"", `If-None-Match: "v1"`, "If-None-Match: *", `If-None-Match: "x"`,
		`If-Match: "v1"`, `If-Match: "x"`, "If-Match: *", "Range: bytes=2-50",
		"Range: bytes=100000-", "If-Modified-Since: Fri, 03 Jan 2025 03:04:05 GMT",
		"If-Unmodified-Since: Wed, 01 Jan 2025 03:04:05 GMT"}
	for _, http2 := range []bool{false, true} {
		bare, ours := serve(t, mux, http2), serve(t, wrapped, http2)
		quiet(bare, ours)
		for _, name := range slices.Sorted(maps.Keys(oracles)) {
			path := strings.NewReplacer(" ", "-", ",", "").Replace(name)
			for _, method := range []string{"GET", "HEAD", "PUT"} {
				if method != "GET" && http2 {
					continue
				}
				for _, accept := range []string{"zstd", "gzip", "identity"} {
					requests := conditions
					if name != "file" && name != "image" {
						requests = []string{"Size: 0", "Size: 5", "Size: 1500", "Size: 2049", "Size: 40000"}
					}
					for _, condition := range requests {
						compareOne(t, bare, ours, method, path, []string{"Accept-Encoding: " + accept,
							condition})
					}
				}
			}
		}
	}
}

// compareOne compares one response.
func compareOne(t *testing.T, bare, ours *httptest.Server, method, path string, headers []string) {
	t.Helper()
	if headers[1] == "" {
		headers = headers[:1]
	}
	if path == "expect" {
		headers = append(headers, "Expect: 100-continue")
	}
	want, got := ask(t, bare, method, path, headers...), ask(t, ours, method, path, headers...)
	want.normalize()
	got.normalize()
	what := fmt.Sprintf("%s %s %q over HTTP/%v", method, path, headers, ours.EnableHTTP2)
	if got.status != want.status || got.err != want.err || got.interim != want.interim {
		t.Errorf("%s: %d, error %v, %q, not %d, %v, %q", what, got.status, got.err, got.interim,
			want.status, want.err, want.interim)
	}
	for name, values := range map[string][2]http.Header{
		"header": {got.header, want.header}, "trailer": {got.trailer, want.trailer},
	} {
		if len(values[0])+len(values[1]) > 0 && !maps.EqualFunc(values[0], values[1], slices.Equal) {
			t.Errorf("%s: %s %v, not %v", what, name, values[0], values[1])
		}
	}
	if !want.err && !bytes.Equal(got.body, want.body) {
		t.Errorf("%s: body of %d bytes, not %d", what, len(got.body), len(want.body))
	}
}
