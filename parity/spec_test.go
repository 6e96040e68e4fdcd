package parity

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/section"
)

// This file computes a section as FORMAT.md says, with none of the package's code.

var specBasis = [16]uint32{
	0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012,
	0x6C98, 0x10D8, 0x6A72, 0xB900, 0xFDB8, 0xFB34, 0xFF38, 0x991E,
}

// specField is a field of 2^bits elements, which are polynomials.
type specField struct {
	bits int
	poly uint32
}

func (f specField) mul(a, b uint32) (r uint32) {
	for i := range f.bits {
		if b>>i&1 == 1 {
			r ^= a << i
		}
	}
	for i := 2*f.bits - 2; i >= f.bits; i-- {
		if r>>i&1 == 1 {
			r ^= f.poly << (i - f.bits)
		}
	}
	return r
}

func (f specField) inverse(a uint32) uint32 {
	r := uint32(1)
	for range f.bits - 1 {
		a = f.mul(a, a)
		r = f.mul(r, a)
	}
	return r
}

// specElement returns the polynomial of a number.
func specElement(number int) (r uint32) {
	for i, b := range specBasis {
		if number>>i&1 == 1 {
			r ^= b
		}
	}
	return r
}

// specCode returns the m code slices of slices.
func specCode(slices [][]byte, m int) [][]byte {
	n, size := len(slices), len(slices[0])
	code := make([][]byte, m)
	for j := range code {
		code[j] = make([]byte, size)
	}
	if n+m <= 256 {
		f := specField{8, 0x11D}
		for j := range m {
			for i, s := range slices {
				c := f.inverse(uint32((n + j) ^ i))
				for k, v := range s {
					code[j][k] ^= byte(f.mul(c, uint32(v)))
				}
			}
		}
		return code
	}
	f := specField{16, 0x1002D}
	number := map[uint32]int{}
	for i := range 1 << 16 {
		number[specElement(i)] = i
	}
	p := 1
	for p < m {
		p *= 2
	}
	for j := range m {
		sums := make([]uint32, size/2)
		for i, s := range slices {
			c := f.mul(specElement((p+i)/p), f.inverse(specElement(j^(p+i))))
			for k := range sums {
				lo := k/32*64 + k%32
				sums[k] ^= f.mul(c, specElement(int(s[lo])+int(s[lo+32])<<8))
			}
		}
		for k, sum := range sums {
			lo, v := k/32*64+k%32, number[sum]
			code[j][lo], code[j][lo+32] = byte(v), byte(v>>8)
		}
	}
	return code
}

func specCRC(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

func specSection(zone []byte, offset uint64, size, m int, zst, last bool) []byte {
	le := binary.LittleEndian
	var slices [][]byte
	var catalog []byte
	for at := 0; at < len(zone); at += size {
		s := make([]byte, size)
		copy(s, zone[at:])
		slices = append(slices, s)
		catalog = le.AppendUint32(catalog, specCRC(s))
		catalog = le.AppendUint32(catalog, uint32(xxhash.Sum64(s)))
	}
	id := xxhash.Sum64(catalog)
	n := len(slices)
	k := min(32, (n+31)/32)
	pieceSize := 8 * ((n + k - 1) / k)
	var pieces [][]byte
	for i := range k {
		p := make([]byte, pieceSize)
		if i*pieceSize < len(catalog) {
			copy(p, catalog[i*pieceSize:])
		}
		pieces = append(pieces, p)
	}
	bodies := append([][]byte{}, pieces...)
	bodies = append(bodies, specCode(slices, m)...)
	bodies = append(bodies, specCode(pieces, k)...)
	var packets []byte
	for i, body := range bodies {
		h := []byte("PZparity")
		h = le.AppendUint64(h, offset)
		h = le.AppendUint64(h, id)
		h = le.AppendUint32(h, uint32(len(zone)))
		h = le.AppendUint32(h, uint32(size))
		h = le.AppendUint16(h, uint16(m))
		flags := byte(0)
		if last {
			flags |= 1
		}
		if zst {
			flags |= 2
		}
		h = append(h, flags, 0)
		h = le.AppendUint32(h, uint32(i))
		h = le.AppendUint32(h, specCRC(body))
		h = le.AppendUint32(h, specCRC(h))
		packets = append(append(packets, h...), body...)
	}
	var section []byte
	if zst {
		section = append(section, 0x5A, 0x2A, 0x4D, 0x18)
		section = le.AppendUint32(section, uint32(len(packets)+16))
	} else {
		section = append(section, 0x50, 0x5A, 1, 0, 0x81)
		section = le.AppendUint64(section, uint64(17+len(packets)+16))
		section = le.AppendUint32(section, specCRC(section))
	}
	section = append(section, packets...)
	total := uint64(len(section) + 16)
	footer := le.AppendUint64(nil, total)
	footer = le.AppendUint32(footer, specCRC(footer))
	footer = append(footer, "PZSE"...)
	return append(section, footer...)
}

// TestSpecification compares sections with those of the text, for both codes.
func TestSpecification(t *testing.T) {
	r := newRand(20)
	for _, c := range []struct {
		size, slice, parity int
		o                   Options
	}{
		{1, 64, 1, Options{1, compress.PZ}},
		{1000, 64, 2, Options{10, compress.Zstd}},
		{100_000, 832, 7, Options{5, compress.PZ}},
		{100_000, 832, 121, Options{100, compress.Zstd}},
	} {
		zone, second := random(r, c.size), random(r, 10)
		got := write(t, c.o, zone, second).data
		zst := c.o.Format == compress.Zstd
		want := append(bytes.Clone(zone), specSection(zone, 0, c.slice, c.parity, zst, false)...)
		offset := uint64(len(want))
		want = append(want, second...)
		want = append(want, specSection(second, offset, 64, 1, zst, true)...)
		if !bytes.Equal(got, want) {
			t.Errorf("%+v: the file differs from FORMAT.md", c)
		}
	}
	// The code over GF(2^16), with small slices, which the Writer does not choose.
	zone := random(r, 300*64-7)
	for _, m := range []int{1, 3, 4, 20} {
		g := section.Zone{Offset: 5, Size: len(zone), Slice: 64, Parity: m, Last: true}
		got := appendSection(nil, g, cutSlices(zone, 64))
		if !bytes.Equal(got, specSection(zone, 5, 64, m, false, true)) {
			t.Errorf("%d parity slices of 300: the section differs from FORMAT.md", m)
		}
	}
}
