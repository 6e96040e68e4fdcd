package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

var day = time.Date(2026, 11, 25, 12, 0, 0, 500_000_000, time.UTC)

// makeTar returns an archive of headers, each with the content that content returns for it.
func makeTar(t testing.TB, headers []tar.Header, content func(i int) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range headers {
		h := headers[i]
		if h.ModTime.IsZero() {
			h.ModTime = day
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		h.Format = tar.FormatPAX
		var p []byte
		if h.Typeflag == tar.TypeReg && content != nil {
			p = content(i)
		}
		h.Size = int64(len(p))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, p []byte) *FS {
	t.Helper()
	f, err := Open(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// pack returns p compressed in blocks of 16 KiB.
func pack(t testing.TB, p []byte, format compress.Format) []byte {
	t.Helper()
	packed, err := compress.AppendEncode(nil, p, compress.WithFormat(format), compress.WithBlockSize(1<<14))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// sampleHeaders are those of an archive with everything but holes.
var sampleHeaders = []tar.Header{
	{Typeflag: tar.TypeReg, Name: "a.txt"},
	{Typeflag: tar.TypeDir, Name: "dir/", Mode: 0o750},
	{Typeflag: tar.TypeReg, Name: "dir/b.bin", Mode: 0o600},
	{Typeflag: tar.TypeReg, Name: "dir/sub/deep/c", ModTime: day.AddDate(-50, 0, 0)},
	{Typeflag: tar.TypeReg, Name: "dir.txt"},
	{Typeflag: tar.TypeReg, Name: "dir!"},
	{Typeflag: tar.TypeReg, Name: strings.Repeat("long/", 40) + strings.Repeat("n", 200)},
	{Typeflag: tar.TypeReg, Name: "empty"},
	{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "dir/sub"},
	{Typeflag: tar.TypeSymlink, Name: "dir/up", Linkname: "../a.txt"},
	{Typeflag: tar.TypeLink, Name: "hard", Linkname: "dir/b.bin"},
	{Typeflag: tar.TypeReg, Name: "large"},
}

func sampleContent(i int) []byte {
	sizes := map[int]int{2: 70_000, 7: 0, 11: 300_000}
	n, ok := sizes[i]
	if !ok {
		n = 1000 + i
	}
	return corpus.ByName("source").MakeSeed(n, uint64(i))
}

// TestFS checks an archive in all formats with the test suite of file systems.
func TestFS(t *testing.T) {
	plain := makeTar(t, sampleHeaders, sampleContent)
	for name, p := range map[string][]byte{
		"tar": plain, "tar.pz": pack(t, plain, compress.PZ), "tar.zst": pack(t, plain, compress.Zstd),
		"tar.gz": pack(t, plain, compress.Gzip),
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, p)
			if err := fstest.TestFS(f, "a.txt", "dir/sub/deep/c", "hard", "large", "dir/up"); err != nil {
				t.Error(err)
			}
			for i, h := range sampleHeaders {
				if h.Typeflag != tar.TypeReg {
					continue
				}
				got, err := f.ReadFile(h.Name)
				if err != nil || !bytes.Equal(got, sampleContent(i)) {
					t.Errorf("%s: %d bytes, %v", h.Name, len(got), err)
				}
			}
			checkSample(t, f)
		})
	}
}

// checkSample checks what the suite of file systems does not.
func checkSample(t *testing.T, f *FS) {
	t.Helper()
	for name, same := range map[string]string{
		"hard": "dir/b.bin", "link/deep/c": "dir/sub/deep/c", "dir/up": "a.txt",
	} {
		got, err := f.ReadFile(name)
		want, _ := f.ReadFile(same)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want those of %s", name, len(got), err, same)
		}
	}
	info, err := f.Stat("dir/b.bin")
	if err != nil || info.Mode() != 0o600 || !info.ModTime().Equal(day) || info.Size() != 70_000 {
		t.Errorf("Stat: %v, %v", info, err)
	}
	if info, err = f.Stat("dir"); err != nil || info.Mode() != fs.ModeDir|0o750 {
		t.Errorf("Stat of a directory: %v, %v", info, err)
	}
	if info, err = f.Lstat("link"); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("Lstat: %v, %v", info, err)
	}
	if to, err := f.ReadLink("dir/up"); err != nil || to != "../a.txt" {
		t.Errorf("ReadLink: %q, %v", to, err)
	}
	if _, err := f.ReadLink("dir"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadLink of a directory: %v", err)
	}
	file, err := f.Open("large")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	part := make([]byte, 1000)
	if _, err := file.(io.ReaderAt).ReadAt(part, 123_456); err != nil ||
		!bytes.Equal(part, sampleContent(11)[123_456:][:1000]) {
		t.Errorf("ReadAt: %v", err)
	}
	if n, err := file.(io.ReaderAt).ReadAt(part, 299_900); n != 100 || err != io.EOF {
		t.Errorf("ReadAt near the end: %d bytes, %v", n, err)
	}
}
