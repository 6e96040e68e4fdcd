package gzfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var headers = []Header{
	{OS: Unix},
	{OS: UnknownOS, Name: "name", ModTime: 1, Speed: Fastest},
	{Name: "é ÿ \u0080", Comment: "two\nlines", ModTime: 1<<32 - 1, Speed: Densest, Text: true},
	{Extra: []byte{}, HeaderCRC: true},
	{Extra: []byte("AB\x03\x00xyz"), Comment: "c", HeaderCRC: true, OS: 7},
	{Extra: bytes.Repeat([]byte{0, 1}, maxExtra/2), Name: strings.Repeat("n", MaxString),
		Comment: strings.Repeat("\u00fc", MaxString), HeaderCRC: true},
}

func appendHeader(t testing.TB, h *Header, dst []byte) []byte {
	t.Helper()
	p, err := h.Append(dst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHeader(t *testing.T) {
	for i, h := range headers {
		p := appendHeader(t, &h, []byte("front"))
		if string(p[:5]) != "front" {
			t.Fatal("what was before is gone")
		}
		p = p[5:]
		if len(p) > MaxHeaderSize {
			t.Errorf("header %d has %d bytes", i, len(p))
		}
		got, size, err := ParseHeader(append(p[:len(p):len(p)], "behind"...))
		if err != nil || size != len(p) || !reflect.DeepEqual(got, h) {
			t.Errorf("header %d: %+v of %d bytes, %v; want %+v of %d", i, got, size, err, h, len(p))
		}
		step := 1 + len(p)/1000
		for n := 0; n < len(p); n += step {
			if _, _, err := ParseHeader(p[:n]); err != ErrShort {
				t.Fatalf("header %d, %d bytes of %d: %v", i, n, len(p), err)
			}
		}
		if h.HeaderCRC {
			bad := bytes.Clone(p)
			bad[4] ^= 1 // time
			if _, _, err := ParseHeader(bad); err != ErrChecksum {
				t.Errorf("header %d, another time: %v", i, err)
			}
		}
	}
}

// TestPeerHeader exchanges headers with compress/gzip, both ways.
func TestPeerHeader(t *testing.T) {
	empty := []byte{3, 0}
	for i, h := range headers {
		p := appendHeader(t, &h, nil)
		p = append(p, empty...)
		p = AppendTrailer(p, 0, 0)
		long := len(h.Name) > 400 // which it does not take
		z, err := gzip.NewReader(bytes.NewReader(p))
		if err != nil {
			if long {
				continue
			}
			t.Fatal(i, err)
		}
		if _, err := io.ReadAll(z); err != nil {
			t.Fatal(i, err)
		}
		if z.Name != h.Name || z.Comment != h.Comment || !bytes.Equal(z.Extra, h.Extra) ||
			z.OS != h.OS || h.ModTime != 0 && z.ModTime.Unix() != int64(h.ModTime) {
			t.Errorf("header %d is read as %+v", i, z.Header)
		}
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w.Header = gzip.Header{Name: "näme", Comment: "comment", Extra: []byte("XY\x00\x00"),
		ModTime: time.Unix(1e9, 0), OS: 3}
	_, _ = w.Write([]byte("content"))
	_ = w.Close()
	h, size, err := ParseHeader(b.Bytes())
	want := Header{Name: "näme", Comment: "comment", Extra: []byte("XY\x00\x00"), ModTime: 1e9,
		Speed: Fastest, OS: Unix}
	if err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, %v, want %+v", h, err, want)
	}
	if size != MinHeaderSize+2+4+5+8 {
		t.Error("size:", size)
	}
	sum, n := ParseTrailer(b.Bytes()[b.Len()-TrailerSize:])
	if sum != Checksum(0, []byte("content")) || n != 7 {
		t.Errorf("trailer: %#x, %d", sum, n)
	}
}

func TestHeaderErrors(t *testing.T) {
	for _, h := range []Header{
		{Name: "a\x00b"}, {Name: "日本"}, {Name: "\xff"}, {Comment: "Ā"}, {Extra: make([]byte, maxExtra+1)},
		{Name: strings.Repeat("n", MaxString+1)}, {Comment: strings.Repeat("é", MaxString+1)},
	} {
		if p, err := h.Append([]byte("x")); !errors.Is(err, ErrField) || string(p) != "x" {
			t.Errorf("name of %d bytes: %v, %d bytes", len(h.Name), err, len(p))
		}
	}
	endless := append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte{'n'},
		MaxString+1)...)
	for _, c := range []struct {
		p    string
		want error
	}{
		{"\x1e\x8b\x08", ErrMagic},
		{"\x1f\x8c", ErrMagic},
		{"x", ErrMagic},
		{"", ErrShort},
		{"\x1f", ErrShort},
		{"\x1f\x8b\x07", ErrMethod},
		{"\x1f\x8b\x08\x20", ErrField},
		{"\x1f\x8b\x08\xff", ErrField},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00", ErrShort},
		{string(endless), ErrField},
		{string(endless[:len(endless)-1]), ErrShort},
	} {
		if _, _, err := ParseHeader([]byte(c.p)); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.p[:min(len(c.p), 12)], err, c.want)
		}
	}
}

