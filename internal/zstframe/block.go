package zstframe

import "fmt"

// Kinds of blocks.
const (
	RawBlock        = iota // content as it is
	RLEBlock               // one byte repeated
	CompressedBlock        // literals and sequences
)

// Block is the header of a block (RFC 8878, section 3.1.1.2).
type Block struct {
	Last bool
	Kind int // RawBlock, RLEBlock or CompressedBlock
	Size int // bytes behind the header that belong to the block
	// Content is the number of bytes of content, −1 for a compressed block.
	Content int
}

// ParseBlock reads the header of a block from the first BlockHeaderSize bytes of p.
func ParseBlock(p []byte) (Block, error) {
	if len(p) < BlockHeaderSize {
		return Block{}, ErrShort
	}
	v := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
	b := Block{Last: v&1 != 0, Kind: v >> 1 & 3, Size: v >> 3, Content: v >> 3}
	if b.Size > MaxBlock {
		return b, fmt.Errorf("%w: block of %d bytes", ErrField, b.Size)
	}
	switch b.Kind {
	case RawBlock:
	case RLEBlock:
		b.Size = 1
	case CompressedBlock:
		b.Content = -1
	default:
		return b, fmt.Errorf("%w: block of type 3", ErrField)
	}
	return b, nil
}

// MaxContent returns the most content that the block can have, in bytes.
func (b *Block) MaxContent() int64 {
	if b.Content < 0 {
		return MaxBlock
	}
	return int64(b.Content)
}
