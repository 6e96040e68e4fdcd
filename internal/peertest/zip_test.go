package peertest_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/zipmethod"
)

// TestZip exchanges archives with zstd in both directions.
func TestZip(t *testing.T) {
	for _, c := range []struct {
		name   string
		comp   zip.Compressor
		decomp zip.Decompressor
	}{
		{"ours", zipmethod.Compressor(zipmethod.Zstd), kzstd.ZipDecompressor()},
		{"theirs", kzstd.ZipCompressor(), zipmethod.Decompressor(zipmethod.Zstd)},
	} {
		files := map[string][]byte{}
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		w.RegisterCompressor(zipmethod.Zstd, c.comp)
		for _, kind := range []string{"json", "text", "random", "zeros"} {
			for _, size := range []int{0, 1, 1000, 128 << 10, 5_000_000} {
				name, p := fmt.Sprint(kind, size), corpus.ByName(kind).Make(size)
				files[name] = p
				f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zipmethod.Zstd})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Write(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		r.RegisterDecompressor(zipmethod.Zstd, c.decomp)
		for name, want := range files {
			f, err := r.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes, %v", c.name, name, len(got), err)
			}
			f.Close()
		}
	}
}
