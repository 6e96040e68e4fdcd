package peertest

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	kgzip "github.com/klauspost/compress/gzip"

	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
)

// throttle sends p at a rate in bytes a second.
func throttle(w io.Writer, p []byte, rate int) {
	const piece = 64 << 10
	begin := time.Now()
	for sent := 0; sent < len(p); {
		n := min(piece, len(p)-sent)
		if _, err := w.Write(p[sent : sent+n]); err != nil {
			return
		}
		sent += n
		time.Sleep(time.Until(begin.Add(time.Duration(sent) * time.Second / time.Duration(rate))))
	}
}

// BenchmarkPull unpacks a .tar.gz file that comes over a connection of 150 MB/s, as a container
// image does:
//
//	go test ./internal/peertest -run '^$' -bench Pull -benchtime 5x
func BenchmarkPull(b *testing.B) {
	const size = 256 << 20
	var packed bytes.Buffer
	cmd := exec.Command("gzip", "-6")
	cmd.Stdout = &packed
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Skip(err)
	}
	tw := tar.NewWriter(in)
	kinds := corpus.Kinds()
	for left := size; left > 0; left -= 4 << 20 {
		content := kinds[left>>22%len(kinds)].Make(4 << 20)
		h := &tar.Header{Name: "file", Mode: 0o644, Size: int64(len(content))}
		if err := tw.WriteHeader(h); err != nil {
			b.Fatal(err)
		}
		if _, err := tw.Write(content); err != nil {
			b.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		b.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		throttle(w, packed.Bytes(), 150<<20)
	}))
	defer srv.Close()
	for _, c := range []struct {
		name string
		open func(io.Reader) (io.Reader, func() error)
	}{
		{"klauspost", func(r io.Reader) (io.Reader, func() error) {
			z, err := kgzip.NewReader(r)
			if err != nil {
				b.Fatal(err)
			}
			return z, z.Close
		}},
		{"pigz", func(r io.Reader) (io.Reader, func() error) {
			cmd := exec.Command("pigz", "-dc")
			cmd.Stdin = r
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				b.Skip(err)
			}
			return out, cmd.Wait
		}},
		{"NewReader", func(r io.Reader) (io.Reader, func() error) {
			z, err := gzip.NewReader(r)
			if err != nil {
				b.Fatal(err)
			}
			return z, z.Close
		}},
		{"NewReaderN", func(r io.Reader) (io.Reader, func() error) {
			z, err := gzip.NewReaderN(r, 1<<20, 16)
			if err != nil {
				b.Fatal(err)
			}
			return z, z.Close
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				resp, err := http.Get(srv.URL)
				if err != nil {
					b.Fatal(err)
				}
				z, closeIt := c.open(resp.Body)
				content := int64(0)
				for tr := tar.NewReader(z); ; {
					_, err := tr.Next()
					if err == io.EOF {
						break
					}
					n, copyErr := io.Copy(io.Discard, tr)
					if err != nil || copyErr != nil {
						b.Fatal(err, copyErr)
					}
					content += n
				}
				io.Copy(io.Discard, z)
				if err := closeIt(); err != nil || content < size {
					b.Fatal(err, content)
				}
				resp.Body.Close()
				b.SetBytes(content)
			}
		})
	}
}
