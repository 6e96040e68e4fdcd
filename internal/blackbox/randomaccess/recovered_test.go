package randomaccess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
)

var errDown = errors.New("source is down")

// A flaky source fails behind an offset for a time: with an error, or with zeros in place of bytes.
type flaky struct {
	src   io.ReaderAt
	from  int64
	zeros bool
	down  atomic.Bool
	fails atomic.Int64
}

func (f *flaky) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.src.ReadAt(p, off)
	if good := max(0, int(f.from-off)); f.down.Load() && n > good {
		f.fails.Add(1)
		if !f.zeros {
			return good, errDown
		}
		clear(p[good:n])
	}
	return n, err
}

// TestSourceRecovers lets the source fail while blocks are read ahead. No call that begins after
// the source has recovered may return an error.
func TestSourceRecovers(t *testing.T) {
	const before = 5
	for _, format := range []compress.Format{compress.PZ, compress.Zstd, compress.Gzip} {
		content := bbtest.MixedBytes(20 * bbtest.BlockSize)
		opts := []compress.WriterOption{compress.WithFormat(format), compress.WithSeekable(bbtest.BlockSize)}
		if format == compress.Gzip {
			content, opts = bbtest.MixedBytes(6<<20), opts[:1] // for some intervals between checkpoints
		}
		file := bbtest.Encode(t, content, opts...)
		var index []byte
		if format == compress.Gzip {
			index = gzipIndexOf(t, file, "gzidx")
		}
		for _, zeros := range []bool{false, true} {
			if zeros && format == compress.Gzip {
				continue // nothing checks an interval
			}
			for _, calls := range []string{"Read", "Read, ReadAt", "ReadAt", "long ReadAt"} {
				what := fmt.Sprintf("%v, zeros %v, %s", format, zeros, calls)
				src := &flaky{src: bytes.NewReader(file), zeros: zeros}
				opts := []compress.ReaderOption{compress.WithConcurrency(4)}
				if index != nil {
					opts = append(opts, withIndex(index))
				}
				r, err := compress.NewReaderAt(src, int64(len(file)), opts...)
				if err != nil {
					t.Fatal(err)
				}
				src.from = r.Block(before).Offset + 40 // the header is intact, the payload is not
				src.down.Store(true)
				for i := range int64(before) {
					b := r.Block(i)
					p := make([]byte, b.Content)
					if calls == "Read" || calls == "Read, ReadAt" {
						_, err = io.ReadFull(r, p)
					} else {
						_, err = r.ReadAt(p, b.ContentOffset)
					}
					if err != nil {
						t.Fatalf("%s, block %d: %v", what, i, err)
					}
				}
				if src.fails.Load() == 0 {
					t.Errorf("%s: nothing was read ahead", what)
				}
				src.down.Store(false)
				b := r.Block(before)
				rest := make([]byte, int64(len(content))-b.ContentOffset)
				if calls == "Read" {
					_, err = io.ReadFull(r, rest)
				} else {
					if calls != "long ReadAt" {
						rest = rest[:b.Content]
					}
					_, err = r.ReadAt(rest, b.ContentOffset)
				}
				if err != nil || !bytes.Equal(rest, content[b.ContentOffset:][:len(rest)]) {
					t.Errorf("%s: %v", what, err)
				}
				r.Close()
			}
		}
	}
}
