package pzfile

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// salvageByIndex finds the blocks of a resized file. x is its index.
func salvageByIndex(
	src io.ReaderAt, x *index.File, limits *container.Limits, verify index.Verify,
) (*index.File, []index.Gap, error) {
	gaps, err := Relocate(src, x, limits, verify)
	if len(gaps) == 0 { // no block has moved
		n := int64(len(x.Blocks))
		gaps = []index.Gap{{Before: n, Kind: index.DamageFrame, Block: n, Err: &errs.Error{
			Kind: errs.Corrupt, Part: errs.PartIndex, Block: -1, Offset: x.Blocks[n-1].Offset,
			Detail: "the stream has another size than its footer says",
		}}}
	}
	return x, gaps, err
}

// readResized makes the index of a resized file, as it was before. Such a file has one stream, which is
// longer or shorter than its footer says. Bytes were inserted, perhaps copies of blocks or of the
// index, or they were deleted. Header and index are intact, so the index tells which blocks there are.
// The stream must begin with the index's first block, and less than half of its size may have been
// inserted or deleted. For other files readResized returns nil.
func readResized(
	src io.ReaderAt, size int64, limits *container.Limits, known func(uint8) bool,
) *index.File {
	s := &search{
		Salvage: index.Salvage{Src: src, Limits: limits, Size: size, File: &index.File{}},
		rules:   Rules{Known: known},
	}
	s.readLastIndex()
	if s.last.tail < 0 {
		return nil
	}
	f, _ := s.footerAt(s.last.tail, s.last.units)
	end := s.last.tail + TailSize(f.Units)
	excess := end - f.Size
	head, ok := s.headerAt(0)
	if !ok || head.Small || excess == 0 || max(excess, -excess) >= f.Size/2 {
		return nil
	}
	if excess > 0 {
		if _, ok := s.headerAt(excess); ok {
			return nil // the stream is intact there, behind another one
		}
	}
	first := int64(head.Size())
	if start, ok := s.startOf(candidate{at: first}, &head); ok && start == 0 {
		return nil // a whole stream is in front of the last one
	}
	x := &index.File{
		Format: container.PZ, Size: size,
		Streams: []index.Stream{{Size: end, Content: f.Content, Blocks: f.Units}},
	}
	if checkMemory(x, f.Units, limits) != nil {
		return nil
	}
	x.Blocks = make([]index.Block, 0, f.Units)
	r := streamReader{x: x, src: src, limits: limits, scan: Scanner{Known: known}, excess: excess}
	if r.read(0) != nil || len(x.Blocks) == 0 {
		return nil
	}
	h := headers{s: &s.Salvage, head: head, blocks: x.Blocks}
	if !h.IsAt(0, first) {
		return nil
	}
	return x
}
