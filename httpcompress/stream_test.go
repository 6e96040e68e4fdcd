package httpcompress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
)

// TestEvents sends server-sent events. The client must get each one before the next is written.
func TestEvents(t *testing.T) {
	for _, encoding := range []string{"zstd", "gzip"} {
		for _, http2 := range []bool{false, true} {
			next := make(chan int)
			s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				rc := http.NewResponseController(w)
				if err := rc.Flush(); err != nil {
					t.Error(err)
				}
				for i := range next {
					fmt.Fprintf(w, "data: event %d\n\n", i)
					if i%2 == 0 {
						w.(http.Flusher).Flush()
					} else if err := rc.Flush(); err != nil {
						t.Error(err)
					}
				}
			})), http2)
			r, err := http.NewRequest("GET", s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", encoding)
			resp, err := s.Client().Do(r) // the header comes without an event
			if err != nil {
				t.Fatal(err)
			}
			if got := resp.Header.Get("Content-Encoding"); got != encoding {
				t.Fatalf("Content-Encoding %q", got)
			}
			var lines *bufio.Reader
			for i := range 50 {
				next <- i
				if lines == nil {
					z, err := compress.NewReader(resp.Body)
					if err != nil {
						t.Fatal(err)
					}
					lines = bufio.NewReader(z)
				}
				line, err := lines.ReadString('\n')
				if want := fmt.Sprintf("data: event %d\n", i); line != want || err != nil {
					t.Fatalf("%s: %q, %v, want %q", encoding, line, err, want)
				}
				lines.ReadString('\n')
			}
			close(next)
			if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
				t.Errorf("%s: %q at the end, %v", encoding, rest, err)
			}
			resp.Body.Close()
		}
	}
}

// TestFlushUndecided checks a Flush before the decision could be made.
func TestFlushUndecided(t *testing.T) {
	for name, c := range map[string]struct {
		media, body, want string
	}{
		"type, no body": {"text/plain", "", "gzip"},
		"no type":       {"", "", ""},
		"sniffed":       {"", "some text", "gzip"},
		"picture":       {"", "\x89PNG\r\n\x1a\n", ""},
	} {
		w := do(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.media != "" {
				w.Header().Set("Content-Type", c.media)
			}
			io.WriteString(w, c.body)
			w.(http.Flusher).Flush()
			io.WriteString(w, "the rest")
		})), "GET", "Accept-Encoding: gzip")
		if got := w.Header().Get("Content-Encoding"); got != c.want || !w.Flushed {
			t.Errorf("%s: Content-Encoding %q, want %q; flushed %v", name, got, c.want, w.Flushed)
			continue
		}
		wantContent(t, name, c.want, w.Body.Bytes(), []byte(c.body+"the rest"))
	}
}

// recorder is a ResponseWriter with a ReadFrom that it counts, as that of a server.
type recorder struct {
	*httptest.ResponseRecorder
	copies int
}

func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	w.copies++
	return io.Copy(w.ResponseRecorder, r)
}

// TestReadFrom copies content to the response. A plain one must use the ReadFrom of the server.
func TestReadFrom(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, 1023, 1024, 1025, 300_000} {
		content := page(size)
		for _, c := range []struct {
			media, accept, want string
			copies              int
		}{
			{"application/json", "zstd", "zstd", 0},
			{"", "gzip", "gzip", 0},
			{"image/png", "zstd", "", 1},
			{"", "br", "", 1},
		} {
			for _, oneByte := range []bool{false, true} {
				var src io.Reader = bytes.NewBuffer(content)
				src = (struct{ io.Reader }{src})
				if oneByte {
					src = iotest.OneByteReader(src)
				}
				w := &recorder{ResponseRecorder: httptest.NewRecorder()}
				Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if c.media != "" {
						w.Header().Set("Content-Type", c.media)
					}
					if n, err := io.Copy(w, src); n != int64(size) || err != nil {
						t.Errorf("%d bytes: %d, %v", size, n, err)
					}
				})).ServeHTTP(w, request("GET", "Accept-Encoding: "+c.accept))
				want := c.want
				if size < DefaultMinSize {
					want = ""
				}
				what := fmt.Sprintf("%d bytes, %+v", size, c)
				if got := w.Header().Get("Content-Encoding"); got != want || w.copies != c.copies {
					t.Errorf("%s: Content-Encoding %q, %d copies", what, got, w.copies)
				}
				wantContent(t, what, want, w.Body.Bytes(), content)
			}
		}
	}
}

// TestReadFromErrors checks that errors of the source reach the handler, with what was read before.
func TestReadFromErrors(t *testing.T) {
	bad := errors.New("bad source")
	for _, size := range []int{10, 5000} {
		content := page(size)
		w := do(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			src := io.MultiReader(bytes.NewReader(content), iotest.ErrReader(bad))
			if n, err := io.Copy(w, src); n != int64(size) || err != bad {
				t.Errorf("%d bytes: %d, %v", size, n, err)
			}
		})), "GET", "Accept-Encoding: zstd")
		wantContent(t, "before the error", w.Header().Get("Content-Encoding"), w.Body.Bytes(),
			content)
	}
}

