package pzfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
)

// smallHeader returns the header of a small stream.
func smallHeader(kind container.Kind, payload, raw int, checks bool) Header {
	h := Header{
		Pipeline: 2, Checks: checks, Small: true, Only: long(kind, payload, raw), ContentSize: int64(raw),
		BlockSize: max(MinBlockSize, container.CeilPow2(raw)),
	}
	if checks && kind != 0 {
		h.Sum = 0xAABBCCDD
	}
	return h
}

// withDictionary returns h with the number of a dictionary.
func withDictionary(h Header, number uint32) Header {
	h.Dictionary = number
	return h
}

// smallHeaders returns headers of small streams of all kinds.
func smallHeaders() (list []Header) {
	for _, checks := range []bool{true, false} {
		list = append(list, smallHeader(0, 0, 0, checks),
			smallHeader(Stored, 1, 1, checks), smallHeader(Stored, MaxSmall, MaxSmall, checks),
			smallHeader(Fill, 1, 1, checks), smallHeader(Fill, 1, MaxSmall, checks),
			smallHeader(Coded, 1, 2, checks), smallHeader(Coded, MaxSmall-1, MaxSmall, checks),
			withDictionary(smallHeader(Coded, 9, 99, checks), 1))
	}
	return list
}

// parse reads the header that p begins with. It adds bytes if p is too short.
func parse(p []byte) (Header, error) {
	size, err := HeaderSize(p)
	if err != nil {
		return Header{}, err
	}
	return ParseHeader(append(bytes.Clone(p), make([]byte, MaxHeaderSize)...)[:size])
}

func TestSmallHeader(t *testing.T) {
	for _, h := range smallHeaders() {
		p := h.Append([]byte("before"))[6:]
		if got, err := parse(p); err != nil || got != h || len(p) != h.Size() {
			t.Errorf("%+v, %v, %d bytes; want %+v", got, err, len(p), h)
		}
		eachFlip(p, func(bad []byte, bit int) {
			if got, err := parse(bad); err == nil {
				t.Errorf("%+v: flip of bit %d goes unnoticed: %+v", h, bit, got)
			}
		})
		footer := appendSmallFooter(nil, h.smallSize())
		size, ok := parseSmallFooter(append(p, footer...))
		if want := int64(len(p) + h.Only.Payload + len(footer)); !ok || size != want {
			t.Errorf("%+v: footer says %d, %v, want %d", h, size, ok, want)
		}
	}
	h := smallHeader(Coded, 0x1234, 0x5678, true)
	want := []byte{0x50, 0x5A, 1, 2, 0x87, 0x78, 0x56, 0x34, 0x12, 0xDD, 0xCC, 0xBB, 0xAA}
	want = binary.LittleEndian.AppendUint16(want, ^crc16(^uint16(0), want))
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	h.Dictionary = 0x99887766
	want = []byte{
		0x50, 0x5A, 1, 2, 0x8F, 0x78, 0x56, 0x34, 0x12, 0x66, 0x77, 0x88, 0x99, 0xDD, 0xCC, 0xBB, 0xAA,
	}
	want = binary.LittleEndian.AppendUint16(want, ^crc16(^uint16(0), want))
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// TestSmallFields checks that fields out of range are errors although the check is right.
func TestSmallFields(t *testing.T) {
	for _, h := range []Header{
		smallHeader(0, 0, 1, true), smallHeader(Stored, 0, 0, true), smallHeader(Fill, 1, 0, false),
		smallHeader(Stored, MaxSmall+1, MaxSmall+1, true), smallHeader(Coded, 5, 5, true),
		smallHeader(Coded, 0, 5, true), smallHeader(Coded, 5, MaxSmall+1, false),
		{Pipeline: 1, Small: true, Checks: true, Sum: 1},
	} {
		if got, err := parse(h.Append(nil)); !errors.Is(err, ErrField) {
			t.Errorf("%+v: %+v, %v", h, got, err)
		}
	}
	const checkSize = 2
	seal := func(p []byte) {
		n := len(p) - checkSize
		binary.LittleEndian.PutUint16(p[n:], ^crc16(^uint16(0), p[:n]))
	}
	h := smallHeader(Stored, 5, 5, true)
	for bit := 4; bit < 7; bit++ {
		p := h.Append(nil)
		p[4] |= 1 << bit
		seal(p)
		if _, err := parse(p); !errors.Is(err, ErrVersion) {
			t.Errorf("bit %d of byte 4: %v", bit, err)
		}
	}
	// Only coded content has a dictionary, and its number is not 0.
	for _, h := range []Header{h, smallHeader(0, 0, 0, true), smallHeader(Fill, 1, 5, false)} {
		p := append(h.Append(nil), 1, 0, 0, 0)
		p[4] |= smallDict
		seal(p)
		if got, err := parse(p); !errors.Is(err, ErrField) {
			t.Errorf("%+v with a dictionary: %+v, %v", h, got, err)
		}
	}
	coded := withDictionary(smallHeader(Coded, 5, 50, true), 1)
	p := coded.Append(nil)
	p[smallPrefix+2] = 0
	seal(p)
	if got, err := parse(p); !errors.Is(err, ErrField) {
		t.Errorf("dictionary 0: %+v, %v", got, err)
	}
}

// TestOpenSmall checks that the header of a small stream must be what the index has.
func TestOpenSmall(t *testing.T) {
	for _, h := range smallHeaders() {
		if h.Only.Kind == 0 {
			continue
		}
		p := append(h.Append(nil), make([]byte, h.Only.Payload)...)
		b := h.smallBlock(7)
		st := index.Stream{
			Pipeline: h.Pipeline, BlockSize: h.BlockSize, Checks: h.Checks, Dictionary: h.Dictionary,
		}
		payload, sum, err := OpenBlock(p, &b, &st, 0)
		if err != nil || len(payload) != h.Only.Payload || sum != h.Sum {
			t.Errorf("%+v: %d bytes, %x, %v", h, len(payload), sum, err)
		}
		eachFlip(p[:h.Size()], func(bad []byte, bit int) {
			if _, _, err := OpenBlock(append(bad, p[h.Size():]...), &b, &st, 0); err == nil {
				t.Errorf("%+v: flip of bit %d goes unnoticed", h, bit)
			}
		})
		other := st
		other.Pipeline++
		if _, _, err := OpenBlock(p, &b, &other, 0); err == nil {
			t.Errorf("%+v: another pipeline goes unnoticed", h)
		}
	}
}

// TestSmallFraming checks which streams a Framer makes small.
func TestSmallFraming(t *testing.T) {
	for _, c := range []struct {
		whole int
		small bool
	}{{-1, false}, {0, true}, {1, true}, {MaxSmall, true}, {MaxSmall + 1, false}} {
		var f Framer
		f.Reset(Header{Pipeline: 2, BlockSize: 1 << 20, Checks: true, ContentSize: -1})
		p := f.Header(nil, c.whole)
		if c.whole > 0 {
			p = f.BlockHeader(p, container.Block{Kind: Fill, Payload: 1, Raw: c.whole, Sum: 5})
			p = append(p, 'x')
		}
		p = f.Trailer(p, int64(max(c.whole, 0)), int64(len(p)))
		if h, err := parse(p); err != nil || h.Small != c.small {
			t.Errorf("%d bytes: %+v, %v", c.whole, h, err)
		}
		if _, ok := parseSmallFooter(p); ok != c.small {
			t.Errorf("%d bytes: the footer is small: %v", c.whole, ok)
		}
	}
}
