package httpcompress

import (
	"net/http"
	"testing"
)

// TestMatchAnyEncoding checks that If-Match with the tag of an encoded response holds whatever the
// request accepts, and that a response 304 has the tag of the response it stands for.
func TestMatchAnyEncoding(t *testing.T) {
	s := serve(t, Handler(serveFile("text/plain", 9000)), false)
	for _, accept := range []string{"zstd", "gzip", "identity"} {
		for _, tag := range []string{`"v1-zstd"`, `"v1-gzip"`, `"v1"`, `"x", "v1-gzip"`} {
			x := ask(t, s, "GET", "", "Accept-Encoding: "+accept, "If-Match: "+tag)
			if x.status != 200 {
				t.Errorf("%s, If-Match: %s: status %d", accept, tag, x.status)
			}
		}
		if x := ask(t, s, "GET", "", "Accept-Encoding: "+accept, `If-Match: "x-zstd"`); x.status != 412 {
			t.Errorf("%s, another tag: status %d", accept, x.status)
		}
		tag := ask(t, s, "GET", "", "Accept-Encoding: "+accept).header.Get("ETag")
		for _, condition := range []string{"If-None-Match: " + tag, "If-None-Match: W/" + tag,
			"If-None-Match: *", `If-None-Match: "x", ` + tag,
			"If-Modified-Since: Fri, 03 Jan 2025 03:04:05 GMT"} {
			x := ask(t, s, "GET", "", "Accept-Encoding: "+accept, condition)
			if x.status != 304 || x.header.Get("ETag") != tag {
				t.Errorf("%s, %s: status %d, ETag %s, not %s", accept, condition, x.status,
					x.header.Get("ETag"), tag)
			}
		}
	}
}

// TestSilent checks that the handler around one that writes nothing can still send a status.
func TestSilent(t *testing.T) {
	h := Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, accept := range []string{"zstd", "identity"} {
		w := do(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			w.WriteHeader(404)
		}), "GET", "Accept-Encoding: "+accept)
		if w.Code != 404 {
			t.Errorf("%s: status %d", accept, w.Code)
		}
	}
}