// TestServeContent uses http.FileServer: ranges, tags and conditional requests.
func TestServeContent(t *testing.T) {
	content := page(50_000)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), content, 0o666); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		files.ServeHTTP(w, r)
	})), false)
	whole := len(content)
	for _, c := range []struct {
		accept, headers string // headers are between bars
		status          int
		encoding, tag   string
		from, to        int
	}{
		{"", "", 200, "", `"v1"`, 0, whole},
		{"zstd", "", 200, "zstd", `"v1-zstd"`, 0, whole},
		{"gzip", "", 200, "gzip", `"v1-gzip"`, 0, whole},
		{"gzip", `If-None-Match: "v1-gzip"`, 304, "", `"v1-gzip"`, 0, 0},
		{"gzip", `If-None-Match: "x", W/"v1-gzip"`, 304, "", `"v1-gzip"`, 0, 0},
		{"gzip", `If-None-Match: "v1"`, 304, "", `"v1"`, 0, 0},
		{"gzip", `If-None-Match: "v1-zstd"`, 200, "gzip", `"v1-gzip"`, 0, whole},
		{"zstd", `If-None-Match: "v2-zstd"`, 200, "zstd", `"v1-zstd"`, 0, whole},
		{"br", `If-None-Match: "v1-zstd"`, 200, "", `"v1"`, 0, whole},
		{"zstd", `If-Match: "v1-zstd"`, 200, "zstd", `"v1-zstd"`, 0, whole},
		{"zstd", `If-Match: "v2-zstd"`, 412, "", "", 0, 0},
		{"zstd", "Range: bytes=100-", 206, "", `"v1"`, 100, whole},
		{"zstd", `Range: bytes=5-6|If-Range: "v1"`, 206, "", `"v1"`, 5, 7},
		{"zstd", `Range: bytes=5-6|If-Range: "v1-zstd"`, 200, "zstd", `"v1-zstd"`, 0, whole},
	} {
		headers := []string{"Accept-Encoding: " + c.accept}
		if c.headers != "" {
			headers = append(headers, strings.Split(c.headers, "|")...)
		}
		resp, body := get(t, s, "GET", headers...)
		what := strings.Join(headers, ", ")
		if resp.StatusCode != c.status || resp.Header.Get("Content-Encoding") != c.encoding {
			t.Errorf("%s: status %d, Content-Encoding %q", what, resp.StatusCode,
				resp.Header.Get("Content-Encoding"))
			continue
		}
		if got := resp.Header.Get("ETag"); got != c.tag && c.tag != "" {
			t.Errorf("%s: ETag %s, want %s", what, got, c.tag)
		}
		if c.status == 412 {
			continue
		}
		wantContent(t, what, c.encoding, body, content[c.from:c.to])
		ranges := resp.Header.Get("Accept-Ranges")
		if (ranges != "") != (c.encoding == "" && c.status != 304) {
			t.Errorf("%s: Accept-Ranges %q", what, ranges)
		}
		if !hasToken(resp.Header["Vary"], "Accept-Encoding") {
			t.Errorf("%s: Vary %q", what, resp.Header["Vary"])
		}
	}
}

// TestController checks the methods that work through Unwrap, informational responses and trailers.
func TestController(t *testing.T) {
	s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		deadline := time.Now().Add(time.Hour)
		err := errors.Join(rc.SetReadDeadline(deadline), rc.SetWriteDeadline(deadline),
			rc.EnableFullDuplex())
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "small")
		w.Header().Set("X-Sum", "1")
	})), false)
	resp, body := get(t, s, "GET", "Accept-Encoding: gzip")
	wantContent(t, "trailer", resp.Header.Get("Content-Encoding"), body, []byte("small"))
	if resp.Trailer.Get("X-Sum") != "1" || resp.Header.Get("X-Sum") != "" {
		t.Errorf("header %v, trailer %v", resp.Header, resp.Trailer)
	}
	// A ResponseWriter without these methods.
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		if _, _, err := rc.Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Error("Hijack:", err)
		}
		if err := rc.Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Error("Flush:", err)
		}
	}))
	w := struct{ http.ResponseWriter }{httptest.NewRecorder()}
	h.ServeHTTP(w, request("GET", "Accept-Encoding: gzip"))
}

// TestHijack takes a connection over, as WebSocket libraries do.
func TestHijack(t *testing.T) {
	s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		rw.WriteString(line)
		rw.Flush()
	})), false)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n"+
		"Accept-Encoding: gzip\r\n\r\nhello\n")
	got, err := io.ReadAll(c)
	before, after, _ := strings.Cut(string(got), "\r\n\r\n")
	if err != nil || !strings.HasPrefix(before, "HTTP/1.1 101 ") || after != "hello\n" {
		t.Errorf("%q, %v", got, err)
	}
}
