package pzfile

import (
	"slices"

	"github.com/gopz/compress/internal/container"
)

// Framer writes the parts of a stream around its payloads, as docs/FORMAT.md has them.
type Framer struct {
	head Header
	tail []byte // end marker and index: 8 bytes for each block
}

// Reset begins a new stream.
func (f *Framer) Reset(h Header) {
	f.head = h
	f.tail = append(f.tail[:0], EndMarker[:]...)
}

func (f *Framer) blocks() int64 { return int64(len(f.tail)-EndMarkerSize) / EntrySize }

// Header appends the stream's header.
func (f *Framer) Header(dst []byte) []byte { return f.head.Append(dst) }

// BlockHeader appends the header of the next block and notes its index entry.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	e := Entry{Kind: b.Kind, Payload: b.Payload, Raw: b.Raw}
	dst = AppendBlockHeader(dst, e, b.Sum, f.blocks())
	f.tail = e.Append(f.tail)
	return dst
}

// BlockTrailer appends nothing.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte { return dst }

// Trailer appends end marker, index and footer.
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	size := written + int64(len(f.tail)) + FooterSize
	dst = slices.Grow(dst, len(f.tail)+FooterSize)
	dst = append(dst, f.tail...)
	return AppendFooter(dst, Footer{Content: content, Size: size, Blocks: f.blocks()}, Checksum(0, f.tail))
}
