package parity

import (
	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/reedsolomon"

	"github.com/gopz/compress/internal/errs"
)

// newCode returns the Reed-Solomon code of n slices with m more: over GF(2^8) up to 256 of them,
// else over GF(2^16). FORMAT.md defines both. The tables of the second one take half a second and
// 74 MiB, once in a process, so small zones do without.
func newCode(n, m int) (reedsolomon.Encoder, error) {
	option := reedsolomon.WithCauchyMatrix()
	if n+m > 256 {
		option = reedsolomon.WithLeopardGF16(true)
	}
	code, err := reedsolomon.New(n, m, option, reedsolomon.WithInversionCache(false))
	if err != nil {
		return nil, errs.Wrap(errs.Internal, err)
	}
	return code, nil
}

// cutSlices returns the slices of a zone. All but the last are parts of zone; the last one is
// padded, in a copy.
func cutSlices(zone []byte, size int) [][]byte {
	slices := make([][]byte, 0, ceilDiv(len(zone), size))
	for len(zone) >= size {
		slices = append(slices, zone[:size:size])
		zone = zone[size:]
	}
	if len(zone) > 0 {
		last := make([]byte, size)
		copy(last, zone)
		slices = append(slices, last)
	}
	return slices
}

// cutCatalog returns the pieces of a catalog, padded, and as many of zeros behind them for their
// code.
func cutCatalog(catalog []byte, g geometry) [][]byte {
	k, size := g.pieces(), g.pieceSize()
	all := make([]byte, 2*k*size)
	copy(all, catalog)
	pieces := make([][]byte, 2*k)
	for i := range pieces {
		pieces[i] = all[i*size:][:size:size]
	}
	return pieces
}

// joinCatalog returns the catalog of intact pieces; the others are nil. It returns nil if too many
// are, or if the result is not the catalog that g names.
func joinCatalog(pieces [][]byte, g geometry) []byte {
	k := g.pieces()
	code, err := newCode(k, k)
	if err != nil || code.ReconstructData(pieces) != nil {
		return nil
	}
	catalog := make([]byte, 0, k*g.pieceSize())
	for _, p := range pieces[:k] {
		catalog = append(catalog, p...)
	}
	catalog = catalog[:entrySize*g.slices()]
	if xxhash.Sum64(catalog) != g.id {
		return nil
	}
	return catalog
}

// appendSection appends the section of a zone: header, packets, footer.
func appendSection(dst []byte, g geometry, slices [][]byte, catalog []byte) ([]byte, error) {
	pieces := cutCatalog(catalog, g)
	code, err := newCode(len(pieces)/2, len(pieces)/2)
	if err != nil {
		return dst, err
	}
	if err := code.Encode(pieces); err != nil {
		return dst, errs.Wrap(errs.Internal, err)
	}
	size := g.sectionSize()
	dst = g.frame.appendHeader(grow(dst, int(size)), size)
	base := len(dst)
	dst = dst[:base+int(size)-g.frame.headerSize()-footerSize]
	packets := dst[base:]

	bodies := make([][]byte, g.packets())
	shards := append(make([][]byte, 0, len(slices)+g.parity), slices...)
	for i := range bodies {
		at := int(g.place(i)-g.place(0)) + headerSize
		bodies[i] = packets[at:][:g.bodySize(i)]
		if p := g.pieceNumber(i); p >= 0 {
			copy(bodies[i], pieces[p])
			continue
		}
		clear(bodies[i])
		shards = append(shards, bodies[i])
	}
	code, err = newCode(len(slices), g.parity)
	if err != nil {
		return dst[:base], err
	}
	if err := code.Encode(shards); err != nil {
		return dst[:base], errs.Wrap(errs.Internal, err)
	}
	for i, body := range bodies {
		at := int(g.place(i) - g.place(0))
		g.appendPacketHeader(packets[at:at:at+headerSize], i, body)
	}
	return appendFooter(dst, size), nil
}

// grow returns dst with room for n bytes more.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}
