package archive

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress"
)

// oldSparse returns an entry of a file of size bytes with holes: content "abc" at each offset.
func oldSparse(name string, size int64, offsets ...int64) []byte {
	return append(rawHeader(name, tar.TypeGNUSparse, 3*len(offsets), func(b []byte) {
		copy(b[257:], "ustar  \x00")
		number := func(field []byte, n int64) {
			field[0] = 0x80
			binary.BigEndian.PutUint64(field[4:], uint64(n))
		}
		number(b[483:], size)
		for i, off := range offsets {
			number(b[386+24*i:], off)
			number(b[398+24*i:], 3)
		}
	}), append(bytes.Repeat([]byte("abc"), len(offsets)), make([]byte, blockSize-3*len(offsets))...)...)
}

// TestHoles reads a file of a TiB, nearly all of which is a hole.
func TestHoles(t *testing.T) {
	const size, last = 1 << 40, 1<<40 - 10
	p := append(oldSparse("big", size, 512, 1<<30, last), ending...)
	f := open(t, pack(t, p, compress.PZ))
	file, err := f.Open("big")
	if err != nil {
		t.Fatal(err)
	}
	r, at := file.(io.ReaderAt), int64(0)
	for _, want := range []int64{512, 1 << 30, last} {
		begin, end := file.(SparseFile).NextData(at)
		if begin != want || end != want+3 {
			t.Errorf("NextData(%d): %d, %d; want %d", at, begin, end, want)
		}
		got := make([]byte, 7)
		n, err := r.ReadAt(got, want-2)
		if string(got[:n]) != "\x00\x00abc\x00\x00" || err != nil {
			t.Errorf("at %d: %q, %v", want, got[:n], err)
		}
		at = end
	}
	if begin, end := file.(SparseFile).NextData(at); begin != size || end != size {
		t.Errorf("behind the last content: %d, %d", begin, end)
	}
	if n, err := r.ReadAt(make([]byte, 20), last-3); n != 13 || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
	if _, err := f.ReadFile("big"); !errors.Is(err, compress.ErrTooLarge) {
		t.Errorf("ReadFile: %v", err)
	}
	packed := pack(t, p, compress.PZ)
	f, err = Open(bytes.NewReader(packed), int64(len(packed)), compress.WithMaxDecodedSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open("big"); !errors.Is(err, compress.ErrTooLarge) {
		t.Errorf("with a limit: %v", err)
	}
}

// TestBadMap opens archives with maps of holes that make no sense. Other files are not lost.
func TestBadMap(t *testing.T) {
	mapped := func(records, content string) []byte {
		return append(rawEntry("x", 'x', records), rawEntry("a", '0', content)...)
	}
	for name, p := range map[string][]byte{
		"overlap":   oldSparse("a", 1000, 600, 602),
		"too small": oldSparse("a", 100, 99),
		"no number": mapped("22 GNU.sparse.size=10\n26 GNU.sparse.map=0,1,2,x\n", "abc"),
		"odd":       mapped("22 GNU.sparse.size=10\n24 GNU.sparse.map=0,1,2\n", "abc"),
		"too much":  mapped("22 GNU.sparse.size=10\n22 GNU.sparse.map=0,4\n", "abc"),
		"negative":  mapped("22 GNU.sparse.size=-9\n22 GNU.sparse.map=0,1\n", "abc"),
		"no lines": mapped("22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n26 GNU.sparse.realsize=10\n",
			"9999999\n0"),
	} {
		f := openTar(t, p, rawEntry("b", '0', "other"), ending)
		if got, err := f.ReadFile("a"); !errors.Is(err, tar.ErrHeader) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := f.ReadFile("b"); string(got) != "other" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
