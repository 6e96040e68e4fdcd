package gzindex_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/testenv"
)

// TestRoundTrip writes an index in all formats with windows, reads it again and decodes from its
// checkpoints.
func TestRoundTrip(t *testing.T) {
	content := testContent()
	file, x := flushed(t, content, 300_000)
	checkIndex(t, x, file, content)
	gzidx := write(t, x, gzindex.GZIDX1)
	for f, b := range map[gzindex.Format][]byte{
		gzindex.GZIDX0: version0(gzidx), gzindex.GZIDX1: gzidx,
		gzindex.Gztool0: write(t, x, gzindex.Gztool0),
	} {
		t.Run(f.String(), func(t *testing.T) {
			y := read(t, b)
			want := *x
			want.Source = f
			if f == gzindex.Gztool0 {
				want.FileSize = gzindex.Unknown
			}
			if !reflect.DeepEqual(y, &want) {
				t.Fatal("another index")
			}
			checkIndex(t, y, file, content)
			y.FileSize = x.FileSize
			if f != gzindex.GZIDX0 && !bytes.Equal(write(t, y, f), b) {
				t.Fatal("written again it differs")
			}
		})
	}
}

// TestUnaligned writes checkpoints within bytes. indexed_gzip ignores the bits of a checkpoint that
// has no window, so GZIDX has to get one.
func TestUnaligned(t *testing.T) {
	x := &gzindex.Index{FileSize: 1000, ContentSize: 1 << 19}
	for bit := int64(80); bit < 100; bit++ {
		x.Checkpoints = append(x.Checkpoints, gzindex.Checkpoint{Bit: bit, Content: bit * 100})
	}
	for _, f := range []gzindex.Format{gzindex.GZIDX1, gzindex.Gztool0} {
		y := read(t, write(t, x, f))
		if len(y.Checkpoints) != len(x.Checkpoints) {
			t.Fatalf("%v: %d checkpoints", f, len(y.Checkpoints))
		}
		for i, c := range y.Checkpoints {
			if c.Bit != x.Checkpoints[i].Bit || c.Content != x.Checkpoints[i].Content {
				t.Fatalf("%v: checkpoint %d: %+v", f, i, c)
			}
			if f == gzindex.GZIDX1 && c.Window.Empty() != (c.Bit&7 == 0) {
				t.Fatalf("checkpoint at bit %d: window %v", c.Bit, !c.Window.Empty())
			}
		}
	}
}

