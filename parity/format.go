package parity

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
)

// The numbers of the format. docs/FORMAT.md, chapter "Sections", defines them.
const (
	magic      = "PZparity"
	headerSize = 48 // bytes of a packet's header
	entrySize  = 8  // bytes of the catalog for a slice

	maxSlices    = 1 << 14
	maxSliceSize = 1 << 16
	sliceUnit    = 64 // the size of a slice is a multiple of this
	maxPieces    = 32
	entriesPiece = 32 // entries in a piece of a small catalog

	usualSlice  = 16 << 10 // size of slices in zones of at least smallSlices of them
	smallSlices = 128      // about as many slices has a smaller zone

	flagLast = 1 // the zone is the last one of its file
	flagZstd = 2 // the section is a frame of .zst
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// geometry is what all packets of a section state about its zone. Zones with the same geometry have
// the same bytes.
type geometry struct {
	offset int64  // of the zone in the file as it was written
	id     uint64 // XXH64 of the catalog
	size   int    // bytes in the zone, at least 1
	slice  int    // bytes in a slice
	parity int    // number of parity slices
	frame  frame
	last   bool
}

// newGeometry returns the geometry of a zone of size bytes, without its id.
func newGeometry(offset int64, size int, o Options, last bool) geometry {
	g := geometry{offset: offset, size: size, slice: usualSlice, frame: frameOf(o.Format), last: last}
	if size < smallSlices*usualSlice {
		g.slice = sliceUnit * max(1, ceilDiv(size, smallSlices*sliceUnit))
	}
	g.parity = ceilDiv(g.slices()*o.Percent, 100)
	return g
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func (g geometry) slices() int { return ceilDiv(g.size, g.slice) }

// pieces returns how many pieces the catalog has, without their code.
func (g geometry) pieces() int { return min(maxPieces, ceilDiv(g.slices(), entriesPiece)) }

func (g geometry) pieceSize() int { return entrySize * ceilDiv(g.slices(), g.pieces()) }

func (g geometry) packets() int { return 2*g.pieces() + g.parity }

// parityNumber returns which parity slice a packet has, or -1 if it has a piece of the catalog.
func (g geometry) parityNumber(packet int) int {
	if p := packet - g.pieces(); p >= 0 && p < g.parity {
		return p
	}
	return -1
}

// pieceNumber returns which piece of the catalog or of its code a packet has, or -1.
func (g geometry) pieceNumber(packet int) int {
	switch k := g.pieces(); {
	case packet < k:
		return packet
	case packet >= k+g.parity:
		return packet - g.parity
	}
	return -1
}

func (g geometry) bodySize(packet int) int {
	if g.parityNumber(packet) >= 0 {
		return g.slice
	}
	return g.pieceSize()
}

// place returns the distance of a packet from the first byte of its zone.
func (g geometry) place(packet int) int64 {
	inFront := min(packet, g.pieces())
	behind := max(0, packet-g.pieces()-g.parity)
	parities := packet - inFront - behind
	at := int64(inFront+behind)*int64(headerSize+g.pieceSize()) +
		int64(parities)*int64(headerSize+g.slice)
	return int64(g.size) + int64(g.frame.headerSize()) + at
}

// sectionSize returns the bytes of the section, with its header and footer.
func (g geometry) sectionSize() int64 {
	return g.place(g.packets()) - int64(g.size) + footerSize
}

// endOffset returns the place in the file as it was written where the section ends.
func (g geometry) endOffset() int64 { return g.offset + int64(g.size) + g.sectionSize() }

// sliceLength returns the bytes of slice i that the file has: all but those of its padding.
func (g geometry) sliceLength(i int) int { return min(g.slice, g.size-i*g.slice) }

// appendPacketHeader appends the header of a packet with the given body.
func (g geometry) appendPacketHeader(dst []byte, packet int, body []byte) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, magic...)
	dst = le.AppendUint64(dst, uint64(g.offset))
	dst = le.AppendUint64(dst, g.id)
	dst = le.AppendUint32(dst, uint32(g.size))
	dst = le.AppendUint32(dst, uint32(g.slice))
	dst = le.AppendUint16(dst, uint16(g.parity))
	flags := byte(0)
	if g.last {
		flags |= flagLast
	}
	if g.frame == frameZstd {
		flags |= flagZstd
	}
	dst = append(dst, flags, 0)
	dst = le.AppendUint32(dst, uint32(packet))
	dst = le.AppendUint32(dst, checksum(body))
	return le.AppendUint32(dst, checksum(dst[start:]))
}

// packetHeader is a header whose own check and limits are right.
type packetHeader struct {
	geometry
	number int
	body   uint32 // CRC32C of the body
}

// parsePacketHeader reads the header at the beginning of p. It returns false if there is none that
// is intact, or if what it states is not allowed.
func parsePacketHeader(p []byte) (h packetHeader, ok bool) {
	le := binary.LittleEndian
	if len(p) < headerSize || string(p[:8]) != magic || le.Uint32(p[44:]) != checksum(p[:44]) {
		return h, false
	}
	offset, size, slice := le.Uint64(p[8:]), le.Uint32(p[24:]), le.Uint32(p[28:])
	flags, number := p[34], le.Uint32(p[36:])
	switch {
	case offset > 1<<62, size == 0, size > MaxZone, flags > flagLast|flagZstd, p[35] != 0:
		return h, false
	case slice == 0, slice > maxSliceSize, slice%sliceUnit != 0:
		return h, false
	}
	h.geometry = geometry{
		offset: int64(offset), id: le.Uint64(p[16:]), size: int(size), slice: int(slice),
		parity: int(le.Uint16(p[32:])), last: flags&flagLast != 0,
	}
	if flags&flagZstd != 0 {
		h.frame = frameZstd
	}
	n := h.slices()
	if n > maxSlices || h.parity == 0 || h.parity > n || uint64(number) >= uint64(h.packets()) {
		return h, false
	}
	h.number, h.body = int(number), le.Uint32(p[40:])
	return h, true
}

// entry returns the catalog's entry for a slice: its CRC32C, and above that 4 bytes of its XXH64.
func entry(slice []byte) uint64 {
	return uint64(checksum(slice)) | xxhash.Sum64(slice)<<32
}

// makeCatalog returns the catalog of slices.
func makeCatalog(slices [][]byte) []byte {
	catalog := make([]byte, 0, entrySize*len(slices))
	for _, s := range slices {
		catalog = binary.LittleEndian.AppendUint64(catalog, entry(s))
	}
	return catalog
}

// entryOf returns entry i of a catalog.
func entryOf(catalog []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(catalog[i*entrySize:])
}
