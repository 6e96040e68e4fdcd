package zstframe

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

var headers = []Header{
	{ContentSize: 0, SingleSegment: true},
	{ContentSize: 255, SingleSegment: true, Window: 255, Checksum: true},
	{ContentSize: 256, SingleSegment: true, Window: 256},
	{ContentSize: 1<<16 + 255, SingleSegment: true, Window: 1<<16 + 255},
	{ContentSize: 1<<16 + 256, SingleSegment: true, Window: 1<<16 + 256, Checksum: true},
	{ContentSize: 1<<32 - 1, SingleSegment: true, Window: 1<<32 - 1},
	{ContentSize: 1 << 32, SingleSegment: true, Window: 1 << 32},
	{ContentSize: 1<<63 - 1, Window: MaxWindow, Checksum: true},
	{ContentSize: -1, Window: MinWindow},
	{ContentSize: -1, Window: 8 << 20, Checksum: true, Dictionary: 255},
	{ContentSize: 0, Window: MinWindow + 128, Dictionary: 256},
	{ContentSize: 255, Window: 15 << 10, Dictionary: 1<<16 - 1},
	{ContentSize: 256, Window: 9 << 20, Dictionary: 1 << 16},
	{ContentSize: 1 << 20, Window: 1 << 20, Dictionary: 1<<32 - 1},
}

func TestHeader(t *testing.T) {
	for _, h := range headers {
		p := h.Append([]byte("before"))[6:]
		size, err := HeaderSize(p)
		if err != nil || size != len(p) {
			t.Fatalf("%+v: %d of %d bytes, %v", h, size, len(p), err)
		}
		got, n, err := ParseHeader(append(slices.Clip(p), 0xff, 0xff))
		if err != nil || got != h || n != size {
			t.Errorf("%+v, %v, want %+v", got, err, h)
		}
		for i := range p {
			if _, _, err := ParseHeader(p[:i]); !errors.Is(err, ErrShort) {
				t.Errorf("%+v cut to %d of %d bytes: %v", h, i, len(p), err)
			}
		}
		for i := range MagicSize {
			bad := bytes.Clone(p)
			bad[i] ^= 0x10
			if _, _, err := ParseHeader(bad); !errors.Is(err, ErrMagic) {
				t.Errorf("%+v, byte %d changed: %v", h, i, err)
			}
		}
		p[4] |= flagReserved
		if _, _, err := ParseHeader(p); !errors.Is(err, ErrField) {
			t.Errorf("%+v, reserved bit: %v", h, err)
		}
	}
}

// TestHeaderBytes compares headers with RFC 8878, section 3.1.1.1.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		h    Header
		want []byte
	}{
		{Header{ContentSize: 5, SingleSegment: true, Checksum: true}, []byte{0x28, 0xB5, 0x2F, 0xFD,
			0x24, 5}},
		{Header{ContentSize: 256, SingleSegment: true}, []byte{0x28, 0xB5, 0x2F, 0xFD, 0x60, 0, 0}},
		{Header{ContentSize: 5, Window: 1 << 20}, []byte{0x28, 0xB5, 0x2F, 0xFD, 0x80, 0x50, 5, 0, 0, 0}},
		{Header{ContentSize: -1, Window: 1<<20 + 1, Dictionary: 7}, []byte{0x28, 0xB5, 0x2F, 0xFD,
			0x01, 0x51, 7}},
	} {
		if got := c.h.Append(nil); !bytes.Equal(got, c.want) {
			t.Errorf("%+v: % x, want % x", c.h, got, c.want)
		}
	}
	huge := []byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x80}
	if _, _, err := ParseHeader(huge); !errors.Is(err, ErrField) {
		t.Errorf("content of 2^63 bytes: %v", err)
	}
}

func TestWindow(t *testing.T) {
	last := int64(0)
	for b := range 256 {
		size := windowSize(byte(b))
		if size <= last || windowByte(size) != byte(b) || windowByte(last+1) != byte(b) {
			t.Errorf("descriptor %d is %d bytes, and those are descriptor %d", b, size, windowByte(size))
		}
		last = size
	}
	if windowSize(0) != MinWindow || last != MaxWindow {
		t.Errorf("windows from %d to %d", windowSize(0), last)
	}
}

func TestBlock(t *testing.T) {
	head := func(last, kind, size int) []byte {
		v := last | kind<<1 | size<<3
		return []byte{byte(v), byte(v >> 8), byte(v >> 16)}
	}
	for _, c := range []struct {
		p    []byte
		want Block
		err  error
	}{
		{head(0, 0, 0), Block{}, nil},
		{head(1, 0, MaxBlock), Block{true, RawBlock, MaxBlock, MaxBlock}, nil},
		{head(0, 1, MaxBlock), Block{false, RLEBlock, 1, MaxBlock}, nil},
		{head(1, 2, 77), Block{true, CompressedBlock, 77, -1}, nil},
		{head(0, 3, 77), Block{}, ErrField},
		{head(0, 0, MaxBlock+1), Block{}, ErrField},
		{head(0, 1, 1<<21-1), Block{}, ErrField},
		{[]byte{0, 0}, Block{}, ErrShort},
	} {
		got, err := ParseBlock(c.p)
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("% x: %+v, %v, want %+v, %v", c.p, got, err, c.want, c.err)
		}
	}
}

// FuzzHeader checks that each header that ParseHeader accepts is written as a header that says the
// same.
func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		f.Add(h.Append(nil))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		h, size, err := ParseHeader(p)
		if err != nil {
			return
		}
		if size > len(p) {
			t.Fatalf("%x: header of %d bytes", p, size)
		}
		if again, _, err := ParseHeader(h.Append(nil)); err != nil || again != h {
			t.Fatalf("%x: %+v is written as %+v, %v", p, h, again, err)
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := ParseBlock(p)
		if err == nil && (b.Size < 0 || b.Size > MaxBlock || b.Content > MaxBlock ||
			b.Content < -1 || b.Last != (p[0]&1 == 1)) {
			t.Errorf("%x: %+v", p, b)
		}
	})
}
