package parity

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/reedsolomon"

	"github.com/gopz/compress/internal/section"
)

// newCode returns the Reed-Solomon code of n slices with m more: over GF(2^8) up to 256 of them,
// else over GF(2^16). FORMAT.md defines both. The tables of the second one take half a second and
// 74 MiB, once in a process, so small zones do without.
func newCode(n, m int) (reedsolomon.Encoder, error) {
	option := reedsolomon.WithCauchyMatrix()
	if n+m > 256 {
		option = reedsolomon.WithLeopardGF16(true)
	}
	return reedsolomon.New(n, m, option, reedsolomon.WithInversionCache(false))
}

// encode fills the last m of shards with the code of the others.
func encode(shards [][]byte, m int) error {
	code, err := newCode(len(shards)-m, m)
	if err != nil {
		return err
	}
	return code.Encode(shards)
}

// restore makes those of shards that are nil from the others, of which the last m are code. It does
// not make code.
func restore(shards [][]byte, m int) error {
	code, err := newCode(len(shards)-m, m)
	if err != nil {
		return err
	}
	return code.ReconstructData(shards)
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

// cutCatalog returns the pieces of a catalog, padded, and as many of zeros behind them for their
// code.
func cutCatalog(catalog []byte, z section.Zone) [][]byte {
	all := make([]byte, 2*z.Pieces()*z.PieceSize())
	copy(all, catalog)
	return cutSlices(all, z.PieceSize())
}

// joinCatalog returns the catalog of intact pieces; the others are nil. It returns nil if too many
// are, or if the result is not the catalog that z names.
func joinCatalog(pieces [][]byte, z section.Zone) []byte {
	k := z.Pieces()
	if restore(pieces, k) != nil {
		return nil
	}
	catalog := slices.Concat(pieces[:k]...)[:section.EntrySize*z.Slices()]
	if xxhash.Sum64(catalog) != z.ID {
		return nil
	}
	return catalog
}

// appendSection appends the section of a zone: header, packets, footer.
func appendSection(dst []byte, z section.Zone, zone [][]byte, catalog []byte) ([]byte, error) {
	pieces := cutCatalog(catalog, z)
	if err := encode(pieces, z.Pieces()); err != nil {
		return dst, err
	}
	size := int(z.SectionSize())
	dst = slices.Grow(dst, size)
	begin := len(dst)
	dst = z.AppendHeader(dst)[:begin+size-section.FooterSize]
	packet := func(number int) []byte {
		return dst[begin+int(z.Place(number))-z.Size:][:z.PacketSize(number)]
	}
	shards := slices.Clip(zone)
	for number := range z.Packets() {
		body := packet(number)[section.PacketHeaderSize:]
		if i := z.PieceNumber(number); i >= 0 {
			copy(body, pieces[i])
			continue
		}
		clear(body)
		shards = append(shards, body)
	}
	if err := encode(shards, z.Parity); err != nil {
		return dst[:begin], err
	}
	for number := range z.Packets() {
		p := packet(number)
		z.AppendPacketHeader(p[:0], number, p[section.PacketHeaderSize:])
	}
	return section.AppendFooter(dst, int64(size)), nil
}
