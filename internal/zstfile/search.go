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
// frame where one follows the other, and from byte to byte where it has to look for the next. What
// it finds stays in the order of the file. So everything that a Reader would return is there. A
// seek table behind frames tells which ones are missing, and what is a frame of the file and what
// only looks like one: content may be .zst data itself.
type search struct {
	index.Salvage
	verify  Verify
	at      int64  // everything before this offset has been seen
	items   []item // found since the last table
	begin   int64  // where that ends, and they begin
	damaged bool   // there is damage among them
	number  int64  // of the next frame taken

	lost     bool  // the first damage has been noted
	most     int   // content of the largest block, in bytes
	steps    int64 // block headers read that did not lead to the end of a frame looked for
	compared int64 // items compared with tables that are content

	view   []byte // part of the file, from viewAt on
	viewAt int64
	buf    [64 << 10]byte
	mem    [512]byte
}

// Verify reports whether the frame that a part of the file begins with can be decoded, to as much
// content as it states, and has the right checksum. It returns an error if the context has ended.
type Verify func(offset, size int64) (intact bool, err error)

// An item is a frame that is whole as far as its headers tell, or damage: bytes up to the next item
// that are no whole frame.
type item struct {
	offset  int64
	size    int64 // 0 for damage
	content int64 // bytes of content, −1 if the frame does not say so
	bound   int64 // most content that the frame can have, in bytes
	blocks  int
	sum     uint32
	summed  bool  // the frame has a checksum
	entry   int   // its number in the table, or unlisted
	err     error // of a read that failed, in damage
}

func (f *item) isDamage() bool { return f.size == 0 }

func (f *item) end() int64 { return f.offset + f.size }

const (
	itemMemory       = 80 + 24 // of an item, and of its key in a map, in bytes
	tableEntryMemory = 128     // of an entry of a table that is compared with frames, in bytes

	// sureBlocks is the number of blocks from which on a frame that leads to another one, or to the
	// end of the file, has no damaged header. Frames inside it are content.
	sureBlocks = 8

	// minSteps is the number of block headers that a search may always read without finding a
	// frame. It may read one more for each byte of the file. As many items it may compare with
	// tables that are content.
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
		if s.at > 0 && !s.damaged && s.EndAtOther(s.at, container.Zstd) {
			break
		}
		if !s.behindDamage() {
			s.damaged = true
			s.addItem(item{offset: s.at, entry: unlisted, err: s.ReadErr})
			s.ReadErr = nil
			_, _, err := zstframe.ParseHeader(s.look(s.at, zstframe.MaxHeaderSize))
			s.Found = s.Found || err == nil // the beginning of a frame
		}
		s.at = s.find(s.at + 1)
	}
	s.settle(s.newTable(nil, false, s.Size), s.Size)
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

func (s *search) addItem(f item) {
	s.items = append(s.items, f)
	s.AccountFor(itemMemory * int64(len(s.items)))
}

// behindDamage reports whether there is damage in front of s.at.
func (s *search) behindDamage() bool {
	return len(s.items) > 0 && s.items[len(s.items)-1].isDamage()
}

// takeFrame goes past the frame at s.at, if there is one.
func (s *search) takeFrame() bool {
	f, confirmed, ok := s.frameAt(s.at)
	if !ok || !confirmed && s.behindDamage() {
		return false
	}
	sure := confirmed && f.blocks >= sureBlocks
	if !sure && s.find(f.offset+1) < f.end() && (!confirmed || !s.decodes(&f) && !s.Spent()) {
		return false // another frame begins in it: damage hides where it ends
	}
	s.at += f.size
	s.Found, s.ReadErr = true, nil
	s.addItem(f)
	return true
}

// frameAt goes through the frame at an offset from block to block. confirmed says that what follows
// it, or else its content, confirms its end.
func (s *search) frameAt(off int64) (f item, confirmed, ok bool) {
	steps := s.steps
	f, ok = s.walk(off)
	end := f.end()
	confirmed = ok && (end == s.Size || s.knownAt(end) || f.summed && s.decodes(&f))
	if confirmed {
		s.steps = steps // only what leads nowhere counts
	}
	return f, confirmed, ok
}

