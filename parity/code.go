package parity

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/reedsolomon"

	"github.com/gopz/compress/internal/section"
)

// newCode returns the Reed-Solomon code of n slices with m more: over GF(2^8) up to 256 of them,
// else over GF(2^16). FORMAT.md defines both. The tables of the second one take half a second and
// 74 MiB, once in a process, so small zones do without.
func newCode(n, m int) reedsolomon.Encoder {
	option := reedsolomon.WithCauchyMatrix()
	if n+m > 256 {
		option = reedsolomon.WithLeopardGF16(true)
	}
	code, err := reedsolomon.New(n, m, option, reedsolomon.WithInversionCache(false))
	if err != nil {
		panic(err) // never with so many slices as a zone may have
	}
	return code
}

// encode fills the last m of shards with the code of the others.
func encode(shards [][]byte, m int) {
	if err := newCode(len(shards)-m, m).Encode(shards); err != nil {
		panic(err) // never with shards of one size
	}
}

// restore makes those of shards that are nil from the others, of which the last m are code, which
// it does not make. It returns false if there are too few.
func restore(shards [][]byte, m int) bool {
	return newCode(len(shards)-m, m).ReconstructData(shards) == nil
}

// entry returns the catalog's entry for a slice: its CRC32C, and above that 4 bytes of its XXH64.
func entry(slice []byte) uint64 {
	return uint64(section.Checksum(slice)) | xxhash.Sum64(slice)<<32
}

// entryOf returns entry i of a catalog.
func entryOf(catalog []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(catalog[i*section.EntrySize:])
}

// cutSlices returns the slices of a zone. All but the last are parts of zone; the last one is
// padded, in a copy.
func cutSlices(zone []byte, size int) [][]byte {
	list := slices.Collect(slices.Chunk(zone, size))
	if n := len(list); n > 0 && len(list[n-1]) < size {
		last := make([]byte, size)
		copy(last, list[n-1])
		list[n-1] = last
	}
	return list
}

// appendSection appends the section of a zone: header, packets, footer. z is the zone, perhaps
// without its id.
func appendSection(dst []byte, z section.Zone, zone [][]byte) []byte {
	var catalog []byte
	for _, s := range zone {
		catalog = binary.LittleEndian.AppendUint64(catalog, entry(s))
	}
	z.ID = xxhash.Sum64(catalog)
	size := int(z.SectionSize())
	dst = slices.Grow(dst, size)
	begin := len(dst)
	dst = z.AppendHeader(dst)[:begin+size-section.FooterSize]
	packet := func(number int) []byte {
		return dst[begin+int(z.Place(number))-z.Size:][:z.PacketSize(number)]
	}
	var pieces [][]byte
	shards := slices.Clip(zone)
	for number := range z.Packets() {
		body := packet(number)[section.PacketHeaderSize:]
		clear(body)
		if z.PieceNumber(number) < 0 {
			shards = append(shards, body)
			continue
		}
		catalog = catalog[copy(body, catalog):]
		pieces = append(pieces, body)
	}
	encode(pieces, z.Pieces())
	encode(shards, z.Parity)
	for number := range z.Packets() {
		p := packet(number)
		z.AppendPacketHeader(p[:0], number, p[section.PacketHeaderSize:])
	}
	return section.AppendFooter(dst, int64(size))
}