// TestCut cuts indexes everywhere. Without its last fields an index of gztool is still valid.
func TestCut(t *testing.T) {
	for _, g := range golden {
		// Only its size shows that an index is one of bgzip's.
		bgzip := g.want.Source == gzindex.Bgzip
		for n := range min(len(g.b), 500) {
			x, err := gzindex.ReadAt(bytes.NewReader(g.b[:n]), int64(n), nil)
			if err == nil && n == 8 && len(x.Checkpoints) == 1 {
				continue // bgzip's index of one member
			}
			if err == nil && x.Source == gzindex.Gztool0 && len(g.b)-n <= 24 {
				continue
			}
			if err == nil && x.Source == gzindex.Gztool1 && len(g.b)-n == 16 {
				continue
			}
			// A cut signature looks like one of bgzip's short indexes.
			if !errors.Is(err, errs.Truncated) && !((bgzip || n < 16) && errors.Is(err, errs.Format)) {
				t.Fatalf("%s, cut to %d bytes: %v", g.name, n, err)
			}
		}
		b := append(bytes.Clone(g.b), 0)
		_, err := gzindex.ReadAt(bytes.NewReader(b), int64(len(b)), nil)
		if !errors.Is(err, errs.Corrupt) && !errors.Is(err, errs.Truncated) &&
			!(bgzip && errors.Is(err, errs.Format)) {
			t.Errorf("%s and a byte more: %v", g.name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, tc := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, errs.Format},
		{"text", []byte("this is not an index at all"), errs.Format},
		{"bgzip: disorder", le(2, 100, 65280, 90, 130560), errs.Corrupt},
		{"bgzip: content", le(2, 100, 65280, 110, 1), errs.Corrupt},
		{"bgzip: too much content", le(1, 100, 100*8*129+129), errs.Corrupt},
		{"bgzip: offset", le(1, 1<<63, 65280), errs.Corrupt},
		{"GZIDX version 2", cat("GZIDX\x02\x00", make([]byte, 40)), errs.Version},
		{"GZIDX flags", cat("GZIDX\x01\x01", make([]byte, 40)), errs.Version},
		{"GZIDX window", cat("GZIDX\x01\x00", le(5, 6), le32(0, 1<<16, 1)), errs.Corrupt},
		{"GZIDX count", cat("GZIDX\x01\x00", le(5, 6), le32(0, 1<<15, 1<<31)), errs.Truncated},
		{
			"GZIDX behind the end",
			cat("GZIDX\x01\x00", le(5, 6), le32(0, 1<<15, 1), le(6, 0), "\x00\x00"), errs.Corrupt,
		},
		{
			"GZIDX bits",
			cat("GZIDX\x01\x00", le(5, 6), le32(0, 1<<15, 1), le(5, 0), "\x08\x00"), errs.Corrupt,
		},
		{
			"GZIDX before the beginning",
			cat("GZIDX\x01\x00", le(5, 6), le32(0, 1<<15, 1), le(0, 0), "\x01\x00"), errs.Corrupt,
		},
		{
			"gztool window",
			cat(be64(0), "gzipindx", be64(1), be64(1), be64(0), be64(9), be32(0), be32(1<<31)),
			errs.Corrupt,
		},
		{
			"gztool: too much content",
			cat(be64(0), "gzipindx", be64(2), be64(2), be64(0), be64(10), be64(0),
				be64(600<<20), be64(1000), be64(0), be64(600<<20)),
			errs.Corrupt,
		},
		{
			"gztool size",
			cat(be64(0), "gzipindx", be64(1), be64(1), be64(7), be64(9), be64(0), be64(6)),
			errs.Corrupt,
		},
		{"gztool line end", cat(be64(0), "gzipindX", be32(2), be64(0), be64(0)), errs.Corrupt},
	} {
		_, err := gzindex.ReadAt(bytes.NewReader(tc.b), int64(len(tc.b)), nil)
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v in place of %v", tc.name, err, tc.want)
		}
		var e *errs.Error
		if !errors.As(err, &e) || e.Part != errs.PartIndex || e.Offset < 0 {
			t.Errorf("%s: %#v does not say where", tc.name, err)
		}
	}
}

// TestWindowDamage flips bits of a compressed window.
func TestWindowDamage(t *testing.T) {
	content := testContent()[:1<<20]
	_, x := flushed(t, content, 1<<19)
	b := write(t, x, gzindex.Gztool0)
	var u gzindex.Unpacker
	size := int(binary.BigEndian.Uint32(b[32+24+20:]))
	start := 32 + 24 + 24
	want, err := u.Unpack(x.Checkpoints[1].Window)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.Clone(want)
	for bit := 0; bit < size*8; bit += 37 {
		b[start+bit/8] ^= 1 << (bit & 7)
		y := read(t, b)
		got, err := u.Unpack(y.Checkpoints[1].Window)
		// Some bits fill bytes, and a match may have the same content at another offset.
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("bit %d of %d: no error", bit, size*8)
		}
		if err != nil && !errors.Is(err, errs.Corrupt) {
			t.Fatalf("bit %d: %v", bit, err)
		}
		b[start+bit/8] ^= 1 << (bit & 7)
	}
}

func TestWindowSizes(t *testing.T) {
	var p gzindex.Packer
	var u gzindex.Unpacker
	content := testContent()
	for _, n := range []int{0, 1, 2, gzindex.WindowSize - 1, gzindex.WindowSize, 100_000} {
		w := p.Pack(content[:n])
		got, err := u.Unpack(w)
		if err != nil || !bytes.Equal(got, content[max(0, n-gzindex.WindowSize):n]) {
			t.Errorf("%d bytes: another window, or %v", n, err)
		}
	}
}

