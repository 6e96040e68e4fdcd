package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

const (
	// frameKind is the kind of a blockRef that is a frame of zstd. The kinds of .pz begin at 1.
	frameKind = 0

	// seekEntryMemory is what the entry of a seek table takes while it is read, in bytes: itself, and what it is parsed to.
	seekEntryMemory = 24

	// maxFrame is the longest frame that a ReaderAt takes, and the most content one may have, in bytes.
	maxFrame = math.MaxInt32 - 1<<10
)

// readSeekTables makes an index of the seek tables in a .zst file: one at its end, and, if it is several files that follow one
// another, one at the end of each. Empty frames are not in the index.
func readSeekTables(ra io.ReaderAt, size, limit int64) (*index, error) {
	x := &index{size: size, format: pipeline.ZST}
	var tables [][]zstfile.Entry // the last one first
	var sizes []int64            // of the tables themselves
	frames, sums := int64(0), true
	for pos := size; pos > 0; {
		bad := func(detail string) error {
			return &Error{Kind: ErrCorrupt, Block: -1, Offset: pos, Detail: detail}
		}
		var p [zstfile.SeekFooterSize]byte
		if pos < int64(len(p)) {
			return nil, diagnoseFrames(ra, size)
		}
		if err := readAt(ra, p[:], pos-int64(len(p))); err != nil {
			return nil, err
		}
		f, err := zstfile.ParseSeekFooter(p[:], pos)
		switch {
		case errors.Is(err, zstfile.ErrMagic):
			return nil, diagnoseFrames(ra, size)
		case err != nil:
			return nil, bad(err.Error())
		}
		frames += int64(f.Frames)
		if m := (seekEntryMemory + refMemory) * frames; m > limit {
			return nil, &Error{Kind: ErrMemory, Block: -1, Offset: -1,
				Detail: fmt.Sprintf("a seek table of %d frames takes more than the limit of %d bytes", frames, limit)}
		}
		pos -= f.TableSize()
		table := make([]byte, f.TableSize())
		if err := readAt(ra, table, pos); err != nil {
			return nil, err
		}
		list, err := f.AppendEntries(make([]zstfile.Entry, 0, f.Frames), table, f.Covers(table))
		if err != nil {
			return nil, bad(err.Error())
		}
		if pos -= f.Covers(table); pos < 0 {
			return nil, bad("seek table does not fit the file")
		}
		sums = sums && f.Sums
		tables, sizes = append(tables, list), append(sizes, f.TableSize())
	}
	if err := x.addFrames(ra, tables, sizes, sums, frames); err != nil {
		return nil, err
	}
	return x, nil
}

// endsInSeekTable says whether a file of unknown beginning ends like a .zst file with a seek table.
func endsInSeekTable(ra io.ReaderAt, size int64) bool {
	var p [zstfile.SeekFooterSize]byte
	if size < int64(len(p)) || readAt(ra, p[:], size-int64(len(p))) != nil {
		return false
	}
	_, err := zstfile.ParseSeekFooter(p[:], size)
	return err == nil
}

// addFrames makes the index of what the tables say.
func (x *index) addFrames(ra io.ReaderAt, tables [][]zstfile.Entry, sizes []int64, sums bool, frames int64) error {
	x.blocks = make([]blockRef, 0, frames)
	offset, most := int64(0), uint32(0)
	for i := len(tables) - 1; i >= 0; i-- {
		for _, e := range tables[i] {
			if e.Content > 0 {
				if max(e.Size, e.Content) > maxFrame {
					return &Error{Kind: ErrMemory, Block: int64(len(x.blocks)), Offset: offset, Detail: "the frame is too large for random access"}
				}
				x.blocks = append(x.blocks, blockRef{
					offset: offset, content: x.content, payload: int32(e.Size), raw: int32(e.Content), kind: frameKind, sum: e.Sum,
				})
				x.frame, most = max(x.frame, int(e.Size)), max(most, e.Content)
				x.content += int64(e.Content)
			} else if err := emptyFrame(ra, offset, e); err != nil {
				return err
			}
			offset += int64(e.Size)
		}
		offset += sizes[i]
	}
	x.streams = []stream{{
		hdr:  pzfile.Header{BlockSize: int(most), Checks: sums, ContentSize: x.content},
		size: x.size, length: x.content, blocks: int64(len(x.blocks)),
	}}
	return nil
}

