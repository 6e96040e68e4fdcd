package zstfile

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstframe"
)

// A search finds the frames of a .zst file whose seek table is damaged or missing. It also serves
// for a table that does not fit the frames in front of it. Bytes are then missing there, or have
// been inserted.
//
// It goes through the file once: from frame to frame where one follows the other, and from byte to
// byte where it has to look for the next. Frames that say how much content they have, as those of
// a Writer do, can be used. A seek table behind them tells which ones are missing.
//
// Content may be .zst data itself. In a damaged frame nothing tells such data from a frame of the
// file, except that a seek table does not list it.
type search struct {
	index.Salvage

	at     int64   // everything before this offset has been seen
	broken int64   // offset of damage right before at, −1 if there is none
	chain  int64   // start of the unbroken frames up to at, −1 if no damage since the last table
	room   int64   // bytes of the file besides the last table and the frames that it lists
	frames []found // since the last table
	number int64   // of the next frame taken
	pos    int64   // offset of the next frame taken, or of damage
	most   int     // content of the largest frame taken, in bytes
	steps  int64   // block headers read that did not lead to the end of a frame looked for

	view   []byte // part of the file, from viewAt on
	viewAt int64
	buf    [64 << 10]byte
	mem    [512]byte
}

// found is a frame that is whole as far as its headers tell.
type found struct {
	offset  int64
	size    int64
	content int64 // bytes of content, −1 if the frame does not say so
	broken  int64 // offset of damage right before the frame, −1 if there is none
	sum     uint32
	summed  bool  // the frame has a checksum
	bound   int64 // most content that the blocks can have, in bytes
}

const (
	foundMemory      = 88  // of a found, in bytes
	tableEntryMemory = 120 // of an entry of a table that can be searched, in bytes

	// minSteps is the number of block headers that a search may always read without finding a
	// frame.
	minSteps = 1 << 16
)

// Salvage goes through a damaged file from the front. It returns an index of the frames that it
// finds, and the gaps between them. A file without a frame that says how much content it has is
// errs.NoIndex.
func Salvage(
	src io.ReaderAt, size int64, limits *container.Limits, verify index.Verify,
) (*index.File, []index.Gap, error) {
	s := &search{broken: -1, chain: -1, Salvage: index.Salvage{
		Src: src, Limits: limits, Verify: verify, Size: size, NewRow: true,
		File: &index.File{Size: size, Format: container.Zstd},
	}}
	s.readLastTable()
	for s.Err == nil && s.at < s.Size {
		if s.takeFrame() || s.takeSkippable() {
			continue
		}
		if s.broken < 0 {
			s.broken = s.at
		}
		s.at = s.find(s.at + 1)
	}
	s.reconcile(nil, nil)
	if s.Err != nil {
		return nil, nil, s.Err
	}
	if len(s.File.Blocks) == 0 {
		return nil, nil, errs.New(errs.NoIndex,
			"no usable seek table and no complete frame that states its content size")
	}
	for i := range s.File.Streams {
		s.File.Streams[i].BlockSize = s.most
	}
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
	f, ok := s.frameAt(s.at)
	if !ok {
		return false
	}
	s.at += f.size
	if f.content == 0 {
		if s.broken < 0 && !s.isEmpty(&f) {
			s.broken = f.offset
		}
		return true
	}
	f.broken, s.broken = s.broken, -1
	if f.broken >= 0 {
		s.chain = f.offset
	}
	s.frames = append(s.frames, f)
	s.Found = true
	s.AccountFor(foundMemory * int64(len(s.frames)))
	return true
}

// frameAt goes through the frame at an offset from block to block. What follows it, or else its
// content, confirms its end.
func (s *search) frameAt(off int64) (f found, ok bool) {
	f, steps, ok := s.walk(off)
	if end := f.offset + f.size; !ok || end == s.Size || s.magicAt(end) || s.isIntact(&f) {
		return f, ok && s.Err == nil
	}
	s.steps += steps + 1
	return f, false
}

