package httpcompress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

// TestIncomplete checks that a response that is not complete does not look so to a client.
func TestIncomplete(t *testing.T) {
	content := page(300_000)
	for name, c := range map[string]struct {
		handler func(w http.ResponseWriter)
		err     error // that WithErrorFunc gets
	}{
		"panic": {func(w http.ResponseWriter) {
			w.Write(content)
			panic(http.ErrAbortHandler)
		}, nil},
		"panic after flush": {func(w http.ResponseWriter) {
			w.Write(content[:9])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, nil},
		"panic, little": {func(w http.ResponseWriter) {
			w.Write(content[:9])
			panic(http.ErrAbortHandler)
		}, nil},
		"less than announced": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "300000")
			w.Write(content[:299_999])
		}, io.ErrUnexpectedEOF},
		"less copied than announced": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "300000")
			io.Copy(w, strings.NewReader(string(content[:2000])))
		}, io.ErrUnexpectedEOF},
	} {
		for _, encoding := range []string{"zstd", "gzip"} {
			for _, http2 := range []bool{false, true} {
				var got error
				s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter,
					r *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					c.handler(w)
				}), WithErrorFunc(func(r *http.Request, err error) { got = err })), http2)
				r, _ := http.NewRequest("GET", s.URL, nil)
				r.Header.Set("Accept-Encoding", encoding)
				resp, err := s.Client().Do(r)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if err == nil {
					t.Errorf("%s, %s, HTTP/2 %v: looks complete", name, encoding, http2)
				}
				s.Close()
				if got != c.err {
					t.Errorf("%s, %s: error %v, want %v", name, encoding, got, c.err)
				}
			}
		}
	}
}

// TestTooMuch checks that a handler cannot write more than its Content-Length.
func TestTooMuch(t *testing.T) {
	content := page(5000)
	for _, method := range []string{"GET", "HEAD"} {
		w := do(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4000")
			n, err := w.Write(content[:4000])
			m, err2 := w.Write(content[4000:])
			if n != 4000 || err != nil || m != 0 || err2 != http.ErrContentLength {
				t.Errorf("%s: %d, %v, %d, %v", method, n, err, m, err2)
			}
		})), method, "Accept-Encoding: zstd")
		if method == "GET" {
			wantContent(t, method, "zstd", w.Body.Bytes(), content[:4000])
		}
	}
}

// failing is a ResponseWriter that fails at a byte.
type failing struct {
	*httptest.ResponseRecorder
	rest int
}

var errBroken = errors.New("broken connection")

func (w *failing) Write(p []byte) (int, error) {
	if w.rest -= len(p); w.rest < 0 {
		return 0, errBroken
	}
	return w.ResponseRecorder.Write(p)
}

// TestErrors lets the ResponseWriter of the server fail. The handler's call or WithErrorFunc must
// get the error, and the Writer must serve the next request.
func TestErrors(t *testing.T) {
	content := page(200_000)
	for _, encoding := range []string{"zstd", "gzip"} {
		var got error
		h := Handler(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			w.Write(content)
		}),
			WithErrorFunc(func(r *http.Request, err error) { got = err }))
		size := len(do(h, "GET", "Accept-Encoding: "+encoding).Body.Bytes())
		for _, rest := range []int{0, 1, size / 2, size - 1} {
			got = nil
			func() {
				defer func() {
					if err := recover(); err != http.ErrAbortHandler {
						t.Errorf("panic %v", err)
					}
				}()
				h.ServeHTTP(&failing{httptest.NewRecorder(), rest}, request("GET",
					"Accept-Encoding: "+encoding))
			}()
			if got != errBroken {
				t.Errorf("%s, failure at byte %d: %v", encoding, rest, got)
			}
			wantContent(t, "after a failure", encoding, do(h, "GET",
				"Accept-Encoding: "+encoding).Body.Bytes(), content)
		}
	}
	// The context of the Writer ends.
	ctx, cancel := context.WithCancelCause(context.Background())
	var got error
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(content)
		cancel(errBroken)
		if err := http.NewResponseController(w).Flush(); !errors.Is(err, errBroken) {
			t.Error("Flush:", err)
		}
	}), WithWriterOptions(Gzip, compress.WithContext(ctx)), WithErrorFunc(func(r *http.Request,
		err error) {
		got = err
	}))
	func() {
		defer func() { recover() }()
		do(h, "GET", "Accept-Encoding: gzip")
	}()
	if !errors.Is(got, errBroken) {
		t.Errorf("after the end of the context: %v", got)
	}
}

// TestAfterReturn checks that a handler that keeps the ResponseWriter cannot write to another
// response.
func TestAfterReturn(t *testing.T) {
	var kept http.ResponseWriter
	do(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept = w
		w.Write(page(5000))
	})), "GET", "Accept-Encoding: gzip")
	if n, err := kept.Write([]byte("late")); n != 0 || err == nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if err := http.NewResponseController(kept).Flush(); err == nil {
		t.Error("Flush: no error")
	}
	if _, err := io.Copy(kept, strings.NewReader("late")); err == nil {
		t.Error("Copy: no error")
	}
}
