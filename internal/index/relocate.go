package index

import "github.com/gopz/compress/internal/errs"

// HeaderBytes is how many bytes of the file Headers.BlockAt gets.
const HeaderBytes = 16

// Headers finds the blocks of a stream by their headers.
type Headers interface {
	// IsAt reports whether the header of block k is at an offset.
	IsAt(k int, off int64) bool
	// SetRange says that the calls of BlockAt that follow are about the blocks from … to−1. It may
	// keep headersMemory bytes for each of them.
	SetRange(from, to int)
	// BlockAt returns the block whose header is at an offset, −1 if there is none. p is what the
	// file has there: HeaderBytes, or fewer where the search ends.
	BlockAt(p []byte, off int64) int
}

const (
	// headersMemory is what Headers may keep of a block looked for, in bytes.
	headersMemory = 24

	// placeMemory is the memory of a block looked for, in bytes. A slice that grows exists twice.
	placeMemory = headersMemory + 32
)

// Relocate changes the offsets of blocks of a stream that are not where an intact index says. That
// is so if bytes are missing in the file, or have been inserted. Blocks that it does not find keep
// their offsets. It reads the header of every block, and in full what lies between blocks that are
// in place. It decodes the one in front of that. A read that fails hides blocks. File is the index.
// The first block of the file that has moved makes a gap, without content. The error is the one
// that ends the search.
func (s *Salvage) Relocate(blocks []Block, st *Stream, h Headers) error {
	r := relocation{s: s, headers: h, blocks: blocks, stream: st}
	from := -1 // of the blocks that are not in place; −1 if there are none
	for k := range blocks {
		switch inPlace := h.IsAt(k, blocks[k].Offset); {
		case inPlace && from >= 0:
			r.find(from, k)
			from = -1
		case !inPlace && from < 0:
			from = k
		}
	}
	if from >= 0 {
		r.find(from, len(blocks))
	}
	return s.Err
}

// relocation looks for the blocks of a stream.
type relocation struct {
	s       *Salvage
	headers Headers
	blocks  []Block
	stream  *Stream
	places  []place // of the blocks looked for
	buf     [64 << 10]byte
}

// place is where the header of a block is.
type place struct {
	off    int64 // −1 if unknown
	intact bool  // the block has been decoded there
}

// find looks for the blocks from … to−1 between the blocks in front of them and behind them. The
// block in front is one of them if it is not intact: its header may be that of an inserted part of
// it.
func (r *relocation) find(from, to int) {
	if !r.reserve(to - from) {
		return
	}
	if from > 0 && !r.isIntact(from-1, r.blocks[from-1].Offset) {
		from--
		if !r.reserve(to - from) {
			return
		}
	}
	pos, last := r.blocks[from].Offset, &r.blocks[to-1]
	if from > 0 {
		pos = r.blocks[from-1].Offset + 1 // bytes of this block may be missing
	}
	end := last.Offset + int64(last.Size)
	if to < len(r.blocks) {
		end = r.blocks[to].Offset
	} else {
		end = max(end, r.stream.Offset+r.stream.Size) // bytes may have been inserted
	}
	r.places = r.places[:0]
	for range to - from {
		r.places = append(r.places, place{off: -1})
	}
	r.headers.SetRange(from, to)
	for pos < end {
		p := r.s.Peek(r.buf[:min(int64(len(r.buf)), end-pos)], pos)
		if len(p) == 0 {
			break
		}
		n := len(p)
		if pos+int64(n) < end {
			n = max(1, n-HeaderBytes+1) // the next read has the rest again
		}
		at := 0
		for at < n {
			k := r.headers.BlockAt(p[at:min(len(p), at+HeaderBytes)], pos+int64(at))
			if k < 0 {
				at++
				continue
			}
			at += r.takeHeader(k, from, to, pos+int64(at))
		}
		pos += int64(at)
	}
	for i, place := range r.places {
		if b := &r.blocks[from+i]; place.off >= 0 && place.off != b.Offset {
			b.Offset = place.off
			r.noteMoved(from + i)
		}
	}
}

// noteMoved makes a gap of block k, if it is the first one that has moved.
func (r *relocation) noteMoved(k int) {
	if len(r.s.Gaps) > 0 {
		return
	}
	st, number := r.stream, r.stream.Skipped+int64(k)
	err := &errs.Error{
		Kind: errs.Corrupt, Part: errs.PartBlock, Stream: st.ID, Block: number,
		Offset: r.blocks[k].Offset, Detail: "not where the index says",
	}
	r.s.Gaps = append(r.s.Gaps, Gap{
		Before: st.First + int64(k), Kind: DamageFrame, Stream: st.ID, Block: number, Err: err,
	})
}

// reserve counts the memory of a search for so many blocks. It reports whether the limit allows it.
func (r *relocation) reserve(blocks int) bool {
	s := r.s
	s.Extra = max(s.Extra, placeMemory*int64(blocks))
	if need, limit := s.Memory(), s.Limits.Memory(); need > limit && s.canceled() == nil {
		s.Err = errs.OutOfMemory(need,
			"a search for %d blocks takes more than the limit of %d bytes", blocks, limit)
	}
	return s.Err == nil
}

// takeHeader notes that the header of block k, one of from … to−1, is at an offset. It returns how
// many bytes further on the search goes on.
func (r *relocation) takeHeader(k, from, to int, off int64) int {
	p := &r.places[k-from]
	if p.off >= 0 && !p.intact {
		p.intact = r.isIntact(k, p.off)
	}
	if p.intact {
		return 1 // and this is a copy of its header
	}
	p.off = off
	if size := int(r.blocks[k].Size); k+1 < to && r.headers.IsAt(k+1, off+int64(size)) {
		return size
	}
	return 1 // bytes of the block may be missing
}

// isIntact decodes block k at an offset.
func (r *relocation) isIntact(k int, off int64) bool {
	b, st := r.blocks[k], *r.stream
	b.Offset = off
	st.Skipped += int64(k)
	return r.s.Intact(b, st, int(b.Size))
}
