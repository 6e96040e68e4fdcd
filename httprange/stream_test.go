package httprange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
)

// TestGet reads a file from a server without ranges: after a failure that passes, after one that
// lasts, and over a connection that breaks.
func TestGet(t *testing.T) {
	content := random(100_000)
	s := newServer(t, content)
	for _, c := range []struct {
		name     string
		failures int
		fault    func(*testServer, http.ResponseWriter, *http.Request)
		err      error
		size     int
	}{
		{"intact", 0, nil, nil, 100_000},
		{"status 503 once", 1, status(503), nil, 100_000},
		{"status 503", 9, status(503), ErrStatus, 0},
		{"status 404", 1, status(404), ErrStatus, 0},
		{"reset", 1, func(s *testServer, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
			w.Write(content[:40_000])
			panic(http.ErrAbortHandler)
		}, io.ErrUnexpectedEOF, 40_000},
		{"gzip", 9, edit(func(h http.Header) { h.Set("Content-Encoding", "gzip") }), ErrAnswer, 0},
	} {
		s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n < c.failures {
				c.fault(s, w, r)
			}
			return n < c.failures
		})
		f, err := Get(context.Background(), s.URL+"/file?sig=secret", quick(3))
		var got []byte
		if err == nil {
			if !f.LastModified().Equal(modified) {
				t.Errorf("%s: time %v", c.name, f.LastModified())
			}
			got, err = io.ReadAll(f)
			if st := f.Stats(); st.Bytes != int64(len(got)) {
				t.Errorf("%s: statistics %+v", c.name, st)
			}
			f.Close()
			if _, err := f.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: Read after Close has no error", c.name)
			}
		}
		if !errors.Is(err, c.err) || !bytes.Equal(got, content[:c.size]) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		if e := (*Error)(nil); errors.As(err, &e) && c.size > 0 && e.Offset != int64(c.size) {
			t.Errorf("%s: the error is at byte %d", c.name, e.Offset)
		}
	}
	for _, rng := range s.ranges() {
		if rng != "" {
			t.Errorf("a request has range %q", rng)
		}
	}
}
