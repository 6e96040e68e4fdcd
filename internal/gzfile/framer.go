package gzfile

import "github.com/gopz/compress/internal/container"

// Framer writes RFC 1952: one member, whose Deflate stream is made of the payloads of the blocks
// and an empty last block. Payloads end on byte boundaries; the checks of blocks are CRC-32s.
type Framer struct {
	head Header
	sum  uint32
}

// Reset begins a new member. A name that cannot be written is left out.
func (f *Framer) Reset(h Header) { f.head, f.sum = h, 0 }

// Header appends the member's header.
func (f *Framer) Header(dst []byte) []byte {
	p, err := f.head.Append(dst)
	if err != nil {
		f.head.Name = ""
		p, _ = f.head.Append(dst)
	}
	return p
}

// BlockHeader appends nothing and adds the block's check to the member's.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	f.sum = Combine(f.sum, b.Sum, int64(b.Raw))
	return dst
}

// BlockTrailer appends nothing.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte { return dst }

// Trailer appends a last block with the fixed codes, which is empty (RFC 1951, section 3.2.6), and
// the member's trailer.
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	return AppendTrailer(append(dst, 3, 0), f.sum, content)
}
