package compress

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress/internal/gzfile"
)

// TestReadName reads names from .gz headers, and from files that have none.
func TestReadName(t *testing.T) {
	when := time.Unix(1_000_000_000, 0)
	long := strings.Repeat("n", 5000)
	for _, name := range []string{"", "a", "gr\u00fcn", "\u20ac", "bytes \xff\xfe", long} {
		file := encode(t, []byte("content"), WithPipeline("deflate"), WithName(name, when))
		for _, src := range []io.Reader{
			bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file)),
		} {
			got, at, err := ReadName(src)
			if err != nil || got != name || !at.Equal(when) {
				t.Errorf("%.20q: %.20q, %v, %v", name, got, at, err)
			}
		}
	}
	// A .gz file without a name, other formats, and text.
	for what, file := range map[string][]byte{
		"no name": encode(t, nil, WithPipeline("deflate")),
		"pz":      encode(t, nil),
		"zst":     encode(t, nil, WithPipeline("lzf")),
		"text":    []byte("text"),
	} {
		if name, at, err := ReadName(bytes.NewReader(file)); name != "" || !at.IsZero() ||
			err != nil {
			t.Errorf("%s: %q, %v, %v", what, name, at, err)
		}
	}
	h := gzfile.Header{Name: "x", Extra: make([]byte, 65_535), HeaderCRC: true}
	p, err := h.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if name, at, err := ReadName(bytes.NewReader(p)); name != "x" || !at.IsZero() || err != nil {
		t.Errorf("%q, %v, %v", name, at, err)
	}
	p[20] ^= 1
	if _, _, err := ReadName(bytes.NewReader(p)); !errors.Is(err, ErrChecksum) {
		t.Errorf("damaged header: %v", err)
	}
}

// TestReadNameOfDamagedFiles cuts and damages headers.
func TestReadNameOfDamagedFiles(t *testing.T) {
	file := encode(t, []byte("content"), WithPipeline("deflate"), WithName("name", time.Time{}))
	end := 10 + len("name") + 1
	for n := range end {
		if _, _, err := ReadName(bytes.NewReader(file[:n])); !errors.Is(err, ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if name, _, err := ReadName(bytes.NewReader(file[:end])); name != "name" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if _, _, err := ReadName(
		io.MultiReader(bytes.NewReader(file[:end-1]), iotest.ErrReader(errTest)),
	); !errors.Is(err, errTest) {
		t.Errorf("failing reader: %v", err)
	}
	if _, _, err := ReadName(
		strings.NewReader("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00"),
	); !errors.Is(err, ErrVersion) {
		t.Errorf("unknown method: %v", err)
	}
	if _, _, err := ReadName(
		strings.NewReader("\x1f\x8b\x08\xff\x00\x00\x00\x00\x00\x00"),
	); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unknown flags: %v", err)
	}
	endless := io.MultiReader(strings.NewReader("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00"),
		strings.NewReader(strings.Repeat("n", 1<<20)))
	if name, _, err := ReadName(endless); name != "" || err != nil {
		t.Errorf("name without an end: %d bytes, %v", len(name), err)
	}
}
