package zstfile

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/zstframe"
)

// Framer writes RFC 8878: after SetSingle one frame, else a frame for each block and a seek table
// behind them. A frame that is alone and states its size has no table, because ReadIndex can do
// without it. Blocks that end with a flush share a frame with the blocks behind them. A frame of
// several blocks states a window, and its content size only if that is known in advance.
type Framer struct {
	checks  bool
	window  int64  // how far back offsets reach in a frame, in bytes
	dict    uint32 // ID that frames name, 0 for none
	single  bool   // all content is one frame, and there is no seek table
	content int64  // of that frame in bytes, −1 if it is unknown
	sum     xxhash.Digest
	unsized bool // the last frame does not state its size
	entries []Entry
	entry   Entry // of the current frame, as far as it is written
	open    bool  // the current frame has no end yet
}

// Reset begins a new file. checks says whether frames and table carry checks of the content. window
// is how far back offsets reach in a frame, in bytes. dict is the dictionary that frames name, nil
// for none.
func (f *Framer) Reset(checks bool, window int, dict Dictionary) {
	f.checks, f.window, f.entries, f.open = checks, int64(window), f.entries[:0], false
	f.single, f.dict = false, 0
	if dict != nil {
		f.dict = dict.ID()
	}
}

// SetSingle makes all content one frame, without a seek table. content is its size in bytes, −1 if
// that is not known. AddContent takes the place of the sums of blocks.
func (f *Framer) SetSingle(content int64) {
	f.single, f.content = true, content
	f.sum.Reset()
}

// AddContent adds the content of the next block to the check of a single frame.
func (f *Framer) AddContent(p []byte) {
	if f.checks {
		f.sum.Write(p)
	}
}

// Header appends nothing.
func (f *Framer) Header(dst []byte, _ int) []byte { return dst }

func (f *Framer) frameHeader(dst []byte, content int64) []byte {
	h := Header{
		ContentSize: content, Window: content, SingleSegment: true, Checksum: f.checks, Dictionary: f.dict,
	}
	return h.Append(dst)
}

func (f *Framer) checksum(dst []byte, sum uint32) []byte {
	if f.checks {
		dst = append(dst, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	}
	return dst
}

// BlockHeader appends the header of the block's frame, unless the block continues a frame.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	if b.Continues {
		return dst
	}
	dst = f.endFrame(dst)
	n, content := len(dst), int64(b.Raw)
	if f.goesOn(&b) {
		content = -1
	}
	if f.single && f.content >= 0 {
		content = f.content
	}
	f.unsized = content < 0
	if f.unsized || content > f.window {
		h := Header{ContentSize: content, Window: f.window, Checksum: f.checks, Dictionary: f.dict}
		dst = h.Append(dst)
	} else {
		dst = f.frameHeader(dst, content)
	}
	f.entry = Entry{Size: uint32(len(dst) - n)}
	return dst
}

// goesOn reports whether the frame goes on behind a block.
func (f *Framer) goesOn(b *container.Block) bool { return b.Flushed || f.single && !b.Last }

// BlockTrailer appends the checksum of the block's frame and notes its entry in the table. It does
// neither if the frame goes on.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte {
	f.entry.Size += uint32(b.Payload)
	f.entry.Content += uint32(b.Raw)
	f.entry.Sum = b.Sum
	if f.single {
		f.entry.Sum = uint32(f.sum.Sum64())
	}
	if f.open = f.goesOn(&b); f.open {
		return dst
	}
	return f.closeEntry(dst)
}

// closeEntry appends the checksum of the current frame and notes its entry.
func (f *Framer) closeEntry(dst []byte) []byte {
	n := len(dst)
	dst = f.checksum(dst, f.entry.Sum)
	f.entry.Size += uint32(len(dst) - n)
	f.entries = append(f.entries, f.entry)
	return dst
}

// endFrame ends a frame that a flush left open, with an empty last block (RFC 8878, section
// 3.1.1.2).
func (f *Framer) endFrame(dst []byte) []byte {
	if !f.open {
		return dst
	}
	f.open = false
	f.entry.Size += zstframe.BlockHeaderSize
	return f.closeEntry(append(dst, 1, 0, 0))
}

// Trailer appends the seek table. Empty content is one frame with an empty last block (RFC 8878,
// section 3.1.1.2). A table of more than MaxSeekFrames entries is left out, as the format has no
// room for it; such a file can only be read from the front.
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	dst = f.endFrame(dst)
	if len(f.entries) == 0 {
		f.unsized = false
		n := len(dst)
		dst = append(f.frameHeader(dst, 0), 1, 0, 0)
		sum := Checksum(nil)
		dst = f.checksum(dst, sum)
		f.entries = append(f.entries, Entry{Size: uint32(len(dst) - n), Sum: sum})
	}
	if f.single || len(f.entries) > MaxSeekFrames || len(f.entries) == 1 && !f.unsized {
		return dst
	}
	table := SeekFooter{Frames: len(f.entries), Sums: f.checks}
	dst = slices.Grow(dst, int(table.TableSize()))
	return AppendSeekTable(dst, f.entries, f.checks)
}
