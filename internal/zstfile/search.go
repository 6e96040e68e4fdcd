package zstfile

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstframe"
)

// A search finds the frames of a damaged .zst file. It goes through the file once: from frame to
// frame where one follows the other, and from byte to byte where it has to look for the next. A
// seek table behind frames tells which ones are missing, and what is a frame of the file and what
// only looks like one: content may be .zst data itself.
//
// Frames stay in the order of the file. So everything that a Reader would return is there.
type search struct {
	index.Salvage
	verify  Verify
	at      int64   // everything before this offset has been seen
	damage  *damage // right in front of at
	damaged bool    // there was damage
	frames  []found // since the last table
	begin   int64   // where that ends, and they begin
	number  int64   // of the next frame taken

	unlisted bool  // no table lists the last frame taken
	most     int   // content of the largest block, in bytes
	steps    int64 // block headers read that did not lead to the end of a frame looked for

	view   []byte // part of the file, from viewAt on
	viewAt int64
	buf    [64 << 10]byte
	mem    [512]byte
}

// Verify reports whether the frame that a part of the file begins with can be decoded, to as much
// content as it states, and has the right checksum. It returns an error if the context has ended.
type Verify func(offset, size int64) (intact bool, err error)

// found is a frame that is whole as far as its headers tell.
type found struct {
	offset  int64
	size    int64
	content int64   // bytes of content, −1 if the frame does not say so
	damage  *damage // in front of the frame
	sum     uint32
	summed  bool  // the frame has a checksum
	bound   int64 // most content that the frame can have, in bytes
}

// damage is a part of the file that is no whole frame.
type damage struct {
	at  int64
	err error // of a read that failed
}

const (
	foundMemory      = 64 + 40 + 32 // of a found, with damage and its number, in bytes
	tableEntryMemory = 64           // of an entry of a table that is compared with frames, in bytes

	// minSteps is the number of block headers that a search may always read without finding a
	// frame. It may read one more for each byte of the file.
	minSteps = 1 << 20
)

// Salvage goes through a damaged file from the front. It returns an index of the frames that it
// finds, and the gaps between them. A file without a frame, or the beginning of one, is
// errs.NoIndex.
func Salvage(
	src io.ReaderAt, size int64, limits *container.Limits, verify Verify,
) (*index.File, []index.Gap, error) {
	s := &search{verify: verify, Salvage: index.Salvage{
		Src: src, Limits: limits, Size: size, NewRow: true,
		File: &index.File{Size: size, Format: container.Zstd},
	}}
	for s.Err == nil && s.at < s.Size {
		if s.takeFrame() || s.takeSkippable() {
			continue
		}
		if s.at > 0 && (!s.damaged || s.at == s.begin) && s.EndAtOther(s.at, container.Zstd) {
			break
		}
		if s.damage == nil {
			s.damaged = true
			s.damage = &damage{s.at, s.ReadErr}
			s.ReadErr = nil
			_, _, err := zstframe.ParseHeader(s.look(s.at, zstframe.MaxHeaderSize))
			s.Found = s.Found || err == nil // the beginning of a frame
		}
		s.at = s.find(s.at + 1)
	}
	s.settle(nil, s.Size)
	if s.Err != nil {
		return nil, nil, s.Err
	}
	if !s.Found {
		return nil, nil, errs.New(errs.NoIndex, "no frame")
	}
	for i := range s.File.Streams {
		s.File.Streams[i].BlockSize = s.most
	}
	s.File.Size = s.Size
	return s.File, s.Gaps, nil
}

// look returns n bytes at an offset, 512 at most, or as many as there are.
func (s *search) look(off int64, n int) []byte {
	if off < s.viewAt || off+int64(n) > s.viewAt+int64(len(s.view)) {
		s.view, s.viewAt = s.Peek(s.mem[:], off), off
	}
	p := s.view[off-s.viewAt:]
	return p[:min(n, len(p))]
}

