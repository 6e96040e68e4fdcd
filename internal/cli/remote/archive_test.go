package remote

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
)

// archiveOf returns an archive of 3,000 files of 10,000 bytes.
func archiveOf(t *testing.T, opts ...compress.WriterOption) (packed []byte, contentOf func(i int) []byte) {
	t.Helper()
	all := content(3000 * 10_000)
	contentOf = func(i int) []byte { return all[i*10_000:][:10_000] }
	var b bytes.Buffer
	w, err := archive.NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		h := tar.Header{Name: fmt.Sprintf("dir-%d/file-%d", i%50, i), Mode: 0o644, Size: 10_000}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write(contentOf(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), contentOf
}

// TestArchive extracts one file of an archive behind a URL. That takes three requests: the first
// bytes, the last ones, and one for the blocks that have the file: one, or two if it lies across
// their border.
func TestArchive(t *testing.T) {
	for _, format := range []compress.Format{compress.PZ, compress.Zstd} {
		packed, contentOf := archiveOf(t, compress.WithFormat(format), compress.WithLevel(1),
			compress.WithBlockSize(1<<20))
		r, err := compress.NewReaderAt(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		largest := int64(0)
		for b := range r.Blocks() {
			largest = max(largest, b.Size)
		}
		r.Close()
		s := newServer(t, packed, 10*time.Millisecond)
		const number, segment, tail = 1500, 64 << 10, 1 << 20
		name := fmt.Sprintf("dir-%d/file-%d", number%50, number)
		out := filepath.Join(t.TempDir(), "out")
		_, messages, code := pz(t, "-v", "-x", "--output-dir", out, s.URL+"/a.tar?sig=secret", name)
		got, err := os.ReadFile(filepath.Join(out, name))
		if code != 0 || err != nil || !bytes.Equal(got, contentOf(number)) {
			t.Fatalf("%v: exit code %d, %d bytes, %v; %s", format, code, len(got), err, messages)
		}
		m := received.FindStringSubmatch(messages)
		if m == nil {
			t.Fatalf("%v: %s", format, messages)
		}
		requests, _ := strconv.Atoi(m[1])
		size, _ := strconv.ParseInt(m[2], 10, 64)
		// Ranges are whole segments.
		most := int64(segment) + tail + segment + 2*largest + 2*segment
		if requests != 3 || s.count() != requests || size > most {
			t.Errorf("%v: %d requests (%d), %d bytes, want at most %d", format, requests, s.count(),
				size, most)
		}
		s.begin(0, false)
		list, messages, code := pz(t, "-v", "-lq", "--tar", s.URL+"/a.tar?sig=secret")
		if code != 0 || strings.Count(list, "\n") != 3000 || s.count() != 2 {
			t.Errorf("%v: exit code %d, %d names, %d requests; %s", format, code,
				strings.Count(list, "\n"), s.count(), messages)
		}
	}
}

// TestArchiveInOrder extracts from a server without ranges, and a file without an index.
func TestArchiveInOrder(t *testing.T) {
	packed, contentOf := archiveOf(t, compress.WithLevel(1))
	plain, err := compress.AppendDecode(nil, packed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file    []byte
		noRange bool
	}{
		{packed, true},
		{encode(t, plain, compress.WithFormat(compress.Zstd)), false},
		{encode(t, plain, compress.WithFormat(compress.Gzip), compress.WithLevel(1)), true},
		{plain, false},
	} {
		s := newServer(t, c.file, 0)
		s.begin(0, c.noRange)
		out, messages, code := pz(t, "-x", "-c", s.URL+"/a?sig=secret", "dir-7/file-1007")
		if code != 0 || out != string(contentOf(1007)) || messages != "" {
			t.Errorf("%d bytes, without ranges %v: exit code %d, %d bytes; %s", len(c.file), c.noRange, code,
				len(out), messages)
		}
		if strings.Contains(messages, "secret") {
			t.Errorf("messages have the query: %s", messages)
		}
	}
}
