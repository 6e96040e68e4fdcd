package httpcompress_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/httpcompress"
)

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("some text ", 1000))
	})
	server := httptest.NewServer(httpcompress.Handler(mux))
	defer server.Close()

	resp, err := http.Get(server.URL) // asks for gzip, and decompresses
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Uncompressed, resp.Header.Get("Vary"))
	// Output: true Accept-Encoding
}

// Pages of an account hold secrets, and a form that shows what the user has sent: do not compress
// them.
func ExampleWithSkip() {
	_ = httpcompress.Handler(http.DefaultServeMux,
		httpcompress.WithSkip(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/account/")
		}),
		httpcompress.WithEncodings(httpcompress.Gzip),
		httpcompress.WithWriterOptions(httpcompress.Gzip, compress.WithLevel(6)),
	)
}
