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
	const block, before = bbtest.BlockSize, 5
	content := bbtest.MixedBytes(20 * block)
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		file := bbtest.Encode(t, content, compress.WithFormat(format), compress.WithSeekable(block))
		for _, zeros := range []bool{false, true} {
			for _, calls := range []string{"Read", "Read, ReadAt", "ReadAt", "long ReadAt"} {
				what := fmt.Sprintf("%v, zeros %v, %s", format, zeros, calls)
				src := &flaky{src: bytes.NewReader(file), zeros: zeros}
				r, err := compress.NewReaderAt(src, int64(len(file)), compress.WithConcurrency(4))
				if err != nil {
					t.Fatal(err)
				}
				src.from = r.Block(before).Offset + 40 // the header is intact, the payload is not
				src.down.Store(true)
				p := make([]byte, block)
				for i := range int64(before) {
					if calls == "Read" || calls == "Read, ReadAt" {
						_, err = io.ReadFull(r, p)
					} else {
						_, err = r.ReadAt(p, i*block)
					}
					if err != nil {
						t.Fatalf("%s, block %d: %v", what, i, err)
					}
				}
				if src.fails.Load() == 0 {
					t.Errorf("%s: nothing was read ahead", what)
				}
				src.down.Store(false)
				rest := make([]byte, len(content)-before*block)
				if calls == "Read" {
					_, err = io.ReadFull(r, rest)
				} else {
					if calls != "long ReadAt" {
						rest = p
					}
					_, err = r.ReadAt(rest, before*block)
				}
				if err != nil || !bytes.Equal(rest, content[before*block:][:len(rest)]) {
					t.Errorf("%s: %v", what, err)
				}
				r.Close()
			}
		}
	}
}
