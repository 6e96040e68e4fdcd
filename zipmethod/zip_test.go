package zipmethod

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// contents are the files of a test archive.
func contents() map[string][]byte {
	files := map[string][]byte{"large": corpus.ByName("text").Make(1_300_000)}
	for _, kind := range []string{"json", "random", "zeros"} {
		for _, size := range []int{0, 1, 100, 65_535, 65_536, 200_000} {
			files[fmt.Sprintf("%s/%d", kind, size)] = corpus.ByName(kind).Make(size)
		}
	}
	return files
}

// archive makes an archive of files with a method. Deflate is that of the package.
func archive(t testing.TB, files map[string][]byte, method uint16, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(method, Compressor(method, opts...))
	for name, p := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		for len(p) > 0 {
			n := min(len(p), 50_000)
			if _, err := f.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open opens an archive with the decompressors of the package.
func open(t testing.TB, p []byte) *zip.Reader {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []uint16{Deflate, Zstd} {
		r.RegisterDecompressor(m, Decompressor(m))
	}
	return r
}

// check reads all files of an archive.
func check(t *testing.T, r *zip.Reader, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		f, err := r.Open(name)
		if err != nil {
			t.Error(name, err)
			continue
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d bytes", name, len(got), err, len(want))
		}
		if err := f.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	files := contents()
	for _, method := range []uint16{Deflate, Zstd} {
		for _, opts := range [][]compress.WriterOption{
			nil,
			{compress.WithLevel(1), compress.WithBlockSize(64 << 10)},
			{compress.WithName("name", testTime), compress.WithFormat(compress.PZ), compress.WithLevel(9)},
		} {
			p := archive(t, files, method, opts...)
			check(t, open(t, p), files)
			if method == Deflate {
				r, err := zip.NewReader(bytes.NewReader(p), int64(len(p)))
				if err != nil {
					t.Fatal(err)
				}
				check(t, r, files) // by compress/flate
			}
		}
	}
}

// TestOfArchiveZip reads Deflate of archive/zip.
func TestOfArchiveZip(t *testing.T) {
	files := contents()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, p := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(p)
	}
	w.Close()
	check(t, open(t, b.Bytes()), files)
}

// TestConcurrent reads and writes several files at once with one compressor and one decompressor.
func TestConcurrent(t *testing.T) {
	for _, method := range []uint16{Deflate, Zstd} {
		comp, decomp := Compressor(method), Decompressor(method)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for k := range 10 {
					want := corpus.ByName("json").MakeSeed(20_000*k+i, uint64(i))
					var b bytes.Buffer
					w, err := comp(&b)
					if err != nil {
						t.Error(err)
						return
					}
					w.Write(want)
					if err := w.Close(); err != nil {
						t.Error(err)
					}
					r := decomp(iotest.HalfReader(&b))
					got, err := io.ReadAll(iotest.OneByteReader(r))
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
					}
					r.Close()
				}
			})
		}
		wg.Wait()
	}
}

