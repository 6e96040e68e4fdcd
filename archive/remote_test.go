package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/internal/corpus"
)

// TestRemote reads one file of an archive over HTTP, with few requests.
func TestRemote(t *testing.T) {
	headers := make([]tar.Header, 3000)
	for i := range headers {
		headers[i] = tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("directory-%d/file-%d", i%50, i)}
	}
	content := func(i int) []byte { return corpus.ByName("source").MakeSeed(10_000, uint64(i)) }
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		packed := write(t, headers, content, compress.WithFormat(format), compress.WithBlockSize(1<<20))
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			http.ServeContent(w, r, "a", day, bytes.NewReader(packed))
		}))
		defer server.Close()
		begin := time.Now()
		r, err := httprange.Open(context.Background(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		f, err := Open(r, r.Size())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.ReadFile(headers[1500].Name); err != nil || !bytes.Equal(got, content(1500)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		t.Logf("%v of %d bytes: %d requests, %v", format, len(packed), requests.Load(), time.Since(begin))
		if n := requests.Load(); n > 4 {
			t.Errorf("%v: %d requests", format, n)
		}
		f.Close()
	}
}
