package pzfile

import (
	"encoding/binary"
	"fmt"
)

// FooterMagic ends every stream.
const FooterMagic = "PZIX"

// EndMarker stands where the next block header would begin.
var EndMarker = [EndMarkerSize]byte{}

// Footer is the last part of a stream.
type Footer struct {
	Content int64  // bytes of content of the stream
	Size    int64  // bytes of the stream, footer included
	Blocks  int64  // number of blocks
	Sum     uint32 // CRC32C of end marker, index and the fields above
}

// TailSize returns the size of end marker, index and footer of a stream with so many blocks.
func TailSize(blocks int64) int64 { return EndMarkerSize + EntrySize*blocks + FooterSize }

// AppendFooter appends a footer. sum is the Checksum of end marker and index; f.Sum is ignored.
func AppendFooter(dst []byte, f Footer, sum uint32) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Content))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Blocks))
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
		Blocks:  int64(binary.LittleEndian.Uint64(p[16:])),
		Sum:     binary.LittleEndian.Uint32(p[24:]),
	}
	// A block takes at least its overhead and a byte of payload, and has 1 … MaxBlockSize bytes of
	// content.
	if f.Size < MinStreamSize || f.Blocks < 0 || f.Blocks > (f.Size-MinStreamSize)/(BlockOverhead+1) {
		return f, fmt.Errorf("%w: %d blocks in a stream of %d bytes", ErrField, f.Blocks, f.Size)
	}
	if f.Content < f.Blocks || f.Content > maxContent(f.Blocks) {
		return f, fmt.Errorf("%w: %d bytes of content in %d blocks", ErrField, f.Content, f.Blocks)
	}
	return f, nil
}

// maxContent returns the most content of so many blocks. blocks is at most 2⁶³ / 25.
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
