package compress

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// TestGzipPipe reads a .gz file from a pipe of the system that is filled in pieces. Where asked, the
// writer flushes and waits until all content so far has been read.
func TestGzipPipe(t *testing.T) {
	content := mixedBytes(4 << 20)
	for _, workers := range []int{1, 2, 8} {
		for _, waits := range []bool{false, true} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			read := make(chan int, 1<<16) // content read so far
			go func() {
				defer w.Close()
				rng := rand.New(rand.NewPCG(uint64(workers), 1))
				z := gzip.NewWriter(w)
				for sent := 0; sent < len(content); {
					n := min(len(content)-sent, 1+rng.IntN(300_000))
					z.Write(content[sent : sent+n])
					sent += n
					if !waits {
						continue
					}
					z.Flush()
					for got := range read {
						if got >= sent {
							break
						}
					}
				}
				z.Close()
			}()
			z := newReader(t, r, WithConcurrency(workers))
			var got []byte
			p := make([]byte, 100_000)
			for err == nil {
				var n int
				n, err = z.Read(p)
				got = append(got, p[:n]...)
				if waits && n > 0 {
					read <- len(got)
				}
			}
			close(read)
			if err != io.EOF || !bytes.Equal(got, content) {
				t.Errorf("%d workers, waits %v: %d bytes, %v", workers, waits, len(got), err)
			}
			z.Close()
			r.Close()
		}
	}
}