// takeFrame goes past the frame at s.at, if there is one.
func (s *search) takeFrame() bool {
	f, confirmed, ok := s.frameAt(s.at)
	if !ok || !confirmed && s.damage != nil {
		return false
	}
	if s.find(f.offset+1) < f.offset+f.size && (!confirmed || !s.decodes(&f) && !s.Spent()) {
		return false // another frame begins in it: damage hides where it ends
	}
	s.at += f.size
	s.Found, s.ReadErr = true, nil
	if f.content == 0 && (s.damage != nil || s.decodes(&f)) {
		return true
	}
	f.damage, s.damage = s.damage, nil
	s.frames = append(s.frames, f)
	s.AccountFor(foundMemory * int64(len(s.frames)))
	return true
}

// frameAt goes through the frame at an offset from block to block. confirmed says that what follows
// it, or else its content, confirms its end.
func (s *search) frameAt(off int64) (f found, confirmed, ok bool) {
	steps := s.steps
	f, ok = s.walk(off)
	end := off + f.size
	confirmed = ok && (end == s.Size || s.knownAt(end) || f.summed && s.decodes(&f))
	if confirmed {
		s.steps = steps // only what leads nowhere counts
	}
	return f, confirmed, ok
}

// decodes reports whether a frame can be decoded.
func (s *search) decodes(f *found) bool {
	return s.Intact(f.size+f.bound, func() (bool, error) { return s.verify(f.offset, f.size) })
}

// walk goes through the frame at an offset from block to block. It compares the content size with
// the blocks, and does not look into them.
func (s *search) walk(off int64) (f found, ok bool) {
	if s.steps > minSteps+s.Size {
		// A hostile file could make the search read all of the rest for every few bytes.
		return f, false
	}
	h, n, err := zstframe.ParseHeader(s.look(off, zstframe.MaxHeaderSize))
	if err != nil {
		return f, false
	}
	pos, bound := off+int64(n), int64(0)
	for last := false; !last; {
		b, err := zstframe.ParseBlock(s.look(pos, zstframe.BlockHeaderSize))
		pos += zstframe.BlockHeaderSize + int64(b.Size)
		s.steps++
		if err != nil || pos > s.Size {
			return f, false
		}
		bound += b.MaxContent()
		last = b.Last
	}
	f = found{offset: off, content: h.ContentSize, summed: h.Checksum}
	if f.summed {
		p := s.look(pos, zstframe.ChecksumSize)
		if len(p) == zstframe.ChecksumSize {
			f.sum = binary.LittleEndian.Uint32(p)
		}
		pos += zstframe.ChecksumSize
	}
	f.size, f.bound = pos-off, bound
	if h.ContentSize >= 0 {
		f.bound = h.ContentSize
	}
	return f, pos <= s.Size && f.bound <= bound
}

// magicAt reports whether there is the magic number of a frame at an offset.
func (s *search) magicAt(off int64) bool {
	p := s.look(off, zstframe.MagicSize)
	return IsFrame(p) || IsSkippable(p)
}

// knownAt reports whether there is the magic number of any format at an offset.
func (s *search) knownAt(off int64) bool {
	_, ok, _ := container.Detect(s.look(off, container.DetectSize))
	return ok
}

// isUsable reports whether a frame can be a block of the index. Those of a Writer can.
func (s *search) isUsable(f *found) bool {
	limit := min(maxFrame, s.Limits.Memory()/2)
	return f.content > 0 && f.size <= limit && f.content <= limit &&
		container.FrameMemory(1, 1, f.size, f.content) <= limit
}

// block returns the frame as a block.
func (f *found) block() index.Block {
	return index.Block{Offset: f.offset, Size: int32(f.size), Raw: int32(f.content), Kind: index.Frame}
}

