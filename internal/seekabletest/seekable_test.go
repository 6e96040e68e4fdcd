// Package seekabletest exchanges files in zstd's seekable format with an independent
// implementation. It is a module of its own, so that the main module does not depend on that
// implementation.
package seekabletest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

func content(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, n)
	for i := range p {
		p[i] = "etaoin shrdlu\n"[r.IntN(1+r.IntN(14))]
	}
	return p
}

// readRanges reads random ranges of up to 20,000 bytes and compares them with want.
func readRanges(t *testing.T, r io.ReaderAt, want []byte) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		off := rnd.IntN(len(want))
		p := make([]byte, rnd.IntN(min(20_000, len(want)-off)+1))
		n, err := r.ReadAt(p, int64(off))
		if n != len(p) || err != nil && err != io.EOF || !bytes.Equal(p, want[off:off+n]) {
			t.Fatalf("%d bytes at %d: got %d, %v", len(p), off, n, err)
		}
	}
}

// TestTheyReadOurs reads our files of all levels with the other implementation.
func TestTheyReadOurs(t *testing.T) {
	want := content(300_000)
	for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
		for _, checks := range []bool{true, false} {
			t.Run(fmt.Sprintf("level %d, checksums %v", level, checks), func(t *testing.T) {
				file, err := compress.AppendEncode(nil, want,
					bridge.Pipeline("lzf"),
					compress.WithLevel(level),
					compress.WithSeekable(1<<14),
					compress.WithChecksum(checks))
				if err != nil {
					t.Fatal(err)
				}
				d, err := zstd.NewReader(nil)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				r, err := seekable.NewReader(bytes.NewReader(file), d)
				if err != nil {
					t.Fatal(err)
				}
				readRanges(t, r, want)
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestWeReadTheirs reads a file of the other implementation with ours.
func TestWeReadTheirs(t *testing.T) {
	want := content(300_000)
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b bytes.Buffer
	w, err := seekable.NewWriter(&b, e)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(want); i += 7000 {
		if _, err := w.Write(want[i:min(i+7000, len(want))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := compress.NewReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	readRanges(t, r, want)
	got, err := compress.AppendDecode(nil, b.Bytes())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("decoded %d bytes, %v; want %d bytes", len(got), err, len(want))
	}
}
