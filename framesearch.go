package compress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// frameSearch finds the frames of a .zst file whose seek table is damaged, missing, or does not fit the frames in front of it because bytes are missing
// or have come in.
//
// It goes through the file once, from frame to frame where one follows the other, and from byte to byte where it has to look for the next. Frames that say
// how much they hold, as those of a Writer do, are of use. A seek table behind them tells which are missing.
//
// The format has nothing that tells a frame of the file from one that stands in a damaged frame because a .zst file was compressed; but the table, where there
// is one, does not list that.
type frameSearch struct {
	search
	at     int64        // what is in front of this has been seen
	broken int64        // offset of damage directly in front of it; −1 if there is none
	chain  int64        // where the frames begin that follow one another behind damage and lead to at; −1 without damage since the last table
	room   int64        // what the frames of the table at the end of the file leave for other files
	frames []foundFrame // behind the last table
	most   int          // content of the largest frame taken
	steps  int64        // headers of blocks that did not lead to the end of a frame

	view   []byte // part of the file, from viewAt on
	viewAt int64
	mem    [512]byte
}

// foundFrame is a frame that is whole as far as its headers tell.
type foundFrame struct {
	offset  int64
	size    int64
	content int64 // −1 if it does not say so
	broken  int64 // offset of damage directly in front of it; −1 if there is none
	sum     uint32
	summed  bool // it has a sum
}

const (
	foundFrameMemory  = 48
	tableFrameMemory  = 96 // an entry of a table, and what it takes to be found
	minStepsForNought = 1 << 16
)

// isZstd tells whether a damaged file is one of zstd, by its first frame or the end of a seek table.
func isZstd(ra io.ReaderAt, size int64) bool {
	var magic [sniffSize]byte
	if readAt(ra, magic[:min(size, sniffSize)], 0) == nil {
		if format, known, _ := sniff(magic[:]); known || bytes.HasPrefix(magic[:], []byte(pzfile.Magic)) {
			return known && format == pipeline.ZST
		}
	}
	return endsInSeekTable(ra, size)
}

// searchFrames goes through a file from the front. It returns an index of the frames it finds, and what is missing between them.
func searchFrames(src io.ReaderAt, size int64, o *options) (*index, []gap, error) {
	s := &frameSearch{search: search{src: src, opt: o, size: size, x: &index{size: size, format: pipeline.ZST}, row: true}, broken: -1, chain: -1}
	s.last()
	for s.err == nil && s.at < s.size {
		if s.frame() || s.skippable() {
			continue
		}
		if s.broken < 0 {
			s.broken = s.at
		}
		s.at = s.find(s.at + 1)
	}
	s.settle(nil, nil)
	if s.err != nil {
		return nil, nil, s.err
	}
	if len(s.x.blocks) == 0 {
		return nil, nil, &Error{Kind: ErrNoIndex, Block: -1, Offset: -1,
			Detail: "zstd data without a seek table that fits, nor a whole frame that says how much it holds"}
	}
	for i := range s.x.streams {
		s.x.streams[i].hdr = pzfile.Header{BlockSize: s.most, ContentSize: -1}
	}
	return s.x, s.gaps, nil
}

// look returns n bytes at an offset, 512 at most, or as many as there are.
func (s *frameSearch) look(off int64, n int) []byte {
	if off < s.viewAt || off+int64(n) > s.viewAt+int64(len(s.view)) {
		s.view, s.viewAt = s.peek(s.mem[:], off), off
	}
	p := s.view[off-s.viewAt:]
	return p[:min(n, len(p))]
}

// frame takes the frame at s.at, if there is one.
func (s *frameSearch) frame() bool {
	f, ok := s.frameAt(s.at)
	if !ok {
		return false
	}
	s.at += f.size
	if f.content == 0 {
		return true
	}
	if f.broken, s.broken = s.broken, -1; f.broken >= 0 {
		s.chain = f.offset
	}
	s.frames = append(s.frames, f)
	s.some = true
	if limit := s.opt.readerLimit(); 3*(s.memory()+foundFrameMemory*int64(len(s.frames))) > limit {
		s.account()
	}
	return true
}

// frameAt goes through the frame at an offset from block to block. What follows it, or else its content, shows whether its end is there.
func (s *frameSearch) frameAt(off int64) (f foundFrame, ok bool) {
	if s.steps > minStepsForNought+s.size/1024 {
		return f, false // a hostile file could make it read all of the rest for every few bytes
	}
	h, n, err := zstfile.ParseHeader(s.look(off, zstfile.MaxHeaderSize))
	if err != nil {
		return f, false
	}
	pos, bound, steps := off+int64(n), int64(0), int64(1)
	for last := false; !last; steps++ {
		b, err := zstfile.ParseBlockHeader(s.look(pos, zstfile.BlockHeaderSize))
		pos += zstfile.BlockHeaderSize + int64(b.Size)
		if err != nil || pos > s.size {
			s.steps += steps
			return f, false
		}
		if b.Content < 0 {
			b.Content = zstfile.MaxBlock
		}
		bound += int64(b.Content)
		last = b.Last
	}
	f = foundFrame{offset: off, content: h.ContentSize, summed: h.Checksum}
	if f.summed {
		p := s.look(pos, zstfile.ChecksumSize)
		if ok = len(p) == zstfile.ChecksumSize; ok {
			f.sum = binary.LittleEndian.Uint32(p)
		}
		pos += zstfile.ChecksumSize
	}
	f.size = pos - off
	if p := s.look(pos, zstfile.MagicSize); pos > s.size || h.ContentSize > bound || h.Dictionary != 0 ||
		pos < s.size && !zstfile.IsFrame(p) && !zstfile.IsSkippable(p) && !s.decodes(&f) {
		s.steps += steps
		return f, false
	}
	return f, s.err == nil
}

