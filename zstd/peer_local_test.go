package zstd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kzstd "github.com/klauspost/compress/zstd"
)

// frames splits a file.
func splitFrames(p []byte) (all [][]byte) {
	for len(p) > 0 {
		if p[1] == 0x2A && p[2] == 0x4D && p[3] == 0x18 {
			n := 8 + int(littleEndian(p[4:8]))
			p = p[n:]
			continue
		}
		h, err := ParseFrameHeader(p)
		if err != nil {
			panic(err)
		}
		at := h.Size
		for last := false; !last; {
			var n int
			n, last, _ = BlockSize(p[at:])
			at += 3 + n
		}
		if h.Checksum {
			at += 4
		}
		all = append(all, p[:at])
		p = p[at:]
	}
	return all
}

func TestPeerSpeed(t *testing.T) {
	files := os.Getenv("ZFILES")
	if files == "" {
		t.Skip()
	}
	d := NewDecoder()
	k, _ := kzstd.NewReader(nil, kzstd.WithDecoderConcurrency(1), kzstd.WithDecoderLowmem(true),
		kzstd.WithDecodeAllCapLimit(true), kzstd.WithDecoderMaxWindow(1<<40))
	for _, name := range strings.Fields(files) {
		p, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		a, b := make([]byte, 50<<20), make([]byte, 50<<20)
		var sumA, sumB time.Duration
		size := 0
		for _, f := range splitFrames(p) {
			var ours, theirs []time.Duration
			for range 11 {
				t0 := time.Now()
				n, err := d.DecodeFrame(a, f, true)
				if err != nil {
					t.Fatal(err)
				}
				t1 := time.Now()
				q, err := k.DecodeAll(f, b[:0])
				if err != nil {
					t.Fatal(err)
				}
				t2 := time.Now()
				if !bytes.Equal(a[:n], q) {
					t.Fatal("differs")
				}
				if len(ours) == 0 {
					size += n
				}
				ours, theirs = append(ours, t1.Sub(t0)), append(theirs, t2.Sub(t1))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			sumA, sumB = sumA+ours[1], sumB+theirs[1]
		}
		x, y := float64(size)/float64(sumA)*1000, float64(size)/float64(sumB)*1000
		t.Logf("%-10s ours %5.0f  klauspost %5.0f MB/s  ratio %.3f", filepath.Base(name), x, y, x/y)
	}
}