// TestSingleFrame has the zstd program decode a file of an archive. It must be one frame.
func TestSingleFrame(t *testing.T) {
	zstd := testenv.Tool(t, "zstd")
	want := corpus.ByName("text").Make(9_000_000)
	r := open(t, archive(t, map[string][]byte{"a": want}, Zstd, compress.WithBlockSize(1<<20)))
	raw, err := r.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	p, err := io.ReadAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(zstd, "-dc", "-M8MB")
	c.Stdin = bytes.NewReader(p)
	if got, err := c.Output(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	name := filepath.Join(t.TempDir(), "a.zst")
	if err := os.WriteFile(name, p, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(zstd, "-lv", name).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("Zstandard Frames: 1\n")) {
		t.Errorf("%s%v", out, err)
	}
}

// TestErrors checks the errors of options, of methods, of closed files and of damaged ones.
func TestErrors(t *testing.T) {
	if _, err := Compressor(95)(io.Discard); err != zip.ErrAlgorithm {
		t.Error("Compressor of another method:", err)
	}
	if _, err := Decompressor(95)(nil).Read(nil); err != zip.ErrAlgorithm {
		t.Error("Decompressor of another method:", err)
	}
	if _, err := Compressor(Zstd, compress.WithLevel(10))(io.Discard); !errors.Is(err, compress.ErrOption) {
		t.Error("Compressor with a wrong option:", err)
	}
	decomp := Decompressor(Zstd, compress.WithMaxMemory(-1))
	if _, err := decomp(nil).Read(nil); !errors.Is(err, compress.ErrOption) {
		t.Error("Decompressor with a wrong option:", err)
	}
	content := corpus.ByName("json").Make(100_000)
	for _, method := range []uint16{Deflate, Zstd} {
		var b bytes.Buffer
		w, err := Compressor(method)(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if _, err := w.Write(content); err == nil {
			t.Error("Write after Close: no error")
		}
		if err := w.Close(); err == nil {
			t.Error("Close after Close: no error")
		}
		decomp := Decompressor(method)
		for _, n := range []int{0, 1, 5, b.Len() / 2, b.Len() - 1} {
			r := decomp(bytes.NewReader(b.Bytes()[:n]))
			got, err := io.ReadAll(r)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(content, got) {
				t.Errorf("method %d, %d bytes: %d bytes, %v", method, n, len(got), err)
			}
			r.Close()
			r.Close()
			if _, err := r.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Error("Read after Close:", err)
			}
		}
		bad := errors.New("bad archive")
		r := decomp(io.MultiReader(bytes.NewReader(b.Bytes()[:1000]), iotest.ErrReader(bad)))
		if _, err := io.ReadAll(r); err != bad {
			t.Errorf("method %d: %v", method, err)
		}
		if _, err := io.ReadAll(decomp(emptyReader{})); err != io.ErrNoProgress {
			t.Errorf("method %d, a source without bytes: %v", method, err)
		}
		// The next file is read as if nothing had been.
		if got, err := io.ReadAll(decomp(&b)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("method %d: %d bytes, %v", method, len(got), err)
		}
	}
	var corrupt flate.CorruptInputError
	if _, err := io.ReadAll(Decompressor(Deflate)(strings.NewReader("\xff"))); !errors.As(err, &corrupt) {
		t.Error("damaged Deflate:", err)
	}
	_, err := io.ReadAll(Decompressor(Zstd)(strings.NewReader("no zstd data")))
	if !errors.Is(err, compress.ErrFormat) {
		t.Error("no zstd:", err)
	}
	gz, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Gzip))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(Decompressor(Zstd)(bytes.NewReader(gz))); err != zip.ErrFormat {
		t.Error("gzip in place of zstd:", err)
	}
}

// emptyReader returns neither bytes nor an error.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

// TestWriteErrors lets the archive fail at many bytes.
func TestWriteErrors(t *testing.T) {
	content := corpus.ByName("json").Make(100_000)
	bad := errors.New("full disk")
	for _, method := range []uint16{Deflate, Zstd} {
		comp := Compressor(method, compress.WithBlockSize(16<<10))
		var b bytes.Buffer
		w, _ := comp(&b)
		w.Write(content)
		w.Close()
		for n := 0; n < b.Len(); n += 997 {
			w, err := comp(&failing{n, bad})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write(content)
			if cerr := w.Close(); cerr != bad || err != nil && err != bad {
				t.Errorf("method %d, byte %d: Write %v, Close %v", method, n, err, cerr)
			}
		}
	}
}

// failing fails after rest bytes.
type failing struct {
	rest int
	err  error
}

func (w *failing) Write(p []byte) (int, error) {
	if w.rest -= len(p); w.rest < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// TestBody cuts a stream into writes of all sizes.
func TestBody(t *testing.T) {
	stream := []byte("headerhead" + "0123456789abcdefghij" + "trailers")
	for a := range len(stream) {
		for b := a; b <= len(stream); b++ {
			var got bytes.Buffer
			w := body{w: &got, skip: 10}
			for _, p := range [][]byte{stream[:a], stream[a:b], stream[b:]} {
				if n, err := w.Write(p); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got.String() != "0123456789abcdefghij" {
				t.Fatalf("%d, %d: %q", a, b, got.String())
			}
		}
	}
}

// FuzzDeflate decodes any bytes as compress/flate does.
func FuzzDeflate(f *testing.F) {
	for _, size := range []int{0, 1, 1000, 100_000} {
		var b bytes.Buffer
		w, _ := Compressor(Deflate)(&b)
		w.Write(corpus.ByName("json").Make(size))
		w.Close()
		f.Add(b.Bytes())
	}
	decomp := Decompressor(Deflate)
	f.Fuzz(func(t *testing.T, p []byte) {
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(p)), 1<<20))
		r := decomp(bytes.NewReader(p))
		defer r.Close()
		got, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v; want %d bytes, %v", len(got), err, len(want), wantErr)
		}
	})
}
