package section

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// The numbers of parity. docs/FORMAT.md, chapter "Sections", defines them.
const (
	PacketMagic      = "PZparity"
	PacketHeaderSize = 48
	EntrySize        = 8 // bytes of the catalog for a slice

	MaxZone   = 256 << 20
	maxSlices = 1 << 14
	MaxSlice  = 1 << 16
	MaxPacket = PacketHeaderSize + MaxSlice
	SliceUnit = 64 // the size of a slice is a multiple of this

	maxPieces    = 32
	entriesPiece = 32 // entries in a piece of a small catalog

	flagLast = 1 // the zone is the last one of its file
	flagZstd = 2 // the section is a frame of .zst

	zstdMagic      = 0x184D2A5A // of that frame
	ZstdHeaderSize = 8
)

// Zone is what all packets of a section of parity state about its zone. Zones that are equal here
// have the same bytes.
type Zone struct {
	Offset int64  // of the zone in the file as it was written
	ID     uint64 // XXH64 of the catalog
	Size   int    // bytes in the zone, at least 1
	Slice  int    // bytes in a slice
	Parity int    // number of parity slices
	Zstd   bool   // the section is a skippable frame of a .zst file
	Last   bool
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func (z Zone) Slices() int { return ceilDiv(z.Size, z.Slice) }

// SliceLength returns the bytes of slice i that the file has: all but those of its padding.
func (z Zone) SliceLength(i int) int { return min(z.Slice, z.Size-i*z.Slice) }

// Pieces returns how many pieces the catalog has, without their code.
func (z Zone) Pieces() int { return min(maxPieces, ceilDiv(z.Slices(), entriesPiece)) }

func (z Zone) PieceSize() int { return EntrySize * ceilDiv(z.Slices(), z.Pieces()) }

func (z Zone) Packets() int { return 2*z.Pieces() + z.Parity }

// PieceNumber returns which piece of the catalog or of its code a packet has, or -1 if it has a
// slice of parity.
func (z Zone) PieceNumber(packet int) int {
	switch k := z.Pieces(); {
	case packet < k:
		return packet
	case packet < k+z.Parity:
		return -1
	}
	return packet - z.Parity
}

// PacketSize returns the bytes of a packet with its header.
func (z Zone) PacketSize(packet int) int {
	if z.PieceNumber(packet) < 0 {
		return PacketHeaderSize + z.Slice
	}
	return PacketHeaderSize + z.PieceSize()
}

// Place returns the distance of a packet from the first byte of its zone.
func (z Zone) Place(packet int) int64 {
	parities := min(max(0, packet-z.Pieces()), z.Parity)
	at := int64(packet-parities)*int64(PacketHeaderSize+z.PieceSize()) +
		int64(parities)*int64(PacketHeaderSize+z.Slice)
	return int64(z.Size) + int64(z.HeaderSize()) + at
}

// HeaderSize returns the bytes of the section in front of its packets.
func (z Zone) HeaderSize() int {
	if z.Zstd {
		return ZstdHeaderSize
	}
	return HeaderSize
}

// SectionSize returns the bytes of the section, with its header and footer.
func (z Zone) SectionSize() int64 { return z.Place(z.Packets()) - int64(z.Size) + FooterSize }

// Next returns the place in the file as it was written where the zone behind begins: 0 if that is
// the first one of another file.
func (z Zone) Next() int64 {
	if z.Last {
		return 0
	}
	return z.EndOffset()
}

// EndOffset returns the place in the file as it was written where the section ends.
func (z Zone) EndOffset() int64 { return z.Offset + int64(z.Size) + z.SectionSize() }

// AppendHeader appends the header of the section.
func (z Zone) AppendHeader(dst []byte) []byte {
	if !z.Zstd {
		return AppendHeader(dst, Parity, z.SectionSize())
	}
	dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
	return binary.LittleEndian.AppendUint32(dst, uint32(z.SectionSize()-ZstdHeaderSize))
}

// AppendPacketHeader appends the header of a packet with the given body.
func (z Zone) AppendPacketHeader(dst []byte, packet int, body []byte) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, PacketMagic...)
	dst = le.AppendUint64(dst, uint64(z.Offset))
	dst = le.AppendUint64(dst, z.ID)
	dst = le.AppendUint32(dst, uint32(z.Size))
	dst = le.AppendUint32(dst, uint32(z.Slice))
	dst = le.AppendUint16(dst, uint16(z.Parity))
	flags := byte(0)
	if z.Last {
		flags |= flagLast
	}
	if z.Zstd {
		flags |= flagZstd
	}
	dst = append(dst, flags, 0)
	dst = le.AppendUint32(dst, uint32(packet))
	dst = le.AppendUint32(dst, Checksum(body))
	return le.AppendUint32(dst, Checksum(dst[start:]))
}

// Packet is a packet's header whose own check and limits are right.
type Packet struct {
	Zone
	Number int
	body   uint32 // CRC32C of the body
}

// ParsePacket reads the header at the beginning of p. It returns false if there is none that is
// intact, or if what it states is not allowed.
func ParsePacket(p []byte) (h Packet, ok bool) {
	le := binary.LittleEndian
	if len(p) < PacketHeaderSize || string(p[:8]) != PacketMagic || le.Uint32(p[44:]) != Checksum(p[:44]) {
		return h, false
	}
	offset, size, slice := le.Uint64(p[8:]), le.Uint32(p[24:]), le.Uint32(p[28:])
	flags, number := p[34], le.Uint32(p[36:])
	switch {
	case offset > 1<<62, size == 0, size > MaxZone, flags > flagLast|flagZstd, p[35] != 0:
		return h, false
	case slice == 0, slice > MaxSlice, slice%SliceUnit != 0:
		return h, false
	}
	h.Zone = Zone{
		Offset: int64(offset), ID: le.Uint64(p[16:]), Size: int(size), Slice: int(slice),
		Parity: int(le.Uint16(p[32:])), Zstd: flags&flagZstd != 0, Last: flags&flagLast != 0,
	}
	n := h.Slices()
	if n > maxSlices || h.Parity == 0 || h.Parity > n || uint64(number) >= uint64(h.Packets()) {
		return h, false
	}
	h.Number, h.body = int(number), le.Uint32(p[40:])
	return h, true
}

// Length returns the bytes of the packet with its header.
func (h *Packet) Length() int { return h.PacketSize(h.Number) }

// Body returns the body of the packet that p begins with. ok is false if it is not intact.
func (h *Packet) Body(p []byte) (body []byte, ok bool) {
	if len(p) < h.Length() {
		return nil, false
	}
	body = p[PacketHeaderSize:h.Length()]
	return body, Checksum(body) == h.body
}

// ReadPacket returns the body of a packet of a zone that begins at start of src, or nil if it is
// not intact there.
func (z Zone) ReadPacket(src io.ReaderAt, number int, start int64) []byte {
	p := make([]byte, z.PacketSize(number))
	if n, _ := src.ReadAt(p, start+z.Place(number)); n < len(p) {
		return nil
	}
	h, ok := ParsePacket(p)
	if !ok || h.Zone != z || h.Number != number {
		return nil
	}
	body, ok := h.Body(p)
	if !ok {
		return nil
	}
	return body
}

// Checksum returns the CRC32C of p.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli()) }
