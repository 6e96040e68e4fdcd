package pzfile

import (
	"slices"

	"github.com/gopz/compress/internal/container"
)

// Framer writes the parts of a stream around its payloads, as docs/FORMAT.md has them.
type Framer struct {
	head   Header
	blocks int64
	short  bool   // a block has a short header
	tail   []byte // room for the end marker, and the index: at most 8 bytes for each block
}

// Reset begins a new stream.
func (f *Framer) Reset(h Header) {
	f.head, f.blocks, f.short = h, 0, false
	f.tail = append(f.tail[:0], 0, 0, 0, 0)
}

// SetBlock makes block the number of the next block, for a piece of a stream. A piece has no
// trailer.
func (f *Framer) SetBlock(block int64) { f.blocks = block }

// Header appends the stream's header. A small stream begins with the header of its block.
func (f *Framer) Header(dst []byte, whole int) []byte {
	if f.head.Small = 0 <= whole && whole <= MaxSmall; f.head.Small {
		f.head.Only, f.head.Sum = Entry{}, 0
		return dst
	}
	return f.head.Append(dst)
}

// BlockHeader appends the header of the next block and notes its index entry. Blocks that end with
// a flush have short headers if the sizes fit: they may be many.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	if f.head.Small {
		f.head.Only, f.head.Sum = Entry{Kind: b.Kind, Payload: b.Payload, Raw: b.Raw}, b.Sum
		return f.head.Append(dst)
	}
	e := NewEntry(b.Kind, b.Payload, b.Raw, b.Flushed)
	dst = AppendBlockHeader(dst, e, b.Sum, f.blocks)
	f.tail = e.Append(f.tail)
	f.blocks++
	f.short = f.short || e.Short
	return dst
}

// BlockTrailer appends nothing.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte { return dst }

// Trailer appends end marker, index and footer, or the footer of a small stream.
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	if f.head.Small {
		if f.head.Only.Kind == 0 {
			dst = f.head.Append(dst)
		}
		return appendSmallFooter(dst, f.head.smallSize())
	}
	units := indexUnits(int64(len(f.tail) - EndMarkerSize))
	appendEndMarker(f.tail[:0], units, f.short)
	for len(f.tail) < EndMarkerSize+int(units)*UnitSize {
		f.tail = append(f.tail, 0)
	}
	size := written + int64(len(f.tail)) + FooterSize
	dst = slices.Grow(dst, len(f.tail)+FooterSize)
	dst = append(dst, f.tail...)
	return AppendFooter(dst, Footer{Content: content, Size: size, Units: units}, Checksum(0, f.tail))
}
