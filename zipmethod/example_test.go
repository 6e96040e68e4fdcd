package zipmethod_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/zipmethod"
)

func Example() {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zipmethod.Zstd, zipmethod.Compressor(zipmethod.Zstd, compress.WithLevel(6)))
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.txt", Method: zipmethod.Zstd})
	if err != nil {
		panic(err)
	}
	io.WriteString(f, strings.Repeat("some text ", 1000))
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		panic(err)
	}
	r.RegisterDecompressor(zipmethod.Zstd, zipmethod.Decompressor(zipmethod.Zstd))
	g, err := r.Open("a.txt")
	if err != nil {
		panic(err)
	}
	defer g.Close()
	content, err := io.ReadAll(g)
	fmt.Println(len(content), err)
	// Output: 10000 <nil>
}
