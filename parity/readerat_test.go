package parity

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
)

// checkReaderAt reads all of a damaged file through a ReaderAt.
func checkReaderAt(t *testing.T, damaged, want []byte) *ReaderAt {
	t.Helper()
	r, err := NewReaderAt(bytes.NewReader(damaged), int64(len(damaged)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("ReaderAt: %v, exact %v", err, bytes.Equal(got, want))
	}
	if len(r.Lost()) > 0 {
		t.Fatalf("lost: %v", r.Lost())
	}
	return r
}

// TestReaderAt reads a damaged file from several goroutines.
func TestReaderAt(t *testing.T) {
	r := newRand(7)
	s := write(t, Options{10, compress.PZ}, randomZones(r, 6, 20_000, 40_000)...)
	for _, kind := range []string{"flips", "insertion", "cut"} {
		d := s.undamaged()
		var flipped []int
		for i := range 12 {
			g := s.zones[i/2]
			at := int(g.Offset) + r.IntN(int(g.EndOffset()-g.Offset))
			d.flip(r, at)
			flipped = append(flipped, at)
		}
		switch kind {
		case "insertion":
			d.insert(r, 50_000, 100)
		case "cut":
			d.cut(50_000, 100)
		}
		reader, err := NewReaderAt(bytes.NewReader(d.data), int64(len(d.data)))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				r := newRand(uint64(worker))
				for range 300 {
					at := r.IntN(len(s.data))
					p := make([]byte, r.IntN(min(5000, len(s.data)-at)+1))
					n, err := reader.ReadAt(p, int64(at))
					if err != nil || !bytes.Equal(p, s.data[at:at+n]) {
						t.Errorf("%s: %d bytes at %d: %v", kind, len(p), at, err)
						return
					}
				}
			})
		}
		wg.Wait()
		checkReaderAt(t, d.data, s.data)
		all := io.NewSectionReader(reader, 0, reader.Size())
		if err := iotest.TestReader(all, s.data); err != nil {
			t.Error(err)
		}
		for _, at := range flipped {
			if !slices.ContainsFunc(reader.Healed(), func(h Range) bool {
				return h.Offset <= int64(at) && int64(at) < h.Offset+h.Size
			}) && kind == "flips" {
				t.Errorf("%s: byte %d is not among the healed %v", kind, at, reader.Healed())
			}
		}
	}
}

// TestReaderAtLost reads a zone that cannot be healed.
func TestReaderAtLost(t *testing.T) {
	r := newRand(8)
	s := write(t, Options{1, compress.PZ}, random(r, 100_000))
	d := s.undamaged()
	for at := 0; at < 100_000; at += 10_000 {
		d.flip(r, at)
	}
	reader, err := NewReaderAt(bytes.NewReader(d.data), int64(len(d.data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(reader, 0, reader.Size()))
	if err != nil || !bytes.Equal(got, d.data) || len(reader.Lost()) != 10 || reader.Healed() != nil {
		t.Errorf("%v, exact %v, lost %v", err, bytes.Equal(got, d.data), reader.Lost())
	}
}
