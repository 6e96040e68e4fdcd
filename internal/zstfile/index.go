package zstfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/zstframe"
)

const (
	// entryMemory is the memory of an entry of a seek table while it is read, in bytes: the entry,
	// and what it is parsed to.
	entryMemory = 24

	// maxFrame is the longest frame that can be read at random, and the most content it may have,
	// in bytes.
	maxFrame = math.MaxInt32 - 1<<10
)

// indexError returns an error about the seek tables of a file.
func indexError(off int64, detail string) error {
	e := errs.At(errs.Corrupt, off, detail)
	e.Part = errs.PartIndex
	return e
}

// ReadIndex makes the index of a .zst file from its seek tables: one at its end, and, if the file
// is several that follow one another, one at the end of each. Empty frames are not in the index.
// Frames in front of the first table, or all if the file does not end in one, are found by their
// headers. There a frame that does not state its size, or has more than MaxWhole bytes of content,
// is errs.NoIndex.
func ReadIndex(src io.ReaderAt, size int64, limits *container.Limits) (*index.File, error) {
	limit := limits.Memory()
	var tables []seekTable // the last one first
	frames, sums := int64(0), true
	behind := int64(0) // bytes of sections in front of the last frame or table
	for pos := size; pos > 0; {
		f, end, err := footerBefore(src, pos, limits)
		behind += pos - end
		pos = end
		switch {
		case err == nil:
		case end == 0 && len(tables) > 0:
			continue
		case errors.Is(err, errMagic):
			w := frameWalk{limits: limits, frames: frames, sums: sums}
			w.check.reset()
			if err := w.walkTo(src, end, behind); err != nil {
				return nil, err
			}
			return indexOf(src, size, 0, append(tables, w.tables...), w.sums, w.frames, limits.Checks)
		default:
			return nil, err
		}
		frames += int64(f.Frames)
		if err := checkEntryMemory(frames, limit); err != nil {
			return nil, err
		}
		pos -= f.TableSize()
		table := make([]byte, f.TableSize())
		if err := container.ReadAt(src, table, pos); err != nil {
			return nil, err
		}
		list, err := f.AppendEntries(make([]Entry, 0, f.Frames), table, f.Covers(table))
		if err != nil {
			return nil, indexError(pos, err.Error())
		}
		if f.Covers(table) > pos {
			return nil, indexError(pos, "seek table does not fit the file")
		}
		pos -= f.Covers(table)
		sums = sums && f.Sums
		tables = append(tables, seekTable{list, f.TableSize() + behind})
		behind = 0
	}
	return indexOf(src, size, behind, tables, sums, frames, limits.Checks)
}

// seekTable is a seek table in a file.
type seekTable struct {
	entries []Entry
	size    int64 // bytes of the table itself, and of sections behind it
}

// footerBefore reads the footer of the seek table that ends at pos, or in front of the sections
// that end there. It returns where the table ends. Without a table the error is errMagic.
func footerBefore(
	src io.ReaderAt, pos int64, limits *container.Limits,
) (f SeekFooter, end int64, err error) {
	var buf [section.FooterSize]byte
	for {
		tail := buf[:min(pos, section.FooterSize)]
		if err := container.ReadAt(src, tail, pos-int64(len(tail))); err != nil {
			return f, pos, err
		}
		n, err := sectionBefore(src, pos, tail)
		switch {
		case err != nil:
			return f, pos, err
		case n > 0:
			checkSection(src, pos-n, pos, SectionKind, limits)
			pos -= n
			continue
		case len(tail) < SeekFooterSize:
			return f, pos, errMagic
		}
		f, err = ParseSeekFooter(tail[len(tail)-SeekFooterSize:], pos)
		if err != nil && !errors.Is(err, errMagic) {
			err = indexError(pos, err.Error())
		}
		return f, pos, err
	}
}

// sectionBefore returns the size of the section that ends at pos with the bytes tail, a skippable
// frame. It returns 0 if there is none.
func sectionBefore(src io.ReaderAt, pos int64, tail []byte) (size int64, err error) {
	size, ok := section.ParseFooter(tail)
	if !ok || size < SkippableHeaderSize+section.FooterSize || size > pos {
		return 0, nil
	}
	var p [SkippableHeaderSize]byte
	if err := container.ReadAt(src, p[:], pos-size); err != nil {
		return 0, err
	}
	kind, n, err := ParseSkippable(p[:])
	if err != nil || kind != SectionKind || SkippableHeaderSize+n != size {
		return 0, nil
	}
	return size, nil
}

// checkSection tells limits if a skippable frame of some kind is a damaged section of parity.
func checkSection(src io.ReaderAt, begin, end int64, kind int, limits *container.Limits) {
	if limits.ChecksSections() {
		_, found, intact := section.Check(src, begin, end)
		if found || isSectionKind(kind, end-begin-SkippableHeaderSize) {
			limits.SawSection(intact && kind == SectionKind)
		}
	}
}

// leastSection is the size in bytes of the smallest section that parity makes, without its header.
const leastSection = 240

// isSectionKind reports whether a skippable frame of so many bytes counts as a section, whatever
// they are. Other programs may use the kind for something small.
func isSectionKind(kind int, size int64) bool { return kind == SectionKind && size >= leastSection }

// HasSeekTable reports whether a file ends with the footer of a seek table, and perhaps sections.
func HasSeekTable(src io.ReaderAt, size int64) bool {
	_, _, err := footerBefore(src, size, nil)
	return err == nil
}

