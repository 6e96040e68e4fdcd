package gzfile

import "github.com/gopz/compress/internal/container"

// Framer writes RFC 1952: one member, whose Deflate stream is made of the payloads of the blocks.
// Payloads end on byte boundaries; the checks of blocks are CRC-32s. Only the payload of a block
// marked Last ends the stream.
type Framer struct {
	head  Header
	sum   uint32
	ended bool // the Deflate stream has ended
}

// Reset begins a new member. A name that cannot be written is left out.
func (f *Framer) Reset(h Header) { *f = Framer{head: h} }

// Header appends the member's header.
func (f *Framer) Header(dst []byte, _ int) []byte {
	p, err := f.head.Append(dst)
	if err != nil {
		f.head.Name = ""
		p, _ = f.head.Append(dst)
	}
	return p
}

// BlockHeader appends nothing and adds the block's check to the member's.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	f.sum, f.ended = Combine(f.sum, b.Sum, int64(b.Raw)), b.Last
	return dst
}

// BlockTrailer appends nothing.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte { return dst }

// Trailer appends the member's trailer. It first ends the Deflate stream, unless the last block
// has: by an empty block with the fixed codes (RFC 1951, section 3.2.6).
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	if !f.ended {
		dst = append(dst, 3, 0)
	}
	return AppendTrailer(dst, f.sum, content)
}
