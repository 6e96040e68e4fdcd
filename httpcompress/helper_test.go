package httpcompress

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/zstframe"
)

// page is content that compresses well.
func page(size int) []byte { return corpus.ByName("json").Make(size) }

// do calls a handler without a server, with headers as in "Name: value".
func do(h http.Handler, method string, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(method, headers...))
	return w
}

func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	setHeaders(r.Header, headers)
	return r
}

func setHeaders(h http.Header, headers []string) {
	for _, s := range headers {
		name, value, _ := strings.Cut(s, ": ")
		h.Add(name, value)
	}
}

// decoded returns the content of a body with an encoding. A zstd body must be one frame with a
// window of at most 8 MiB.
func decoded(t *testing.T, encoding string, body []byte) []byte {
	t.Helper()
	if encoding == "" {
		return body
	}
	if encoding == "zstd" {
		checkFrame(t, body)
	} else if f, ok := compress.DetectFormat(body); !ok || f != compress.Gzip {
		t.Fatalf("a body of %q begins with % x", encoding, body[:min(4, len(body))])
	}
	p, err := compress.AppendDecode(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkFrame checks that body is a single frame, and its window.
func checkFrame(t *testing.T, body []byte) {
	t.Helper()
	h, at, err := zstframe.ParseHeader(body)
	if err != nil || h.Window > 8<<20 || h.Checksum {
		t.Fatalf("%+v, %v", h, err)
	}
	for last := false; !last; {
		b, err := zstframe.ParseBlock(body[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += zstframe.BlockHeaderSize + b.Size
		last = b.Last
	}
	if at != len(body) {
		t.Fatalf("the first frame has %d of %d bytes", at, len(body))
	}
}

// serve starts a server of HTTP/1.1 or HTTP/2. Its client does not decompress by itself.
func serve(t *testing.T, h http.Handler, http2 bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	if http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	s.Client().Transport.(*http.Transport).DisableCompression = true
	t.Cleanup(s.Close)
	return s
}

// get sends a request and returns the response with its raw body.
func get(t *testing.T, s *httptest.Server, method string, headers ...string) (*http.Response,
	[]byte) {
	t.Helper()
	r, err := http.NewRequest(method, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(r.Header, headers)
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

func wantContent(t *testing.T, what, encoding string, body, content []byte) {
	t.Helper()
	if got := decoded(t, encoding, body); !bytes.Equal(got, content) {
		t.Errorf("%s: %d bytes of other content than the %d bytes wanted", what, len(got),
			len(content))
	}
}

// quiet lets servers log nothing.
func quiet(servers ...*httptest.Server) {
	for _, s := range servers {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
	}
}
