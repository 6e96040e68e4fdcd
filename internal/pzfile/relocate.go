package pzfile

import (
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
)

// Relocate changes the offsets of blocks that are not where an intact index says, and returns a gap
// if there are any; see [index.Salvage.Relocate]. verify decodes a block if two headers claim to be
// its own.
func Relocate(
	src io.ReaderAt, x *index.File, limits *container.Limits, verify index.Verify,
) ([]index.Gap, error) {
	s := &index.Salvage{Src: src, Limits: limits, Verify: verify, Size: x.Size, File: x}
	for i := range x.Streams {
		st := &x.Streams[i]
		h := headers{
			s: s, first: st.Skipped, blocks: x.Blocks[st.First : st.First+st.Blocks],
			head: Header{Pipeline: st.Pipeline, BlockSize: st.BlockSize, Checks: st.Checks},
		}
		if !h.isSmall() {
			if err := s.Relocate(h.blocks, st, &h); err != nil {
				return nil, err
			}
		}
	}
	return s.Gaps, s.Err
}

// headers finds blocks of a stream by their headers. It implements index.Headers.
type headers struct {
	s      *index.Salvage
	head   Header
	blocks []index.Block
	first  int64 // number in the stream of the first one
	excess int64 // by how much the stream is longer than before

	from, to int
	keys     map[[3]byte]bool // with which the entries of the blocks from … to−1 begin
	small    [BlockHeaderSize]byte
}

// The longest header fits what BlockAt gets.
var _ [index.HeaderBytes - BlockHeaderSize]struct{}

// isSmall reports whether the stream is a small one, with its header in front of the block.
func (h *headers) isSmall() bool {
	if len(h.blocks) != 1 {
		return len(h.blocks) == 0
	}
	p := h.s.Peek(h.small[:1], h.blocks[0].Offset)
	return len(p) == 1 && p[0] == Magic[0]
}

// IsAt implements index.Headers.
func (h *headers) IsAt(k int, off int64) bool {
	size := min(len(h.small), int(h.blocks[k].Size))
	return h.matches(k, h.s.Peek(h.small[:size], off))
}

// matches reports whether p begins with the header of block k.
func (h *headers) matches(k int, p []byte) bool {
	if len(p) == 0 || len(p) < headerSize(p[0]) {
		return false
	}
	e, _, err := ParseBlockHeader(p, &h.head, h.first+int64(k))
	return err == nil && e.describes(h.blocks[k])
}

// SetRange implements index.Headers.
func (h *headers) SetRange(from, to int) {
	h.from, h.to, h.keys = from, to, map[[3]byte]bool{}
	var entry [UnitSize]byte
	for k := from; k < to; k++ {
		h.keys[[3]byte(entryOf(&h.blocks[k]).Append(entry[:0]))] = true
	}
}

// entryOf returns the entry of a block, of which block is the inverse.
func entryOf(b *index.Block) Entry {
	e := Entry{Kind: b.Kind, Raw: int(b.Raw), Short: b.Short, Flushed: b.Flushed}
	e.Payload = int(b.Size) - e.HeaderSize()
	return e
}

// BlockAt implements index.Headers. The check of a header tells the number of its block, that of a
// short one only modulo 2¹⁶. Of several blocks BlockAt returns the one whose place is nearest, in
// the stream as it was or behind what was inserted.
func (h *headers) BlockAt(p []byte, off int64) int {
	if len(p) < 3 || !h.keys[[3]byte(p)] || len(p) < headerSize(p[0]) {
		return -1
	}
	var number, step int64
	if p[0]&shortFlag != 0 {
		number, step = int64(shortNumber(p[:headerSize(p[0])])), 1<<16
	} else {
		number, step = BlockNumber(p[:BlockHeaderSize]), 1<<32
	}
	best, distance := -1, int64(math.MaxInt64)
	ahead := (number - h.first - int64(h.from)) & (step - 1)
	for k := int64(h.from) + ahead; k < int64(h.to); k += step {
		b := &h.blocks[k]
		moved := b.Offset + h.excess
		d := min(max(b.Offset-off, off-b.Offset), max(moved-off, off-moved))
		if d < distance && h.matches(int(k), p) {
			best, distance = int(k), d
		}
	}
	return best
}
