package pzfile

import (
	"encoding/binary"
	"fmt"
)

// FooterMagic ends every stream.
const FooterMagic = "PZIX"

// The end marker stands where the next block header would begin. It is 0 in a stream without short
// headers. Otherwise it also states the size of the index, which cannot be told from the number of
// blocks.
//
// maxMarkerUnits is the largest size that it can state, in units, and stands for more as well.
const maxMarkerUnits = 1<<29 - 1

// appendEndMarker appends the end marker of a stream. units is the size of the index in UnitSize
// bytes, and short says that a block has a short header.
func appendEndMarker(dst []byte, units int64, short bool) []byte {
	v := uint32(0)
	if short {
		v = uint32(min(units, maxMarkerUnits))<<3 | shortFlag
	}
	return binary.LittleEndian.AppendUint32(dst, v)
}

// IsEndMarker reports whether p, of at least EndMarkerSize bytes, begins with an end marker in
// place of a block header.
func IsEndMarker(p []byte) bool {
	return p[0]&7 == shortFlag || binary.LittleEndian.Uint32(p) == 0
}

// markerUnits returns the size of the index behind the end marker that p begins with, in UnitSize
// bytes. blocks is the number of blocks of the stream.
func markerUnits(p []byte, blocks int64) int64 {
	if p[0] == 0 {
		return blocks
	}
	return int64(binary.LittleEndian.Uint32(p) >> 3)
}

// indexUnits returns the size of an index in UnitSize bytes. size is that of its entries.
func indexUnits(size int64) int64 { return (size + UnitSize - 1) / UnitSize }

// Footer is the last part of a stream.
type Footer struct {
	Content int64  // bytes of content of the stream
	Size    int64  // bytes of the stream, footer included
	Units   int64  // size of the index in UnitSize bytes: the number of blocks, if none is short
	Sum     uint32 // CRC32C of end marker, index and the fields above
}

// TailSize returns the size of end marker, index and footer. units is the size of the index in
// UnitSize bytes, which is the number of blocks if none has a short header.
func TailSize(units int64) int64 { return EndMarkerSize + UnitSize*units + FooterSize }

// AppendFooter appends a footer. sum is the Checksum of end marker and index; f.Sum is ignored.
func AppendFooter(dst []byte, f Footer, sum uint32) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Content))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Units))
	dst = binary.LittleEndian.AppendUint32(dst, Checksum(sum, dst[at:]))
	return append(dst, FooterMagic...)
}

// ParseFooter reads a footer from the first FooterSize bytes of p. It rejects sizes that contradict
// each other, and leaves the checksum to CheckTail.
func ParseFooter(p []byte) (Footer, error) {
	if string(p[28:32]) != FooterMagic {
		return Footer{}, ErrMagic
	}
	f := Footer{
		Content: int64(binary.LittleEndian.Uint64(p)),
		Size:    int64(binary.LittleEndian.Uint64(p[8:])),
		Units:   int64(binary.LittleEndian.Uint64(p[16:])),
		Sum:     binary.LittleEndian.Uint32(p[24:]),
	}
	// A unit of the index has the entry of a block at least, and the block 1 … MaxBlockSize bytes
	// of content. The entries of short blocks share units, but these blocks have less content.
	if f.Size < MinStreamSize || f.Units < 0 || f.Units > (f.Size-MinStreamSize)/(UnitSize+minBlock) {
		return f, fmt.Errorf("%w: index of %d blocks in a stream of %d bytes", ErrField, f.Units, f.Size)
	}
	if f.Content < f.Units || f.Content > maxContent(f.Units) {
		return f, fmt.Errorf("%w: %d bytes of content in %d blocks", ErrField, f.Content, f.Units)
	}
	return f, nil
}

// maxContent returns the most content of so many blocks. blocks is at most 2⁶³ / 18.
func maxContent(blocks int64) int64 {
	const most = 1<<63 - 1
	if blocks > most/MaxBlockSize {
		return most
	}
	return blocks * MaxBlockSize
}

// CheckTail compares f.Sum with the checksum of end marker and index, which is sum, continued over
// the fields in p, the bytes of the footer.
func (f *Footer) CheckTail(sum uint32, p []byte) error {
	if Checksum(sum, p[:24]) != f.Sum {
		return ErrChecksum
	}
	return nil
}
