package zstfile

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstframe"
)

// Relocate changes the offsets of frames that are not where an intact seek table says, and returns
// a gap if there are any; see [index.Salvage.Relocate]. A frame without a checksum, or of a table
// without checksums, is known by its sizes alone.
func Relocate(
	src io.ReaderAt, x *index.File, limits *container.Limits, verify index.Verify,
) ([]index.Gap, error) {
	h := headers{blocks: x.Blocks, sums: x.Streams[0].Checks}
	h.s.Salvage = index.Salvage{Src: src, Limits: limits, Verify: verify, Size: x.Size, File: x}
	err := h.s.Relocate(h.blocks, &x.Streams[0], &h)
	return h.s.Gaps, err
}

// headers finds frames by their headers, blocks and checksums. It implements index.Headers.
type headers struct {
	s      search
	blocks []index.Block
	sums   bool // the entries of the seek table have checksums

	from, to int
	sorted   []int32 // the blocks from … to−1 by entry, those with the same entry in order
	taken    []bool  // of the blocks from … to−1: BlockAt has returned it
	drift    int64   // how far the last frame is behind its place
}

// maxTries is the most entries before, and behind, the nearest one that are compared with a frame.
const maxTries = 16

// IsAt implements index.Headers.
func (h *headers) IsAt(k int, off int64) bool {
	if !IsFrame(h.s.look(off, zstframe.MagicSize)) {
		return false
	}
	f, steps, ok := h.s.walk(off)
	if ok && !h.fits(&f, k) {
		h.s.steps += steps
		return false
	}
	return ok
}

// fits reports whether a frame has the entry of block k.
func (h *headers) fits(f *found, k int) bool {
	b := &h.blocks[k]
	return f.size == int64(b.Size) && (f.content < 0 || f.content == int64(b.Raw)) &&
		(!h.sums || !f.summed || f.sum == b.Sum)
}

// SetRange implements index.Headers.
func (h *headers) SetRange(from, to int) {
	h.from, h.to, h.drift = from, to, 0
	h.taken = append(h.taken[:0], make([]bool, to-from)...)
	h.sorted = h.sorted[:0]
	for k := from; k < to; k++ {
		h.sorted = append(h.sorted, int32(k))
	}
	slices.SortStableFunc(h.sorted, func(a, b int32) int {
		return compareEntries(&h.blocks[a], h.blocks[b].Size, h.blocks[b].Sum)
	})
}

// compareEntries compares the size and the checksum of a block with others.
func compareEntries(b *index.Block, size int32, sum uint32) int {
	return cmp.Or(cmp.Compare(b.Size, size), cmp.Compare(b.Sum, sum))
}

// BlockAt implements index.Headers. Of several blocks with the same entry it returns the one that
// is nearest to where the frame would be if nothing was missing since the last frame.
func (h *headers) BlockAt(p []byte, off int64) int {
	if !IsFrame(p) {
		return -1
	}
	f, steps, ok := h.s.walk(off)
	if !ok || !f.summed && !h.s.magicAt(off+f.size) {
		return -1 // nothing else tells a frame without a checksum from a copy of its header
	}
	k := h.nearest(&f, off-h.drift)
	if k < 0 { // the last frame may have been a copy from elsewhere
		k = h.nearest(&f, off)
	}
	if k < 0 {
		k = h.sameEntry(&f)
	}
	if k < 0 {
		h.s.steps += steps
		return -1
	}
	h.taken[k-h.from] = true
	h.drift = off - h.blocks[k].Offset
	return k
}

// nearest returns the block nearest to the offset own that has the entry of a frame. It returns −1
// if that is none of those around.
func (h *headers) nearest(f *found, own int64) int {
	next := h.from + sort.Search(h.to-h.from, func(i int) bool { return h.blocks[h.from+i].Offset >= own })
	best, distance := -1, int64(0)
	for k := max(h.from, next-maxTries); k < min(h.to, next+maxTries); k++ {
		at := h.blocks[k].Offset
		if d := max(at-own, own-at); !h.taken[k-h.from] && h.fits(f, k) && (best < 0 || d < distance) {
			best, distance = k, d
		}
	}
	return best
}

// sameEntry returns the first block with the entry of a frame, −1 if there is none.
func (h *headers) sameEntry(f *found) int {
	sum := uint32(0)
	if h.sums {
		sum = f.sum
	}
	i, _ := slices.BinarySearchFunc(h.sorted, 0, func(k int32, _ int) int {
		return compareEntries(&h.blocks[k], int32(f.size), sum)
	})
	for _, k := range h.sorted[i:min(len(h.sorted), i+maxTries)] {
		if !h.taken[int(k)-h.from] && h.fits(f, int(k)) {
			return int(k)
		}
	}
	return -1
}