// emptyFrame makes sure that the frame at an offset, of which the seek table says so, has no content.
func emptyFrame(ra io.ReaderAt, offset int64, e zstfile.Entry) error {
	const blocks = zstfile.BlockHeaderSize + zstfile.ChecksumSize // a single block without content
	p := make([]byte, min(e.Size, zstfile.MaxHeaderSize))
	if err := readAt(ra, p, offset); err != nil {
		return err
	}
	h, size, err := zstfile.ParseHeader(p)
	if zstfile.IsSkippable(p) || err == nil && (h.ContentSize == 0 || h.ContentSize < 0 && int64(e.Size) <= int64(size)+blocks) {
		return nil
	}
	return &Error{Kind: ErrCorrupt, Block: -1, Offset: offset, Detail: "the frame has content, which the seek table denies"}
}

// diagnoseFrames finds out why there is no seek table at the end of a .zst file.
func diagnoseFrames(ra io.ReaderAt, size int64) error {
	if _, err := walkFrames(ra, size, new(options), func(*zstFrame, int64) error { return nil }); err != nil {
		return err
	}
	return noIndex(pipeline.ZST)
}

// frameMemory is what n frames in memory take, in bytes.
func (x *index) frameMemory(n, workers int) int64 {
	return int64(n)*(int64(x.streams[0].hdr.BlockSize)+int64(x.frame)+4096) + int64(min(n, workers))*frameWorker
}

// frameSlots is how many frames may be in memory, want at best.
func (o *options) frameSlots(x *index, want int, limit int64) (int, error) {
	n, workers := want, o.workerCount()
	for n > 1 && x.frameMemory(n, workers) > limit {
		n--
	}
	if m := x.frameMemory(n, workers); m > limit {
		return 0, &Error{Kind: ErrMemory, Block: -1, Offset: -1, Memory: m,
			Detail: fmt.Sprintf("a frame of %d bytes takes %d bytes of memory, more than the limit of %d", x.streams[0].hdr.BlockSize, m, limit)}
	}
	return n, nil
}

// frameCheck compares a frame with what a seek table says of it.
type frameCheck struct {
	in    input
	frame zstFrame
}

// verify reports what is wrong with the frame p, which b describes. sums says that b.sum counts.
func (c *frameCheck) verify(p []byte, b *blockRef, number int64, sums bool) error {
	c.in = input{mem: p}
	c.in.raw.mem = p
	defer func() { c.in = input{} }()
	fail := func(kind error, detail string) error {
		return &Error{Kind: kind, Block: number, Offset: b.offset, Detail: detail}
	}
	if !zstfile.IsFrame(p) {
		return fail(ErrCorrupt, "no frame where the seek table says")
	}
	c.in.raw.count = zstfile.MagicSize
	f := &c.frame
	err := f.begin(&c.in, number, p[:zstfile.MagicSize])
	if err == nil {
		err = f.whole(math.MaxInt64)
	}
	switch {
	case err != io.EOF:
		var e *Error
		if !errors.As(err, &e) || errors.Is(err, ErrTruncated) {
			return fail(ErrCorrupt, "the frame is not as long as the seek table says")
		}
		e.Offset += b.offset
		return e
	case c.in.left() > 0:
		return fail(ErrCorrupt, "the frame is not as long as the seek table says")
	case f.hdr.ContentSize >= 0 && f.hdr.ContentSize != int64(b.raw), f.bound < int64(b.raw):
		return fail(ErrCorrupt, "the frame has not as much content as the seek table says")
	case sums && f.hdr.Checksum && binary.LittleEndian.Uint32(p[len(p)-zstfile.ChecksumSize:]) != b.sum:
		return fail(ErrChecksum, "the checksums of frame and seek table differ")
	}
	return nil
}