// TestSkipper compares a Skipper with ParseHeader, for headers in pieces of every size. Only long
// strings are errors for one and not for the other.
func TestSkipper(t *testing.T) {
	skip := func(p []byte, piece int) (n int, done bool, err error) {
		var s Skipper
		for n < len(p) && !done && err == nil {
			var m int
			m, done, err = s.Skip(p[n:min(len(p), n+piece)])
			n += m
		}
		return n, done, err
	}
	for i, h := range headers {
		p, err := h.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 3, 1000, len(p) + 7} {
			if n, done, err := skip(append(slices.Clip(p), "content"...), piece); n != len(p) ||
				!done || err != nil {
				t.Errorf("header %d in pieces of %d: %d bytes of %d, %v, %v", i, piece, n, len(p), done, err)
			}
			if n, done, err := skip(p[:len(p)-1], piece); n != len(p)-1 || done || err != nil {
				t.Errorf("header %d cut short, in pieces of %d: %d, %v, %v", i, piece, n, done, err)
			}
		}
		if len(p) > 1000 {
			continue
		}
		for bit := range 8 * len(p) {
			bad := slices.Clone(p)
			bad[bit/8] ^= 1 << (bit % 8)
			_, size, want := ParseHeader(bad)
			n, done, err := skip(bad, 1)
			if short := errors.Is(want, ErrShort); short && (done || err != nil) ||
				!short && (fmt.Sprint(err) != fmt.Sprint(want) || done && n != size) {
				t.Errorf("header %d, bit %d: %d, %v, %v; ParseHeader: %d, %v", i, bit, n, done, err,
					size, want)
			}
		}
	}
	long := append([]byte("\x1f\x8b\x08\x1a\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte{'n'},
		3*MaxString)...)
	long = append(append(append(long, 0), bytes.Repeat([]byte{'c'}, 2*MaxString)...), 0)
	long = binary.LittleEndian.AppendUint16(long, uint16(Checksum(0, long)))
	if n, done, err := skip(long, 1000); n != len(long) || !done || err != nil {
		t.Errorf("%d bytes of %d, %v, %v", n, len(long), done, err)
	}
	long[len(long)-1] ^= 1
	if _, _, err := skip(long, 1000); err != ErrChecksum {
		t.Error(err)
	}
}

// TestRawName makes sure that the bytes of a name in any encoding survive.
func TestRawName(t *testing.T) {
	raw := []byte("日本 \xff")
	h := Header{Name: FromLatin1(raw)}
	p := appendHeader(t, &h, nil)
	if !bytes.Equal(p[MinHeaderSize:len(p)-1], raw) {
		t.Errorf("% x", p)
	}
	h, _, err := ParseHeader(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := Latin1(nil, h.Name); !ok || !bytes.Equal(got, raw) {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestTrailer(t *testing.T) {
	p := AppendTrailer([]byte("x"), 0x01020304, 1<<33+5)
	if want := []byte("x\x04\x03\x02\x01\x05\x00\x00\x00"); !bytes.Equal(p, want) {
		t.Errorf("% x", p)
	}
	if sum, n := ParseTrailer(p[1:]); sum != 0x01020304 || n != 5 {
		t.Errorf("%#x, %d", sum, n)
	}
}

func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := make([]byte, r.IntN(1<<r.IntN(16)))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		cut := r.IntN(len(p) + 1)
		a, b := crc32.ChecksumIEEE(p[:cut]), crc32.ChecksumIEEE(p[cut:])
		if got, want := Combine(a, b, int64(len(p)-cut)), crc32.ChecksumIEEE(p); got != want {
			t.Fatalf("%d and %d bytes: %#x, want %#x", cut, len(p)-cut, got, want)
		}
	}
	// Large sizes: the checksum of 2n zeros is that of n zeros combined with itself.
	zeros, size := crc32.ChecksumIEEE(make([]byte, 1<<16)), int64(1<<16)
	big := crc32.ChecksumIEEE(make([]byte, 1<<20))
	for ; size < 1<<62; size *= 2 {
		if size == 1<<20 && zeros != big {
			t.Errorf("a megabyte of zeros: %#x, want %#x", zeros, big)
		}
		next := Combine(zeros, zeros, size)
		// The other way round: three pieces in either order of putting together.
		if l, r := Combine(next, zeros, size), Combine(zeros, next, 2*size); l != r {
			t.Fatalf("%d bytes three times: %#x or %#x", size, l, r)
		}
		zeros = next
	}
	if Combine(0x12345678, 0, 0) != 0x12345678 {
		t.Error("nothing behind changes the sum")
	}
}

func TestAllocs(t *testing.T) {
	h := Header{Name: "name", ModTime: 5, Extra: []byte("BC\x02\x00\x1b\x00")}
	dst := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		p, err := h.Append(dst)
		if err != nil {
			t.Fatal(err)
		}
		AppendTrailer(p, Combine(5, 7, 1<<40), 9)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParseHeader writes parsed headers again and compares the bytes.
func FuzzParseHeader(f *testing.F) {
	for _, h := range headers[:5] {
		f.Add(appendHeader(f, &h, nil))
	}
	f.Add([]byte("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00" +
		"\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, size, err := ParseHeader(p)
		if err != nil {
			return
		}
		if size < MinHeaderSize || size > len(p) || size > MaxHeaderSize {
			t.Fatalf("header of %d bytes in %d", size, len(p))
		}
		flags := p[3]
		if flags&flagName != 0 && h.Name == "" || flags&flagComment != 0 && h.Comment == "" {
			return // an empty string is not written
		}
		if got := appendHeader(t, &h, nil); !bytes.Equal(got, p[:size]) {
			t.Fatalf("% x is read as %+v and written as % x", p[:size], h, got)
		}
	})
}

func TestMagic(t *testing.T) {
	if binary.LittleEndian.Uint16([]byte(Magic)) != 0x8b1f {
		t.Error("wrong magic")
	}
}
