package httprange_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gopz/compress/httprange"
)

// Read one file of an archive that lies on a server.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "big.zip", time.Time{}, bytes.NewReader(archive()))
	}))
	defer server.Close()

	r, err := httprange.Open(context.Background(), server.URL+"/big.zip")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	z, err := zip.NewReader(r, r.Size())
	if err != nil {
		log.Fatal(err)
	}
	f, err := z.Open("small")
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s; %v of the file was read\n", text, r.Stats().Bytes < r.Size()/10)
	// Output: hello; true of the file was read
}

// archive returns a large archive with a small file in the middle.
func archive() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name    string
		content []byte
	}{{"a", make([]byte, 2<<20)}, {"small", []byte("hello")}, {"b", make([]byte, 2<<20)}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err != nil {
			log.Fatal(err)
		}
		w.Write(f.content)
	}
	z.Close()
	return b.Bytes()
}
