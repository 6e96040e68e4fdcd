package pzfile

import (
	"io"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
)

// Relocate changes the offsets of blocks that are not where an intact index says. That is so if bytes are
// missing in the file, and as many have been inserted elsewhere. Blocks that it does not find keep their
// offsets. It reads the header of every block, and in full what lies between blocks that are in place. A
// read that fails hides blocks.
func Relocate(src io.ReaderAt, x *index.File) {
	for i := range x.Streams {
		st := &x.Streams[i]
		r := relocation{
			src: src, first: st.Skipped, blocks: x.Blocks[st.First : st.First+st.Blocks],
			head: Header{Pipeline: st.Pipeline, BlockSize: st.BlockSize, Checks: st.Checks},
		}
		if r.isSmall() {
			continue
		}
		from := -1 // of the blocks that are not in place; −1 if there are none
		for k := range r.blocks {
			switch inPlace := r.isAt(k, r.blocks[k].Offset); {
			case inPlace && from >= 0:
				r.find(from, k)
				from = -1
			case !inPlace && from < 0:
				from = k
			}
		}
		if from >= 0 {
			r.find(from, len(r.blocks))
		}
	}
}

// relocation looks for the blocks of a stream.
type relocation struct {
	src    io.ReaderAt
	head   Header
	blocks []index.Block
	first  int64 // number in the stream of the first one
	small  [BlockHeaderSize]byte
	buf    [64 << 10]byte
}

// isSmall reports whether the stream is a small one, with its header in front of the block.
func (r *relocation) isSmall() bool {
	if len(r.blocks) != 1 {
		return len(r.blocks) == 0
	}
	p := r.small[:1]
	return container.ReadAt(r.src, p, r.blocks[0].Offset) == nil && p[0] == Magic[0]
}

// isAt reports whether the header of block k is at an offset.
func (r *relocation) isAt(k int, offset int64) bool {
	p := r.small[:min(len(r.small), int(r.blocks[k].Size))]
	return container.ReadAt(r.src, p, offset) == nil && r.matches(k, p)
}

// matches reports whether p begins with the header of block k.
func (r *relocation) matches(k int, p []byte) bool {
	if len(p) == 0 || len(p) < headerSize(p[0]) {
		return false
	}
	e, _, err := ParseBlockHeader(p, &r.head, r.first+int64(k))
	return err == nil && e.describes(r.blocks[k])
}

// maxTries is the most blocks with the same entry whose header is compared with a place.
const maxTries = 16

// find looks for the blocks from … to−1, in order, between the blocks in front of them and behind them.
func (r *relocation) find(from, to int) {
	pos, last := r.blocks[from].Offset, &r.blocks[to-1]
	if from > 0 {
		pos = r.blocks[from-1].Offset + 1 // bytes of this block may be missing
	}
	end := last.Offset + int64(last.Size)
	if to < len(r.blocks) {
		end = r.blocks[to].Offset
	}
	keys := r.keys(from, to)
	for pos < end && from < to {
		p := r.buf[:min(int64(len(r.buf)), end-pos)]
		n, _ := container.ReadAround(r.src, p, pos, func(int, int, error) error { return nil })
		if n < 3 {
			return
		}
		rest := BlockHeaderSize - 1 // bytes that the next read has again
		if p = p[:n]; pos+int64(n) == end {
			rest = 2
		}
		at := 0
		for at < n-rest && from < to {
			k := r.blockAt(keys, from, p[at:])
			if k < 0 {
				at++
				continue
			}
			r.blocks[k].Offset = pos + int64(at)
			from = k + 1
			if size := int64(r.blocks[k].Size); from < to && r.isAt(from, pos+int64(at)+size) {
				at += int(size)
			} else {
				at++ // bytes of the block may be missing
			}
		}
		pos += int64(max(at, 1))
	}
}

// keys returns the blocks from … to−1 by the beginning of their entries, in order.
func (r *relocation) keys(from, to int) map[[3]byte][]int32 {
	keys := map[[3]byte][]int32{}
	var entry [UnitSize]byte
	for k := from; k < to; k++ {
		key := [3]byte(entryOf(&r.blocks[k]).Append(entry[:0]))
		keys[key] = append(keys[key], int32(k))
	}
	return keys
}

// entryOf returns the entry of a block, of which block is the inverse.
func entryOf(b *index.Block) Entry {
	e := Entry{Kind: b.Kind, Raw: int(b.Raw), Short: b.Short, Flushed: b.Flushed}
	e.Payload = int(b.Size) - e.HeaderSize()
	return e
}

// blockAt returns the block, from on, whose header p begins with, or −1.
func (r *relocation) blockAt(keys map[[3]byte][]int32, from int, p []byte) int {
	if len(p) < 3 {
		return -1
	}
	list := keys[[3]byte(p)]
	if len(list) == 0 {
		return -1
	}
	i, _ := slices.BinarySearch(list, int32(from))
	for _, k := range list[i:min(len(list), i+maxTries)] {
		if r.matches(int(k), p[:min(len(p), BlockHeaderSize)]) {
			return int(k)
		}
	}
	return -1
}
