package pzfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gopz/compress/internal/container"
)

func TestHeader(t *testing.T) {
	for _, h := range []Header{
		{Pipeline: 1, BlockSize: MinBlockSize, ContentSize: -1},
		{Pipeline: 2, BlockSize: MaxBlockSize, ContentSize: -1, Checks: true},
		{Pipeline: 255, BlockSize: 1 << 20, ContentSize: 0, Checks: true},
		{Pipeline: 0, BlockSize: 1 << 16, ContentSize: 1<<63 - 1},
		{Pipeline: 2, BlockSize: 1 << 16, ContentSize: -1, Dictionary: 1},
		{Pipeline: 1, BlockSize: 1 << 16, ContentSize: 1 << 62, Checks: true, Dictionary: 1<<32 - 1},
	} {
		p := h.Append([]byte("before"))[6:]
		size, err := HeaderSize(p)
		if err != nil || size != len(p) || size != h.Size() {
			t.Fatal(size, err)
		}
		got, err := ParseHeader(p)
		if err != nil || got != h {
			t.Errorf("%+v, %v, want %+v", got, err, h)
		}
		eachFlip(p, func(bad []byte, bit int) {
			size, err := HeaderSize(bad)
			if err == nil {
				bad = append(bad, make([]byte, MaxHeaderSize)...)[:size]
				_, err = ParseHeader(bad)
			}
			if err == nil {
				t.Errorf("%+v: flip of bit %d goes unnoticed", h, bit)
			}
		})
	}
	if _, err := ParseHeader([]byte("PZ")); err == nil {
		t.Error("short header")
	}
}

