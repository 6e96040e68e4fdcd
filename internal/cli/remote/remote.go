// Package remote lets the command read files behind http and https URLs. Main packages pass Open to
// cli.Main.
package remote

import (
	"context"
	"errors"
	"io"

	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/internal/cli"
)

// wholeSize is the size in bytes of the largest file that is read to memory, from a server without
// ranges, where its end is wanted first.
const wholeSize = 16 << 20

// file is a file on a server with ranges.
type file struct {
	*httprange.Reader
	body *io.SectionReader
}

func (f file) Read(p []byte) (int, error)                { return f.body.Read(p) }
func (f file) Traffic() (requests, retries, bytes int64) { return traffic(f.Stats()) }

// stream is a file on a server without them.
type stream struct{ *httprange.Stream }

func (s stream) ReadAt([]byte, int64) (int, error)         { return 0, httprange.ErrNoRanges }
func (s stream) Size() int64                               { return -1 }
func (s stream) Traffic() (requests, retries, bytes int64) { return traffic(s.Stats()) }

func traffic(st httprange.Stats) (requests, retries, bytes int64) {
	return st.Requests, st.Retries, st.Bytes
}

// Open opens the file behind a URL. It is a cli.OpenURL.
func Open(ctx context.Context, url string, tail int64) (cli.Remote, error) {
	opts := []httprange.Option{httprange.WithTail(tail)}
	if tail > 0 {
		opts = append(opts, httprange.WithReadWhole(wholeSize))
	}
	r, err := httprange.Open(ctx, url, opts...)
	if errors.Is(err, httprange.ErrNoRanges) {
		s, err := httprange.Get(ctx, url)
		if err != nil {
			return nil, err
		}
		return stream{s}, nil
	}
	if err != nil {
		return nil, err
	}
	return file{r, io.NewSectionReader(r, 0, r.Size())}, nil
}
