package httpcompress

import (
	"net/http"
	"strings"
	"testing"
)

func TestPreferred(t *testing.T) {
	r := &http.Request{Header: http.Header{"Accept-Encoding": {"gzip;q=0.5", "zstd"}}}
	for _, c := range []struct {
		order []Encoding
		want  Encoding
	}{{[]Encoding{Gzip, Zstd}, Zstd}, {[]Encoding{Gzip}, Gzip}, {nil, ""}} {
		if got := Preferred(r, c.order...); got != c.want {
			t.Errorf("%v: %q, want %q", c.order, got, c.want)
		}
	}
	if got := Preferred(&http.Request{}, Gzip); got != "" {
		t.Errorf("no header: %q", got)
	}
}

func TestNegotiate(t *testing.T) {
	both, gzipFirst := []Encoding{Zstd, Gzip}, []Encoding{Gzip, Zstd}
	for _, c := range []struct {
		accept string // values of several headers are between bars
		order  []Encoding
		want   Encoding // "" is a plain response
		plain  bool
	}{
		{"", both, "", true},
		{"gzip", both, Gzip, true},
		{"x-gzip", both, Gzip, true},
		{"GZip", both, Gzip, true},
		{"zstd", both, Zstd, true},
		{"gzip, deflate, br, zstd", both, Zstd, true},
		{"gzip, deflate, br, zstd", gzipFirst, Gzip, true},
		{"deflate, br", both, "", true},
		{"gzip|zstd", both, Zstd, true},
		{" ,, gzip ,", both, Gzip, true},
		{"gzip2", both, "", true},

		{"gzip;q=1.0, zstd;q=0.5", both, Gzip, true},
		{"gzip; q=0.001, zstd;q=0", both, Gzip, true},
		{"gzip\t;\tQ=0.8 , zstd ; q=0.801", gzipFirst, Zstd, true},
		{"gzip;level=3;q=0.2, zstd;q=0.1", both, Gzip, true},
		{"gzip;q=0", both, "", true},
		{"gzip;q=0.000", both, "", true},
		{"gzip;q=1.000", both, Gzip, true},
		{"gzip;q=1.001", both, "", true},
		{"gzip;q=2", both, "", true},
		{"gzip;q=0.1234", both, "", true},
		{"gzip;q=.5", both, "", true},
		{"gzip;q=-1", both, "", true},
		{"gzip;q=0.x", both, "", true},
		{"gzip;q=", both, "", true},
		{"gzip;q", both, "", true},

		{"*", both, Zstd, true},
		{"*;q=0.5, gzip", both, Gzip, true},
		{"*, zstd;q=0", both, Gzip, true},
		{"*;q=0", both, "", false},
		{"gzip, *;q=0", both, Gzip, false},
		{"identity;q=0", both, "", false},
		{"identity;q=0, gzip;q=0.1", both, Gzip, false},
		{"identity;q=0, *;q=0.1", both, Zstd, false},
		{"identity, *;q=0", both, "", true},
		{"identity, gzip;q=0.5", both, "", true},
		{"identity;q=0.5, gzip;q=0.5", both, Gzip, true},
		{"Identity;q=0.2, gzip", both, Gzip, true},
		{"gzip, zstd", []Encoding{Gzip}, Gzip, true},
		{"zstd, *;q=0", []Encoding{Gzip}, "", false},
		{"gzip, zstd, *", nil, "", true},
	} {
		var values []string
		if c.accept != "" {
			values = strings.Split(c.accept, "|")
		}
		i, plain := negotiate(values, c.order)
		got := Encoding("")
		if i >= 0 {
			got = c.order[i]
		}
		if got != c.want || plain != c.plain {
			t.Errorf("%q, %v: %q, plain %v; want %q, %v", c.accept, c.order, got, plain, c.want,
				c.plain)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		negotiate([]string{"gzip;q=0.5, deflate, br, zstd;q=0.25"}, both)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzNegotiate(f *testing.F) {
	f.Add("gzip;q=0.5, *;q=0, identity")
	f.Fuzz(func(t *testing.T, s string) {
		i, plain := negotiate([]string{s}, []Encoding{Zstd, Gzip})
		if i >= 0 && !strings.Contains(s, "*") && !strings.Contains(strings.ToLower(s),
			[]string{"zstd", "gzip"}[i]) {
			t.Errorf("%q: encoding %d", s, i)
		}
		if !plain && !strings.Contains(s, "0") {
			t.Errorf("%q: no plain response", s)
		}
	})
}

func TestHasToken(t *testing.T) {
	for s, want := range map[string]bool{
		"":                                false,
		"no-transform":                    true,
		"public, No-Transform ,max-age=5": true,
		"no-transform2":                   false,
		"x-no-transform":                  false,
		`private="a", no-transform=1`:     true,
	} {
		if got := hasToken([]string{"public", s}, "no-transform"); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestTags(t *testing.T) {
	for tag, want := range map[string]string{
		`"v1"`:      `"v1-zstd"`,
		`""`:        `"-zstd"`,
		`W/"v1"`:    `W/"v1"`,
		`v1`:        `v1`,
		`"`:         `"`,
		``:          ``,
		`"v1-gzip"`: `"v1-gzip-zstd"`,
	} {
		if got := suffixed(tag, Zstd); got != want {
			t.Errorf("%s: %s, want %s", tag, got, want)
		}
	}
	for list, want := range map[string]string{
		`*`:                               "",
		`"v1"`:                            "",
		`"v1-zstd"`:                       `"v1-zstd", "v1"`,
		`"a-gzip", W/"b-zstd" , "c-zstd"`: `"a-gzip", W/"b-zstd" , "c-zstd", W/"b", "c"`,
		`"a,-zstd"|"b-zstd"`:              `"a,-zstd", "b-zstd", "a,", "b"`,
		`"a-zstd`:                         "",
		`a-zstd"`:                         "",
	} {
		r := &http.Request{Header: http.Header{"If-None-Match": strings.Split(list, "|"),
			"If-Range": {`"a-zstd"`}}}
		got := withPlainTags(r, Zstd)
		if want == "" {
			if got != r {
				t.Errorf("%s: changed to %q", list, got.Header)
			}
			continue
		}
		s := got.Header["If-None-Match"]
		if len(s) != 1 || s[0] != want || got.Header.Get("If-Range") != `"a-zstd"` {
			t.Errorf("%s: %q, want %q", list, got.Header, want)
		}
		if strings.Join(r.Header["If-None-Match"], "|") != list {
			t.Errorf("%s: the request itself has changed", list)
		}
	}
}

func TestCompressible(t *testing.T) {
	for media, want := range map[string]bool{
		"text/html": true, "text/event-stream": true, "application/json": true,
		"application/ld+json":  true,
		"application/atom+xml": true, "image/svg+xml": true, "application/wasm": true,
		"font/ttf":               true,
		"application/javascript": true, "model/gltf+json": true, "message/rfc822": true,
		"image/bmp": true,
		"":          false, "image/png": false, "image/jpeg": false, "video/mp4": false, "font/woff2": false,
		"application/octet-stream": false, "application/zip": false, "application/gzip": false,
		"application/pdf": false, "application/grpc": false, "multipart/byteranges": false,
		"json": false,
	} {
		if got := Compressible(media); got != want {
			t.Errorf("%q: %v", media, got)
		}
	}
}