// walk goes through the frame at an offset from block to block, in so many steps. It compares the
// content size with the blocks, and does not look into them.
func (s *search) walk(off int64) (f found, steps int64, ok bool) {
	if s.steps > minSteps+s.Size/1024 {
		// A hostile file could make the search read all of the rest for every few bytes.
		return f, 0, false
	}
	h, n, err := zstframe.ParseHeader(s.look(off, zstframe.MaxHeaderSize))
	if err != nil {
		return f, 0, false
	}
	pos, bound := off+int64(n), int64(0)
	for last := false; !last; {
		b, err := zstframe.ParseBlock(s.look(pos, zstframe.BlockHeaderSize))
		pos += zstframe.BlockHeaderSize + int64(b.Size)
		steps++
		if err != nil || pos > s.Size {
			s.steps += steps + 1
			return f, steps, false
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
	if pos > s.Size || h.ContentSize > bound {
		s.steps += steps + 1
		return f, steps, false
	}
	return f, steps, true
}

// magicAt reports whether there is the magic number of a frame at an offset.
func (s *search) magicAt(off int64) bool {
	p := s.look(off, zstframe.MagicSize)
	return IsFrame(p) || IsSkippable(p)
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

// isIntact decodes a frame to see whether it is intact. Without a checksum nothing shows that.
func (s *search) isIntact(f *found) bool { return f.summed && s.decodes(f) }

// decodes reports whether a frame can be decoded, to as much content as its header says.
func (s *search) decodes(f *found) bool {
	return s.isUsable(f) && s.Intact(f.block(), index.Stream{BlockSize: int(f.content)}, int(f.size))
}

// isEmpty reports whether a frame has no content, as its header states.
func (s *search) isEmpty(f *found) bool {
	if f.bound == 0 {
		return !f.summed || f.sum == Checksum(nil)
	}
	return s.Intact(f.block(), index.Stream{BlockSize: 1}, int(f.size))
}

// takeSkippable goes past the skippable frame at s.at, if there is one. It compares a seek table
// with the frames in front of it.
func (s *search) takeSkippable() bool {
	kind, size, err := ParseSkippable(s.look(s.at, SkippableHeaderSize))
	end := s.at + SkippableHeaderSize + size
	if err != nil || end > s.Size {
		return false
	}
	if end < s.Size && !s.magicAt(end) && !s.tableAt(s.at) {
		return false
	}
	if kind == SeekTableKind && (s.tableAt(s.at) || end == s.Size) {
		s.takeTable(s.at, end)
	}
	s.at = end
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

// takeTable reads the seek table between two offsets and reconciles the frames in front of it with
// its entries.
func (s *search) takeTable(at, end int64) {
	f, err := ParseSeekFooter(s.look(end-min(SeekFooterSize, end-at), SeekFooterSize), math.MaxInt64)
	if err == nil && f.TableSize() == end-at {
		if limit := s.Limits.Memory(); s.Memory()+tableEntryMemory*int64(f.Frames) > limit {
			s.Err = errs.OutOfMemory(0,
				"a seek table of %d frames takes more than the limit of %d bytes", f.Frames, limit)
			return
		}
		p := s.Peek(make([]byte, end-at), at)
		if int64(len(p)) < end-at {
			return // the search is over, or the file has become shorter
		}
		var list []Entry
		list, err = f.AppendEntries(make([]Entry, 0, f.Frames), p, f.Covers(p))
		if err == nil {
			whole := f.Covers(p) + f.TableSize()
			if begin := end - whole; s.broken < 0 && begin >= s.chain { // all its frames are there
				if end < s.Size && s.chain >= 0 && whole > s.room {
					return // the file has no room for them: this is content of a frame
				}
				s.split(begin, list)
			}
			s.reconcile(newEntryFinder(list, f.Sums), list)
			return
		}
	}
	s.reconcile(nil, nil)
	s.pos = at
	s.lose(index.DamageFrame, errs.PartIndex, 0, 0, errs.Corrupt, "index: the seek table is damaged")
}

// readLastTable reads the seek table at the end of the file, if there is one, to see how much room
// its frames leave.
func (s *search) readLastTable() {
	s.room = math.MaxInt64
	if s.Size < SeekFooterSize {
		return
	}
	f, err := ParseSeekFooter(s.look(s.Size-SeekFooterSize, SeekFooterSize), s.Size)
	if err != nil || f.TableSize() > s.Limits.Memory() {
		return
	}
	if p := s.Peek(make([]byte, f.TableSize()), s.Size-f.TableSize()); int64(len(p)) == f.TableSize() {
		s.room = s.Size - f.TableSize() - f.Covers(p)
	}
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
				if _, ok := s.frameAt(at); ok {
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
