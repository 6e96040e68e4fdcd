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

// packedTar returns a .tar.gz file, by gzip, with so many bytes of content of all kinds.
func packedTar(b *testing.B, size int) []byte {
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
	return packed.Bytes()
}

// unpack reads a tar archive to its end and returns the bytes of its files.
func unpack(r io.Reader) (content int64, err error) {
	for tr := tar.NewReader(r); ; {
		_, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return content, err
		}
		n, err := io.Copy(io.Discard, tr)
		content += n
		if err != nil {
			return content, err
		}
	}
	_, err = io.Copy(io.Discard, r)
	return content, err
}

// startPigz returns the output of pigz.
func startPigz(r io.Reader) (io.ReadCloser, error) {
	cmd := exec.Command("pigz", "-dc")
	cmd.Stdin = r
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return output{out, cmd}, cmd.Start()
}

// An output is that of a command. Close waits for its end.
type output struct {
	io.Reader
	cmd *exec.Cmd
}

func (o output) Close() error { return o.cmd.Wait() }

// BenchmarkPull unpacks a .tar.gz file that comes over a connection of 150 MB/s, as a container
// image does:
//
//	go test ./internal/peertest -run '^$' -bench Pull -benchtime 5x
func BenchmarkPull(b *testing.B) {
	const size = 256 << 20
	packed := packedTar(b, size)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		throttle(w, packed, 150<<20)
	}))
	defer srv.Close()
	for _, c := range []struct {
		name string
		open func(io.Reader) (io.ReadCloser, error)
	}{
		{"klauspost", func(r io.Reader) (io.ReadCloser, error) { return kgzip.NewReader(r) }},
		{"pigz", startPigz},
		{"NewReader", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
		{"NewReaderN", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReaderN(r, 1<<20, 16) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				resp, err := http.Get(srv.URL)
				if err != nil {
					b.Fatal(err)
				}
				z, err := c.open(resp.Body)
				if err != nil {
					b.Fatal(err)
				}
				content, err := unpack(z)
				if closeErr := z.Close(); err != nil || closeErr != nil || content != size {
					b.Fatal(content, err, closeErr)
				}
				resp.Body.Close()
			}
		})
	}
}