// TestHeaderBytes compares the parts with the example of docs/FORMAT.md.
func TestHeaderBytes(t *testing.T) {
	h := Header{Pipeline: 2, BlockSize: 1 << 20, Checks: true, ContentSize: 0x0102}
	want := []byte{0x50, 0x5A, 1, 2, 20, 3, 2, 1, 0, 0, 0, 0, 0, 0}
	want = binary.LittleEndian.AppendUint32(want, Checksum(0, want))
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	e := Entry{Kind: Coded, Payload: 0x1234, Raw: 0x5678}
	got := AppendBlockHeader(nil, e, 0xAABBCCDD, 7)
	want = []byte{0x43, 0x23, 0x01, 0, 0x78, 0x56, 0, 0, 0xDD, 0xCC, 0xBB, 0xAA}
	sum := Checksum(0, append(want[:12:12], 7, 0, 0, 0, 0, 0, 0, 0))
	want = binary.LittleEndian.AppendUint32(want, sum)
	if !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

func TestHeaderFields(t *testing.T) {
	good := (&Header{Pipeline: 1, BlockSize: MinBlockSize, ContentSize: 1}).Append(nil)
	for _, c := range []struct {
		at   int
		b    byte
		want error
	}{
		{0, 'p', ErrMagic},
		{2, 2, ErrVersion},
		{4, 11, ErrField},
		{4, 27, ErrField},
		{4, 255, ErrField},
		{5, 5, ErrField}, // has another size
		{5, 8, ErrField}, // has no dictionary
		{5, 17, ErrVersion},
		{13, 0x80, ErrField},
	} {
		p := bytes.Clone(good)
		p[c.at] = c.b
		binary.LittleEndian.PutUint32(p[14:], Checksum(0, p[:14]))
		if _, err := ParseHeader(p); !errors.Is(err, c.want) {
			t.Errorf("byte %d is %d: %v", c.at, c.b, err)
		}
	}
}

// TestHeaderWindow reads and writes headers with a window.
func TestHeaderWindow(t *testing.T) {
	for _, content := range []int64{-1, 1 << 40} {
		h := Header{
			Pipeline: 2, BlockSize: MaxBlockSize, Checks: true, ContentSize: content, Window: 1 << 31,
			Sources: 64,
		}
		p := h.Append(nil)
		if got, err := ParseHeader(p); err != nil || got != h || len(p) != h.Size() {
			t.Errorf("%+v, %v, %d bytes; want %+v", got, err, len(p), h)
		}
		n := len(p) - 4
		for _, c := range []struct{ log, sources byte }{{19, 1}, {32, 1}, {255, 1}, {27, 0}, {27, 65}} {
			p[n-2], p[n-1] = c.log, c.sources
			binary.LittleEndian.PutUint32(p[n:], Checksum(0, p[:n]))
			if got, err := ParseHeader(p); !errors.Is(err, ErrField) {
				t.Errorf("window 2^%d, %d sources: %+v, %v", c.log, c.sources, got, err)
			}
		}
	}
}

// TestHeaderDictionary checks that a dictionary has a number, and that no stream has one and a
// window.
func TestHeaderDictionary(t *testing.T) {
	none := Header{Pipeline: 2, BlockSize: 1 << 16, ContentSize: 9, Dictionary: 5}
	p := none.Append(nil)
	binary.LittleEndian.PutUint32(p[len(p)-8:], 0)
	both := none
	both.Window, both.Sources = 1<<20, 1
	for name, p := range map[string][]byte{"number 0": p, "with a window": both.Append(nil)} {
		n := len(p) - 4
		binary.LittleEndian.PutUint32(p[n:], Checksum(0, p[:n]))
		if h, err := ParseHeader(p); !errors.Is(err, ErrField) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// The forms of an entry.
func long(k container.Kind, payload, raw int) Entry {
	return Entry{Kind: k, Payload: payload, Raw: raw}
}

func flushed(k container.Kind, payload, raw int) Entry {
	return Entry{Kind: k, Payload: payload, Raw: raw, Flushed: true}
}

func short(k container.Kind, payload, raw int) Entry {
	return Entry{Kind: k, Payload: payload, Raw: raw, Short: true}
}

func TestBlockHeader(t *testing.T) {
	h := Header{BlockSize: 1 << 16, Checks: true}
	var list []Entry
	for _, form := range []func(container.Kind, int, int) Entry{long, flushed, short} {
		list = append(list, form(Stored, 1, 1), form(Stored, 1<<16, 1<<16), form(Fill, 1, 1),
			form(Fill, 1, 1<<16), form(Coded, 1, 2), form(Coded, 1<<16-1, 1<<16))
	}
	for _, e := range list {
		for _, number := range []int64{0, 1, 255, 256, 1 << 40, 1<<63 - 1} {
			p := AppendBlockHeader([]byte("before"), e, 0x12345678, number)[6:]
			got, sum, err := ParseBlockHeader(p, &h, number)
			if err != nil || got != e || sum != 0x12345678 || IsEndMarker(p) {
				t.Errorf("%+v %x %v, want %+v", got, sum, err, e)
			}
			if _, _, err := ParseBlockHeader(p, &h, number^1); err != ErrChecksum {
				t.Error("wrong number:", err)
			}
			eachFlip(p, func(bad []byte, bit int) {
				if _, _, err := ParseBlockHeader(bad, &h, number); err == nil {
					t.Errorf("flip of bit %d goes unnoticed", bit)
				}
			})
		}
	}
	list = []Entry{
		short(0, 5, 5), short(Stored, 0, 0), short(Fill, 1, 0), short(Coded, 5, 5),
		short(Coded, 0, 5), short(Stored, 1<<16+1, 1<<16+1),
	}
	for _, form := range []func(container.Kind, int, int) Entry{long, flushed} {
		list = append(list, form(0, 5, 5), form(Stored, 5, 6), form(Stored, 6, 5),
			form(Stored, 0, 0), form(Fill, 2, 5), form(Fill, 0, 5), form(Coded, 5, 5), form(Coded, 6, 5),
			form(Coded, 0, 5), form(Fill, 1, 0), form(Fill, 1, 1<<16+1), form(Coded, 5, 1<<31-1))
	}
	for _, e := range list {
		p := AppendBlockHeader(nil, e, 0, 3)
		if _, _, err := ParseBlockHeader(p, &h, 3); !errors.Is(err, ErrField) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	h.Checks = false
	p := AppendBlockHeader(nil, Entry{Kind: Stored, Payload: 5, Raw: 5}, 1, 0)
	if _, _, err := ParseBlockHeader(p, &h, 0); !errors.Is(err, ErrField) {
		t.Error("check where there are none:", err)
	}
}

func TestBlockNumber(t *testing.T) {
	for _, number := range []int64{0, 1, 2, 255, 256, 70_000, 1<<32 - 1} {
		for _, sum := range []uint32{0, 1, 0xDEADBEEF} {
			p := AppendBlockHeader(nil, Entry{Kind: Coded, Payload: 99, Raw: 1000}, sum, number)
			if got := BlockNumber(p); got != number {
				t.Errorf("%d, want %d", got, number)
			}
		}
	}
}

// TestShortNumber checks the number that a short header must have, and the checks of the format's
// page.
func TestShortNumber(t *testing.T) {
	for _, e := range []Entry{short(Stored, 99, 99), short(Fill, 1, 1<<20), short(Coded, 99, 1000)} {
		for _, number := range []int64{0, 1, 255, 256, 1<<16 - 1, 1 << 16, 1<<40 + 77} {
			p := AppendBlockHeader(nil, e, 0xDEADBEEF, number)
			if got := shortNumber(p); got != uint16(number) {
				t.Errorf("%d, want %d", got, uint16(number))
			}
		}
	}
	if got := ^crc16(^uint16(0), []byte("123456789")); got != 0x906E {
		t.Errorf("CRC-16 of 123456789: %#x", got)
	}
}

func TestFooter(t *testing.T) {
	tail := make([]byte, EndMarkerSize)
	tail = Entry{Kind: Stored, Payload: 100, Raw: 100}.Append(tail)
	tail = Entry{Kind: Fill, Payload: 1, Raw: 4096}.Append(tail)
	sum := Checksum(0, tail)
	f := Footer{Content: 4196, Size: 10 + 2*16 + 101 + TailSize(2), Units: 2}
	p := AppendFooter(nil, f, sum)
	if int64(len(tail)+len(p)) != TailSize(2) {
		t.Error(len(tail), len(p))
	}
	got, err := ParseFooter(p)
	if err == nil {
		err = got.CheckTail(sum, p)
	}
	f.Sum = got.Sum
	if err != nil || got != f {
		t.Errorf("%+v, %v, want %+v", got, err, f)
	}
	eachFlip(p, func(bad []byte, bit int) {
		got, err := ParseFooter(bad)
		if err == nil {
			err = got.CheckTail(sum, bad)
		}
		if err == nil {
			t.Errorf("flip of bit %d goes unnoticed", bit)
		}
	})
	for _, f := range []Footer{
		{Size: 45}, {Size: -1}, {Size: 46, Units: 1, Content: 1}, {Size: 46, Content: 1},
		{Size: 71, Units: 1},
		{Size: 71, Units: 1, Content: MaxBlockSize + 1}, {Size: 71, Units: -1}, {Size: 71,
			Units: 1, Content: -1}, {Size: 1 << 62, Units: 1 << 60, Content: 1 << 62},
	} {
		if _, err := ParseFooter(AppendFooter(nil, f, 0)); !errors.Is(err, ErrField) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// eachFlip calls f with each copy of p that has one flipped bit.
func eachFlip(p []byte, f func(bad []byte, bit int)) {
	for bit := range 8 * len(p) {
		bad := bytes.Clone(p)
		bad[bit/8] ^= 1 << (bit % 8)
		f(bad, bit)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add((&Header{Pipeline: 1, BlockSize: MinBlockSize, ContentSize: 5}).Append(nil))
	f.Add((&Header{Pipeline: 2, BlockSize: MaxBlockSize, ContentSize: -1, Checks: true}).Append(nil))
	f.Add((&Header{Pipeline: 2, BlockSize: MinBlockSize, ContentSize: 5, Dictionary: 7}).Append(nil))
	for _, h := range smallHeaders() {
		f.Add(h.Append(nil))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		h, err := ParseHeader(p)
		if err == nil && !bytes.Equal(h.Append(nil), p) {
			t.Errorf("%x is %+v, and that is %x", p, h, h.Append(nil))
		}
	})
}

func FuzzBlockHeader(f *testing.F) {
	f.Add(AppendBlockHeader(nil, Entry{Kind: Stored, Payload: 5, Raw: 5}, 1, 0), int64(0))
	f.Add(AppendBlockHeader(nil, Entry{Kind: Coded, Payload: 5, Raw: 500}, 1, 9), int64(9))
	f.Add(AppendBlockHeader(nil, short(Coded, 5, 500), 1, 9), int64(9))
	f.Fuzz(func(t *testing.T, p []byte, number int64) {
		if len(p) == 0 || len(p) < headerSize(p[0]) {
			return
		}
		p = p[:headerSize(p[0])]
		h := Header{BlockSize: MaxBlockSize, Checks: true}
		e, sum, err := ParseBlockHeader(p, &h, number)
		if err == nil && !bytes.Equal(AppendBlockHeader(nil, e, sum, number), p) {
			t.Errorf("%x is %+v", p, e)
		}
		if e, err := ParseEntry(p, h.BlockSize); err == nil && !bytes.Equal(e.Append(nil), p[:e.Size()]) {
			t.Errorf("%x is %+v", p, e)
		}
	})
}

func FuzzFooter(f *testing.F) {
	f.Add(AppendFooter(nil, Footer{Size: 71, Units: 1, Content: 1}, 0))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) < FooterSize {
			return
		}
		p = p[:FooterSize]
		g, err := ParseFooter(p)
		if err == nil && g.CheckTail(0, p) == nil && !bytes.Equal(AppendFooter(nil, g, 0), p) {
			t.Errorf("%x is %+v", p, g)
		}
	})
}