// decodes reports whether a frame can be decoded.
func (s *search) decodes(f *item) bool {
	return s.Intact(f.size+f.bound, func() (bool, error) { return s.verify(f.offset, f.size) })
}

// walk goes through the frame at an offset from block to block. It compares the content size with
// the blocks, and does not look into them.
func (s *search) walk(off int64) (f item, ok bool) {
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
		f.blocks++
		bound += b.MaxContent()
		last = b.Last
	}
	f = item{
		offset: off, content: h.ContentSize, blocks: f.blocks, summed: h.Checksum, entry: unlisted,
	}
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
func (s *search) isUsable(f *item) bool {
	limit := min(maxFrame, s.Limits.Memory()/2)
	return f.content > 0 && f.size <= limit && f.content <= limit &&
		container.FrameMemory(1, 1, f.size, f.content) <= limit
}

// takeSkippable goes past the skippable frame at s.at, if there is one. It compares a seek table
// with the frames in front of it.
func (s *search) takeSkippable() bool {
	_, size, err := ParseSkippable(s.look(s.at, SkippableHeaderSize))
	end := s.at + SkippableHeaderSize + size
	if err != nil || end > s.Size {
		return false
	}
	f, isTable := s.tableAt(s.at)
	if !isTable && end < s.Size && !s.knownAt(end) {
		return false
	}
	if isTable {
		s.takeTable(f, s.at, end)
	}
	s.at, s.Found = end, true
	return true
}

// tableAt returns the footer of the seek table at an offset, if there is one. The entries may be
// damaged.
func (s *search) tableAt(off int64) (f SeekFooter, ok bool) {
	kind, size, err := ParseSkippable(s.look(off, SkippableHeaderSize))
	end := off + SkippableHeaderSize + size
	if err != nil || kind != SeekTableKind || size < SeekFooterSize || end > s.Size {
		return f, false
	}
	f, err = ParseSeekFooter(s.look(end-SeekFooterSize, SeekFooterSize), math.MaxInt64)
	return f, err == nil && f.TableSize() == end-off
}

// takeTable reads the seek table between two offsets and compares it with the frames in front. If
// its entries make no sense, it is of no use: checkFile reports that.
func (s *search) takeTable(f SeekFooter, at, end int64) {
	s.Extra = tableEntryMemory * int64(f.Frames)
	s.AccountFor(itemMemory * int64(len(s.items)))
	if s.Err != nil || s.compared > minSteps+s.Size {
		return
	}
	p := s.Peek(make([]byte, end-at), at)
	if int64(len(p)) < end-at {
		return // the search is over, or the file has become shorter
	}
	list, err := f.AppendEntries(make([]Entry, 0, f.Frames), p, f.Covers(p))
	if err == nil {
		t := s.newTable(list, f.Sums, at)
		if s.isContent(t, end) {
			s.compared += int64(len(s.items))
		} else {
			s.settle(t, at)
			s.begin = end
		}
	}
	s.Extra = 0
}

// isContent reports whether a table that ends at an offset is content of a frame that is lost: it
// comes behind damage, nothing known follows it, and it lists no frame in front of the damage, nor
// all from the table before it on.
func (s *search) isContent(t *table, end int64) bool {
	if end == s.Size || s.magicAt(end) || t.places[0] <= s.begin {
		return false
	}
	i := slices.IndexFunc(s.items, func(f item) bool { return f.isDamage() || f.entry >= 0 })
	return i >= 0 && s.items[i].isDamage()
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
			q, at, ok := p[i:], off+int64(i), false
			switch {
			case q[0] == zstframe.Magic&0xff && IsFrame(q):
				_, ok, _ = s.frameAt(at)
			case q[0]>>4 == SkippableMagic>>4&15 && IsSkippable(q):
				_, ok = s.tableAt(at)
			}
			if ok {
				return at
			}
			if s.Err != nil {
				return s.Size
			}
		}
		off += int64(n)
	}
}
