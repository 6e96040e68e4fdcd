package zstfile

import (
	"encoding/binary"
	"fmt"

	"github.com/gopz/compress/internal/zstframe"
)

// A seek table is a skippable frame of kind SeekTableKind behind all other frames. It has an entry
// for each of them, in order: size, size of the content, and optionally its Checksum, four bytes
// each. It ends with a footer: number of frames, descriptor, magic number.
const (
	SeekTableKind   = 14
	SeekTableMagic  = 0x8F92EAB1
	SeekFooterSize  = 9
	MaxSeekFrames   = 1 << 27 // of the format, "ZSTD_SEEKABLE_MAXFRAMES"
	flagSeekSums    = 1 << 7
	flagSeekUnknown = 31 << 2
	// minFrame is the least size of a frame: that of an empty skippable one.
	minFrame = SkippableHeaderSize
	// growth bounds the content that a byte of a frame can hold: four bytes may be a block of
	// MaxBlock bytes.
	growth = zstframe.MaxBlock / 4
)

// Entry is the entry of one frame.
type Entry struct {
	Size    uint32 // bytes of the frame, with header and checksum
	Content uint32 // bytes of content
	Sum     uint32 // Checksum of the content, in tables that have sums
}

// SeekFooter is the footer of a seek table.
type SeekFooter struct {
	Frames int  // 0 … MaxSeekFrames
	Sums   bool // entries have sums
}

// EntrySize returns the size of an entry in bytes.
func (f SeekFooter) EntrySize() int {
	if f.Sums {
		return 12
	}
	return 8
}

// TableSize returns the size of the whole skippable frame in bytes.
func (f SeekFooter) TableSize() int64 {
	return SkippableHeaderSize + int64(f.Frames)*int64(f.EntrySize()) + SeekFooterSize
}

// AppendSeekTable appends a seek table of at most MaxSeekFrames entries, as a skippable frame.
func AppendSeekTable(dst []byte, entries []Entry, sums bool) []byte {
	f := SeekFooter{Frames: len(entries), Sums: sums}
	dst = appendSkippableHeader(dst, SeekTableKind, uint32(f.TableSize()-SkippableHeaderSize))
	for _, e := range entries {
		dst = binary.LittleEndian.AppendUint32(dst, e.Size)
		dst = binary.LittleEndian.AppendUint32(dst, e.Content)
		if sums {
			dst = binary.LittleEndian.AppendUint32(dst, e.Sum)
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Frames))
	descriptor := byte(0)
	if sums {
		descriptor = flagSeekSums
	}
	dst = append(dst, descriptor)
	return binary.LittleEndian.AppendUint32(dst, SeekTableMagic)
}

// ParseSeekFooter reads the footer of a seek table from p, the last SeekFooterSize bytes of a file
// of size bytes. Other data is [zstframe.ErrMagic]. The file has room for the table and for as many
// frames as the footer claims.
func ParseSeekFooter(p []byte, size int64) (SeekFooter, error) {
	var f SeekFooter
	if len(p) != SeekFooterSize {
		return f, errShort
	}
	if binary.LittleEndian.Uint32(p[5:]) != SeekTableMagic {
		return f, fmt.Errorf("%w: magic number of a seek table missing", errMagic)
	}
	frames := binary.LittleEndian.Uint32(p)
	if frames > MaxSeekFrames {
		return f, fmt.Errorf("%w: seek table of %d frames", errField, frames)
	}
	f = SeekFooter{Frames: int(frames), Sums: p[4]&flagSeekSums != 0}
	if p[4]&flagSeekUnknown != 0 {
		return f, fmt.Errorf("%w: seek table descriptor %#x", errField, p[4])
	}
	if size < f.TableSize()+minFrame*int64(frames) {
		return f, fmt.Errorf("%w: seek table of %d frames in a file of %d bytes", errField, frames, size)
	}
	return f, nil
}

// Covers returns the bytes of all frames in the table. p is the whole table, f.TableSize() bytes.
func (f SeekFooter) Covers(p []byte) (size int64) {
	for i := range f.Frames {
		size += int64(binary.LittleEndian.Uint32(p[SkippableHeaderSize+i*f.EntrySize():]))
	}
	return size
}

// AppendEntries appends the entries of a seek table to dst. p is the whole table, f.TableSize()
// bytes. before is the number of bytes in front of the table that its frames must fill exactly. It
// allocates no more than p justifies.
func (f SeekFooter) AppendEntries(dst []Entry, p []byte, before int64) ([]Entry, error) {
	if int64(len(p)) != f.TableSize() {
		return dst, errShort
	}
	kind, size, err := ParseSkippable(p)
	if err != nil {
		return dst, err
	}
	if kind != SeekTableKind || size != f.TableSize()-SkippableHeaderSize {
		return dst, fmt.Errorf("%w: skippable frame of kind %d, %d bytes, for a seek table of %d frames",
			errField, kind, size, f.Frames)
	}
	p = p[SkippableHeaderSize:]
	first := len(dst)
	for i := range f.Frames {
		e := Entry{Size: binary.LittleEndian.Uint32(p), Content: binary.LittleEndian.Uint32(p[4:])}
		if f.Sums {
			e.Sum = binary.LittleEndian.Uint32(p[8:])
		}
		p = p[f.EntrySize():]
		if e.Size < minFrame || uint64(e.Content) > uint64(e.Size)*growth {
			return dst[:first], fmt.Errorf("%w: seek table: frame %d of %d bytes with %d bytes of content",
				errField, i, e.Size, e.Content)
		}
		if before -= int64(e.Size); before < 0 {
			break
		}
		dst = append(dst, e)
	}
	if before != 0 {
		return dst[:first], fmt.Errorf("%w: seek table does not fit the file", errField)
	}
	return dst, nil
}
