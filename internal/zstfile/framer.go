package zstfile

import (
	"slices"

	"github.com/gopz/compress/internal/container"
)

// Framer writes RFC 8878: a frame for each block, and a seek table behind the frames.
type Framer struct {
	checks  bool
	entries []Entry
	size    int // of the header of the current frame, in bytes
}

// Reset begins a new file. checks says whether frames and table carry checks of the content.
func (f *Framer) Reset(checks bool) { f.checks, f.entries = checks, f.entries[:0] }

// Header appends nothing.
func (f *Framer) Header(dst []byte) []byte { return dst }

func (f *Framer) frameHeader(dst []byte, content int64) []byte {
	h := Header{ContentSize: content, Window: content, SingleSegment: true, Checksum: f.checks}
	return h.Append(dst)
}

func (f *Framer) checksum(dst []byte, sum uint32) []byte {
	if f.checks {
		dst = append(dst, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	}
	return dst
}

// BlockHeader appends the header of the block's frame.
func (f *Framer) BlockHeader(dst []byte, b container.Block) []byte {
	n := len(dst)
	dst = f.frameHeader(dst, int64(b.Raw))
	f.size = len(dst) - n
	return dst
}

// BlockTrailer appends the checksum of the block's frame and notes its entry in the table.
func (f *Framer) BlockTrailer(dst []byte, b container.Block) []byte {
	n := len(dst)
	dst = f.checksum(dst, b.Sum)
	size := f.size + b.Payload + len(dst) - n
	f.entries = append(f.entries, Entry{Size: uint32(size), Content: uint32(b.Raw), Sum: b.Sum})
	return dst
}

// Trailer appends the seek table. Empty content is one frame with an empty last block (RFC 8878,
// section 3.1.1.2). A table of more than MaxSeekFrames entries is left out, as the format has no
// room for it; such a file can only be read from the front.
func (f *Framer) Trailer(dst []byte, content, written int64) []byte {
	if len(f.entries) == 0 {
		n := len(dst)
		dst = append(f.frameHeader(dst, 0), 1, 0, 0)
		sum := Checksum(nil)
		dst = f.checksum(dst, sum)
		f.entries = append(f.entries, Entry{Size: uint32(len(dst) - n), Sum: sum})
	}
	if len(f.entries) > MaxSeekFrames {
		return dst
	}
	table := SeekFooter{Frames: len(f.entries), Sums: f.checks}
	dst = slices.Grow(dst, int(table.TableSize()))
	return AppendSeekTable(dst, f.entries, f.checks)
}
