// Package remote lets the command read files behind http and https URLs. Main packages pass Open to
// cli.Main.
package remote

import (
	"context"

	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/internal/cli"
)

// wholeSize is the size in bytes of the largest file that is read from a server without ranges.
const wholeSize = 16 << 20

type file struct{ *httprange.Reader }

// Traffic returns what the file has taken so far.
func (f file) Traffic() (requests, retries, bytes int64) {
	st := f.Stats()
	return st.Requests, st.Retries, st.Bytes
}

// Open opens the file behind a URL. It is a cli.OpenURL.
func Open(ctx context.Context, url string, indexed bool) (cli.Remote, error) {
	opts := []httprange.Option{httprange.WithReadWhole(wholeSize)}
	if !indexed {
		opts = append(opts, httprange.WithTail(0))
	}
	r, err := httprange.Open(ctx, url, opts...)
	if err != nil {
		return nil, err
	}
	return file{r}, nil
}
