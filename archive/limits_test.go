package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestDamage checks the errors for files that are no archives, and for archives cut short.
func TestDamage(t *testing.T) {
	plain := makeTar(t, sampleHeaders, sampleContent)
	for name, p := range map[string][]byte{
		"text":         pack(t, corpus.ByName("text").Make(5000), compress.PZ),
		"cut header":   pack(t, plain[:400], compress.PZ),
		"cut content":  pack(t, plain[:len(plain)-100_000], compress.PZ),
		"damaged":      pack(t, slices.Concat(plain[:2048], bytes.Repeat([]byte("x"), 9000)), compress.PZ),
		"not packed":   []byte("text"),
		"empty":        nil,
		"packed twice": pack(t, pack(t, plain, compress.PZ), compress.PZ),
	} {
		if f, err := Open(bytes.NewReader(p), int64(len(p))); err == nil {
			t.Errorf("%s: no error, %d entries", name, len(f.table.entries))
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	if err := fstest.TestFS(open(t, pack(t, nil, compress.PZ))); err != nil {
		t.Errorf("empty content: %v", err)
	}
	// A header may state more content than there is.
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	w.WriteHeader(&tar.Header{
		Name: "huge", Size: math.MaxInt64 / 2, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
	})
	w.Write(make([]byte, 1000))
	w.Flush()
	if f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len())); err == nil {
		t.Errorf("content that is missing: %v", f.table.entries)
	}
}

// TestMany opens an archive with many entries.
func TestMany(t *testing.T) {
	n := 30_000
	if testenv.All() {
		n = 1_000_000
	}
	headers := make([]tar.Header, n)
	for i := range headers {
		headers[i] = tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("d%d/e%d/file-%d", i%7, i%1000, i)}
	}
	f := open(t, pack(t, makeTar(t, headers, func(i int) []byte { return []byte{byte(i)} }), compress.PZ))
	for i := 0; i < n; i += n / 100 {
		if got, err := f.ReadFile(headers[i].Name); err != nil || len(got) != 1 || got[0] != byte(i) {
			t.Fatalf("%s: %x, %v", headers[i].Name, got, err)
		}
	}
	if got := f.table.memory(); got > n*100 {
		t.Errorf("the list of %d entries takes %d bytes", n, got)
	}
	list, err := f.ReadDir("d0")
	if err != nil || len(list) != 1000 {
		t.Errorf("%d entries, %v", len(list), err)
	}
}

// TestTooMany opens an archive whose directories take more memory than a list may.
func TestTooMany(t *testing.T) {
	testenv.Long(t)
	var headers []tar.Header
	for i := range 30 {
		name := fmt.Sprint(i, strings.Repeat("/d", 500_000), "/f")
		headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: name})
	}
	p := makeTar(t, headers, nil)
	if _, err := Open(bytes.NewReader(p), int64(len(p))); !errors.Is(err, compress.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

// TestDeep opens an archive of few names that have very many directories.
func TestDeep(t *testing.T) {
	var headers []tar.Header
	for i := range 3 {
		name := fmt.Sprint(i, strings.Repeat("/d", 200_000), "/f")
		headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: name})
	}
	f := open(t, makeTar(t, headers, func(int) []byte { return []byte("x") }))
	if got, err := f.ReadFile(headers[2].Name); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if n := f.table.memory(); n > 40<<20 {
		t.Errorf("%d bytes", n)
	}
}