// takeSkippable goes past the skippable frame at s.at, if there is one. It compares a seek table
// with the frames in front of it.
func (s *search) takeSkippable() bool {
	kind, size, err := ParseSkippable(s.look(s.at, SkippableHeaderSize))
	end := s.at + SkippableHeaderSize + size
	if err != nil || end > s.Size {
		return false
	}
	isTable := kind == SeekTableKind && (s.tableAt(s.at) || end == s.Size)
	if end < s.Size && !s.knownAt(end) && !isTable {
		return false
	}
	if isTable {
		s.takeTable(s.at, end)
	}
	s.at, s.Found = end, true
	return true
}

// tableAt reports whether there is a seek table at an offset. Its entries may be damaged.
func (s *search) tableAt(off int64) bool {
	kind, size, err := ParseSkippable(s.look(off, SkippableHeaderSize))
	end := off + SkippableHeaderSize + size
	if err != nil || kind != SeekTableKind || size < SeekFooterSize || end > s.Size {
		return false
	}
	f, err := ParseSeekFooter(s.look(end-SeekFooterSize, SeekFooterSize), math.MaxInt64)
	return err == nil && f.TableSize() == SkippableHeaderSize+size
}

// takeTable reads the seek table between two offsets and compares the frames in front of it with
// its entries.
func (s *search) takeTable(at, end int64) {
	f, err := ParseSeekFooter(s.look(end-min(SeekFooterSize, end-at), SeekFooterSize), math.MaxInt64)
	if err == nil && f.TableSize() == end-at {
		s.Extra = tableEntryMemory * int64(f.Frames)
		s.AccountFor(foundMemory * int64(len(s.frames)))
		if s.Err != nil {
			return
		}
		p := s.Peek(make([]byte, end-at), at)
		if int64(len(p)) < end-at {
			return // the search is over, or the file has become shorter
		}
		var list []Entry
		list, err = f.AppendEntries(make([]Entry, 0, f.Frames), p, f.Covers(p))
		if err == nil {
			t := &table{list: list, sums: f.Sums, start: at - f.Covers(p), at: at}
			if s.isContent(t, end) {
				return
			}
			s.settle(t, at)
			s.begin, s.Extra = end, 0
			return
		}
	}
	s.settle(nil, at)
	s.begin = end
	s.lose(index.DamageFrame, errs.PartIndex, 0, 0, at,
		&errs.Error{Kind: errs.Corrupt, Detail: "index: the seek table is damaged"})
}

// isContent reports whether a table that ends at an offset is content of a frame that is lost: it
// comes behind damage, nothing known follows it, and it lists no frame in front of the damage, nor
// all from the table before it on.
func (s *search) isContent(t *table, end int64) bool {
	if end == s.Size || s.magicAt(end) || t.start <= s.begin {
		return false
	}
	front := slices.IndexFunc(s.frames, func(f found) bool { return f.damage != nil })
	switch {
	case front >= 0:
	case s.damage == nil:
		return false
	default:
		front = len(s.frames)
	}
	listed := map[key]bool{}
	for _, e := range t.list {
		listed[keyOf(int64(e.Size), e.Sum, t.sums)] = true
	}
	for i := range s.frames[:front] {
		if listed[keyOf(s.frames[i].size, s.frames[i].sum, t.sums)] {
			return false
		}
	}
	return true
}

// find looks from an offset on for a frame or a seek table, and returns the end of the file if
// there is none.
func (s *search) find(from int64) int64 {
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.Peek(s.buf[:size], off)
		n := len(p) - zstframe.MagicSize + 1
		if n <= 0 {
			return s.Size
		}
		for i := range n {
			q, at := p[i:], off+int64(i)
			switch {
			case q[0] == zstframe.Magic&0xff && IsFrame(q):
				if _, confirmed, _ := s.frameAt(at); confirmed {
					return at
				}
			case q[0]>>4 == SkippableMagic>>4&15 && IsSkippable(q) && s.tableAt(at):
				return at
			}
			if s.Err != nil {
				return s.Size
			}
		}
		off += int64(n)
	}
}