func TestLimits(t *testing.T) {
	_, x := flushed(t, testContent(), 100_000)
	for _, f := range []gzindex.Format{gzindex.GZIDX1, gzindex.Gztool0} {
		b := write(t, x, f)
		y := read(t, b)
		with := func(limits *container.Limits) error {
			_, err := gzindex.ReadAt(bytes.NewReader(b), int64(len(b)), limits)
			return err
		}
		if err := with(&container.Limits{MaxMemory: 2 * memory(y)}); err != nil {
			t.Errorf("%v: %v", f, err)
		}
		if err := with(&container.Limits{MaxMemory: memory(y) / 2}); !errors.Is(err, errs.Memory) {
			t.Errorf("%v: %v with half of the memory", f, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := with(&container.Limits{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v after the end of the context", f, err)
		}
	}
}

// TestHostileCounts reads short indexes that announce very much. They must not take more memory
// than a few buffers.
func TestHostileCounts(t *testing.T) {
	testenv.Measures(t)
	for _, b := range [][]byte{
		le(1<<50, 100, 65280),
		cat("GZIDX\x01\x00", le(5<<40, 6<<40), le32(1<<31, 1<<15, 1<<32-1), le(9, 0), "\x00\x01"),
		cat(be64(0), "gzipindx", be64(1<<62), be64(1<<62), be64(0), be64(9), be32(0), be32(33000)),
		cat(be64(0), "gzipindx", be64(0), be64(1<<64-1), be64(0), be64(9), be32(0), be32(33000)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := gzindex.ReadAt(bytes.NewReader(b), int64(len(b)), nil); err == nil {
			t.Errorf("%q: no error", b)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%q: allocated %d bytes", b, n)
		}
	}
}

// A badFile has an error behind the first bytes.
type badFile struct {
	p   []byte
	err error
}

func (f badFile) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, f.p[min(off, int64(len(f.p))):])
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

func TestReaderErrors(t *testing.T) {
	mine := errors.New("mine")
	for _, g := range golden {
		for n := range min(len(g.b), 300) {
			_, err := gzindex.ReadAt(badFile{g.b[:n], mine}, int64(len(g.b)), nil)
			if err != mine {
				t.Fatalf("%s: %v after %d bytes", g.name, err, n)
			}
		}
	}
}

func TestWriteErrors(t *testing.T) {
	point := func(c ...gzindex.Checkpoint) gzindex.Index {
		return gzindex.Index{Checkpoints: c, FileSize: 1000, ContentSize: 1000}
	}
	nothing := gzindex.Index{FileSize: -1, ContentSize: -1}
	for _, tc := range []struct {
		name string
		x    gzindex.Index
		f    gzindex.Format
	}{
		{"GZIDX without sizes", nothing, gzindex.GZIDX1},
		{"gztool without sizes", nothing, gzindex.Gztool0},
		{"gztool with lines", point(), gzindex.Gztool1},
		{"GZIDX version 0", point(), gzindex.GZIDX0},
		{"no format", point(), gzindex.None},
		{"unknown format", point(), gzindex.Bgzip + 1},
		{"block for bgzip", point(gzindex.Checkpoint{Bit: 80}), gzindex.Bgzip},
		{"header for gztool", point(gzindex.Checkpoint{Header: true}), gzindex.Gztool0},
		{"header within a byte", point(gzindex.Checkpoint{Header: true, Bit: 4}), gzindex.Bgzip},
		{"negative", point(gzindex.Checkpoint{Bit: -8}), gzindex.Gztool0},
		{"behind the end", point(gzindex.Checkpoint{Bit: 8001}), gzindex.Gztool0},
		{"disorder", point(gzindex.Checkpoint{Bit: 8}, gzindex.Checkpoint{}), gzindex.Gztool0},
		{"size", gzindex.Index{FileSize: 1 << 62}, gzindex.GZIDX1},
	} {
		if err := tc.x.Write(io.Discard, tc.f); !errors.Is(err, errs.Option) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
