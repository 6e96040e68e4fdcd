package httpcompress

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// TestReverseProxy puts the handler in front of a proxy of net/http. What the backend has
// compressed passes through. If the backend fails, the response must not look complete.
func TestReverseProxy(t *testing.T) {
	content := page(400_000)
	backend := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-How") {
		case "announced":
			w.Header().Set("Content-Length", "400000")
		case "fails":
			w.Write(content[:300_000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "fails announced":
			w.Header().Set("Content-Length", "400000")
			w.Write(content[:300_000])
			return
		}
		w.Write(content)
	}), WithEncodings(Gzip)))
	defer backend.Close()
	target, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DisableCompression: true}
	defer proxy.Transport.(*http.Transport).CloseIdleConnections()
	s := serve(t, Handler(proxy), false)
	for _, c := range []struct{ accept, how, want string }{
		{"zstd", "", "zstd"},
		{"zstd", "announced", "zstd"},
		{"gzip, zstd", "", "gzip"}, // by the backend
		{"br", "", ""},
	} {
		resp, body := get(t, s, "GET", "Accept-Encoding: "+c.accept, "X-How: "+c.how)
		if got := resp.Header.Get("Content-Encoding"); got != c.want || len(resp.Header["Vary"]) != 1 {
			t.Errorf("%+v: Content-Encoding %q, Vary %q", c, got, resp.Header["Vary"])
			continue
		}
		wantContent(t, c.accept, c.want, body, content)
	}
	for _, how := range []string{"fails", "fails announced"} {
		r, _ := http.NewRequest("GET", s.URL, nil)
		r.Header.Set("Accept-Encoding", "zstd")
		r.Header.Set("X-How", how)
		resp, err := s.Client().Do(r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the response looks complete", how)
		}
	}
}