// usable reports whether a frame can be a block of the index. Those of a Writer can.
func (s *frameSearch) usable(f *foundFrame) bool {
	return f.content > 0 && f.size+f.content+4096+frameWorker <= min(maxFrame, s.opt.readerLimit()/2)
}

// ref is the frame as a block.
func (f *foundFrame) ref(content int64) blockRef {
	return blockRef{offset: f.offset, content: content, payload: int32(f.size), raw: int32(f.content), kind: frameKind}
}

// decodes reports whether a frame is intact.
func (s *frameSearch) decodes(f *foundFrame) bool {
	if !s.usable(f) || !f.summed { // without a sum anything may decode
		return false
	}
	st := stream{hdr: pzfile.Header{BlockSize: int(f.content)}, blocks: 1}
	return s.try(&index{
		format: pipeline.ZST, frame: int(f.size), size: s.size, content: f.content, streams: []stream{st}, blocks: []blockRef{f.ref(0)},
	})
}

// skippable passes over the skippable frame at s.at, if there is one. A seek table is compared with what is in front of it.
func (s *frameSearch) skippable() bool {
	kind, size, err := zstfile.ParseSkippable(s.look(s.at, zstfile.SkippableHeaderSize))
	end := s.at + zstfile.SkippableHeaderSize + size
	if err != nil || end > s.size {
		return false
	}
	if p := s.look(end, zstfile.MagicSize); end < s.size && !zstfile.IsFrame(p) && !zstfile.IsSkippable(p) && !s.tableAt(s.at) {
		return false
	}
	if kind == zstfile.SeekTableKind && (s.tableAt(s.at) || end == s.size) {
		s.table(s.at, end)
	}
	s.at = end
	return true
}

// tableAt reports whether there is a seek table at an offset. What it lists may be damaged.
func (s *frameSearch) tableAt(off int64) bool {
	kind, size, err := zstfile.ParseSkippable(s.look(off, zstfile.SkippableHeaderSize))
	end := off + zstfile.SkippableHeaderSize + size
	if err != nil || kind != zstfile.SeekTableKind || size < zstfile.SeekFooterSize || end > s.size {
		return false
	}
	f, err := zstfile.ParseSeekFooter(s.look(end-zstfile.SeekFooterSize, zstfile.SeekFooterSize), math.MaxInt64)
	return err == nil && f.TableSize() == zstfile.SkippableHeaderSize+size
}

// table reads the seek table between two offsets and compares the frames in front of it with it.
func (s *frameSearch) table(at, end int64) {
	f, err := zstfile.ParseSeekFooter(s.look(end-min(zstfile.SeekFooterSize, end-at), zstfile.SeekFooterSize), math.MaxInt64)
	if err == nil && f.TableSize() == end-at {
		if limit := s.opt.readerLimit(); s.memory()+tableFrameMemory*int64(f.Frames) > limit {
			s.err = &Error{Kind: ErrMemory, Block: -1, Offset: -1, Detail: fmt.Sprintf("a seek table of %d frames takes more than the limit of %d bytes", f.Frames, limit)}
			return
		}
		p := s.peek(make([]byte, end-at), at)
		if int64(len(p)) < end-at {
			return // the search is over, or the file is shorter than it was
		}
		var list []zstfile.Entry
		if list, err = f.AppendEntries(make([]zstfile.Entry, 0, f.Frames), p, f.Covers(p)); err == nil {
			whole := f.Covers(p) + f.TableSize()
			if begin := end - whole; s.broken < 0 && begin >= s.chain { // the frames that it lists are all there
				if end < s.size && s.chain >= 0 && whole > s.room {
					return // and in a file that has no room for them: content of a frame
				}
				s.split(begin, list)
			}
			s.settle(newEntryFinder(list, f.Sums), list)
			return
		}
	}
	s.settle(nil, nil)
	s.pos = at
	s.lose(DamageFrame, 0, 0, ErrCorrupt, "index: the seek table is damaged")
}

// last looks at the seek table at the end of the file.
func (s *frameSearch) last() {
	s.room = math.MaxInt64
	if s.size < zstfile.SeekFooterSize {
		return
	}
	f, err := zstfile.ParseSeekFooter(s.look(s.size-zstfile.SeekFooterSize, zstfile.SeekFooterSize), s.size)
	if err != nil || f.TableSize() > s.opt.readerLimit() {
		return
	}
	if p := s.peek(make([]byte, f.TableSize()), s.size-f.TableSize()); int64(len(p)) == f.TableSize() {
		s.room = s.size - f.TableSize() - f.Covers(p)
	}
}

// find looks from an offset on for a frame or a seek table, and returns the end of the file if there is none.
func (s *frameSearch) find(from int64) int64 {
	for off, size := from, 512; ; size = min(4*size, len(s.buf)) {
		p := s.peek(s.buf[:size], off)
		n := len(p) - zstfile.MagicSize + 1
		if n <= 0 {
			return s.size
		}
		for i := range n {
			q, at := p[i:], off+int64(i)
			switch {
			case q[0] == zstfile.Magic&0xff && zstfile.IsFrame(q):
				if _, ok := s.frameAt(at); ok {
					return at
				}
			case q[0]>>4 == zstfile.SkippableMagic>>4&15 && zstfile.IsSkippable(q) && s.tableAt(at):
				return at
			}
			if s.err != nil {
				return s.size
			}
		}
		off += int64(n)
	}
}