// indexOf makes the index that the tables, the last one first, describe. The first frame is at
// offset.
func indexOf(
	src io.ReaderAt, size, offset int64, tables []seekTable, sums bool, frames int64, checks bool,
) (*index.File, error) {
	x := &index.File{Format: container.Zstd, Size: size, Blocks: make([]index.Block, 0, frames)}
	most := uint32(0)
	for i := len(tables) - 1; i >= 0; i-- {
		for _, e := range tables[i].entries {
			if e.Content > 0 {
				if max(e.Size, e.Content) > maxFrame {
					return nil, &errs.Error{
						Kind: errs.Memory, Block: int64(len(x.Blocks)), Offset: offset,
						Detail: "the frame is too large for random access",
					}
				}
				x.Blocks = append(x.Blocks, index.Block{
					Offset: offset, Content: x.Content, Size: int32(e.Size), Raw: int32(e.Content),
					Kind: index.Frame, Sum: e.Sum,
				})
				x.MaxFrame, most = max(x.MaxFrame, int(e.Size)), max(most, e.Content)
				x.Content += int64(e.Content)
			} else if err := verifyEmpty(src, offset, e, checks); err != nil {
				return nil, err
			}
			offset += int64(e.Size)
		}
		offset += tables[i].size
	}
	x.Streams = []index.Stream{{
		BlockSize: int(most), Checks: sums, Size: size, Content: x.Content, Blocks: int64(len(x.Blocks)),
	}}
	return x, nil
}

// verifyEmpty makes sure that the frame at an offset has no content, as its entry says. A skippable
// frame has none. In any other frame the first block must be empty and the last one. The content
// size of its header does not count: a block of four bytes may have 128 KiB of content. checks says
// that its checksum is compared.
func verifyEmpty(src io.ReaderAt, offset int64, e Entry, checks bool) error {
	// An RLE block has a byte.
	var buf [zstframe.MaxHeaderSize + zstframe.BlockHeaderSize + 1 + zstframe.ChecksumSize]byte
	p := buf[:min(int64(e.Size), int64(len(buf)))]
	if err := container.ReadAt(src, p, offset); err != nil {
		return err
	}
	if IsSkippable(p) {
		_, size, err := ParseSkippable(p)
		if err != nil || int64(e.Size) != SkippableHeaderSize+size {
			return wrongLength(offset)
		}
		return nil
	}
	h, size, err := zstframe.ParseHeader(p)
	if err != nil {
		return indexError(offset, "no frame where the seek table says")
	}
	b, err := zstframe.ParseBlock(p[min(size, len(p)):])
	if err != nil || !b.Last || b.Content != 0 || h.ContentSize > 0 {
		return indexError(offset, "the seek table says that the frame is empty, but it has content")
	}
	whole := size + zstframe.BlockHeaderSize + b.Size
	if h.Checksum {
		whole += zstframe.ChecksumSize
	}
	if int64(e.Size) != int64(whole) {
		return wrongLength(offset)
	}
	if sum := p[len(p)-zstframe.ChecksumSize:]; h.Checksum && checks &&
		binary.LittleEndian.Uint32(sum) != Checksum(nil) {
		return errs.At(errs.Checksum, offset, "an empty frame")
	}
	return nil
}

func wrongLength(offset int64) error {
	return indexError(offset, "the frame is not as long as the seek table says")
}

// checkEntryMemory returns an error if the entries of so many frames take more than the limit.
func checkEntryMemory(frames, limit int64) error {
	if (entryMemory+index.BlockMemory)*frames > limit {
		return errs.OutOfMemory(0,
			"a seek table of %d frames takes more than the limit of %d bytes", frames, limit)
	}
	return nil
}

// A Verifier compares frames with what a seek table says of them. It keeps memory between calls.
type Verifier struct {
	// Dictionary is the one that frames are decoded with, nil for none.
	Dictionary Dictionary

	in    container.Input
	frame Frame
}

// Verify returns what is wrong with the frame p, which b describes. number is the frame's in the
// file. sums says that b.Sum counts.
func (v *Verifier) Verify(p []byte, b *index.Block, number int64, sums bool) error {
	fail := func(kind error, detail string) error {
		return &errs.Error{
			Kind: kind, Part: errs.PartBlock, Block: number, Offset: b.Offset, Detail: detail,
		}
	}
	if !IsFrame(p) {
		return fail(errs.Corrupt, "no frame where the seek table says")
	}
	v.in.ResetBytes(p, zstframe.MagicSize)
	defer v.in.Release()
	f := &v.frame
	err := f.beginFrame(&v.in, number, p[:zstframe.MagicSize])
	if err == nil {
		err = f.checkDictionary(v.Dictionary)
	}
	if err == nil {
		err = f.skip(math.MaxInt64)
	}
	switch {
	case err != io.EOF:
		var e *errs.Error
		if !errors.As(err, &e) || errors.Is(err, errs.Truncated) {
			return fail(errs.Corrupt, "the frame is not as long as the seek table says")
		}
		e.Offset += b.Offset
		return e
	case v.in.Left() > 0:
		return fail(errs.Corrupt, "the frame is not as long as the seek table says")
	case f.Header.ContentSize >= 0 && f.Header.ContentSize != int64(b.Raw), f.bound < int64(b.Raw):
		return fail(errs.Corrupt, "the frame's content size differs from the seek table")
	case sums && f.Header.Checksum && binary.LittleEndian.Uint32(p[len(p)-zstframe.ChecksumSize:]) != b.Sum:
		return fail(errs.Checksum, "the checksums of frame and seek table differ")
	}
	return nil
}
