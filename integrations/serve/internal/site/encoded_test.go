package site

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/integrations/serve/internal/servetest"
	"github.com/gopz/compress/internal/corpus"
)

// TestEncoded checks which stored files are sent as they are.
func TestEncoded(t *testing.T) {
	dir := t.TempDir()
	content := corpus.ByName("json").Make(200_000)
	pack := func(f compress.Format, opts ...compress.WriterOption) []byte {
		return servetest.Pack(t, content, f, opts...)
	}
	half := len(content) / 2
	members := append(servetest.Pack(t, content[:half], compress.Gzip),
		servetest.Pack(t, content[half:], compress.Gzip)...)
	damaged := pack(compress.Gzip)
	damaged[len(damaged)/2] ^= 1
	whole, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	type file struct {
		stored   []byte
		encoding string // "" if it is not sent as it is
	}
	files := map[string]file{
		"a.json.gz":       {pack(compress.Gzip), "gzip"},
		"empty.txt.gz":    {servetest.Pack(t, nil, compress.Gzip), "gzip"},
		"b.json.zst":      {whole, "zstd"},
		"frames.json.zst": {pack(compress.Zstd), ""},
		"members.json.gz": {members, ""},
		"other.json.gz":   {pack(compress.PZ), ""},
		"swapped.json.gz": {whole, ""},
		"c.json.pz":       {pack(compress.PZ), ""},
		"trailing.txt.gz": {append(pack(compress.Gzip), "more"...), ""},
		"damaged.json.gz": {damaged, ""},
		"noext.gz":        {pack(compress.Gzip), "gzip"},
	}
	for name, f := range files {
		servetest.WriteFile(t, filepath.Join(dir, name), f.stored)
	}
	h, _ := open(t, nil, dir)
	all := http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}}
	for name, f := range files {
		path := "/" + name[:len(name)-len(filepath.Ext(name))]
		plain, got := get(h, "GET", path, nil), get(h, "GET", path, all)
		if name == "damaged.json.gz" || name == "trailing.txt.gz" {
			if plain.Code == 200 || got.Code == 200 {
				t.Errorf("%s: status %d and %d", name, plain.Code, got.Code)
			}
			continue
		}
		if got.Header().Get("Content-Encoding") != f.encoding {
			t.Errorf("%s: %v, want encoding %q", name, got.Header(), f.encoding)
			continue
		}
		if f.encoding == "" {
			if !bytes.Equal(got.Body.Bytes(), plain.Body.Bytes()) {
				t.Errorf("%s: other content", name)
			}
			continue
		}
		checkEncoded(t, h, path, f.stored, plain.Body.Bytes())
	}
}

// checkEncoded checks the answers for a file that is sent as it is stored.
func checkEncoded(t *testing.T, h http.Handler, path string, stored, content []byte) {
	t.Helper()
	accept := func(extra ...string) http.Header {
		header := http.Header{"Accept-Encoding": {"gzip, zstd"}}
		for i := 0; i < len(extra); i += 2 {
			header.Set(extra[i], extra[i+1])
		}
		return header
	}
	got := get(h, "GET", path, accept())
	decoded, err := compress.AppendDecode(nil, got.Body.Bytes())
	if got.Code != 200 || err != nil || !bytes.Equal(got.Body.Bytes(), stored) ||
		!bytes.Equal(decoded, content) {
		t.Errorf("%s: status %d, %d bytes, %v", path, got.Code, got.Body.Len(), err)
	}
	plain := get(h, "GET", path, nil).Header()
	head := got.Header()
	if head.Get("Vary") != "Accept-Encoding" || plain.Get("Vary") != "Accept-Encoding" ||
		head.Get("Accept-Ranges") != "" || head.Get("ETag") == plain.Get("ETag") ||
		head.Get("Content-Type") != plain.Get("Content-Type") {
		t.Errorf("%s: headers %v\nplain %v", path, head, plain)
	}
	tag := head.Get("ETag")
	for _, c := range []struct {
		header http.Header
		method string
		code   int
		bytes  int
	}{
		{accept("If-None-Match", tag), "GET", 304, 0},
		{accept("If-None-Match", plain.Get("ETag")), "GET", 200, len(stored)},
		{accept("If-Match", `"other"`), "GET", 412, 0},
		{accept(), "HEAD", 200, 0},
		{accept("Range", "bytes=0-0"), "GET", 206, 1},
		{accept("Range", "bytes=0-0", "If-Range", tag), "GET", 200, len(content)},
		{http.Header{"Accept-Encoding": {"gzip;q=0, zstd;q=0"}}, "GET", 200, len(content)},
	} {
		if len(content) == 0 && c.header.Get("Range") != "" {
			continue
		}
		w := get(h, c.method, path, c.header)
		if n := w.Body.Len(); w.Code != c.code || n != c.bytes {
			t.Errorf("%s %s %v: status %d, %d bytes; want %d, %d", c.method, path, c.header, w.Code, n,
				c.code, c.bytes)
		}
	}
}
