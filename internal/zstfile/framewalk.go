package zstfile

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstframe"
)

// A frameWalk makes tables of frames by their headers, where no seek table leads to them.
type frameWalk struct {
	limits *container.Limits
	frames int64       // in the index so far
	sums   bool        // all frames have checksums
	tables []seekTable // the last one first
	check  tableCheck  // of the seek tables on the way

	last     seekTable // frames without a gap between them
	summed   []bool    // which of them have checksums, until they are in the check
	next     int64     // offset behind them
	unsized  bool      // one of them states no size, or a large one
	unusable bool      // so does one that no seek table lists
}

// walkTo finds the frames in the first end bytes of a file. Behind them are so many bytes of
// sections. An error in the file comes before a frame that no index can have.
func (w *frameWalk) walkTo(src io.ReaderAt, end, sections int64) error {
	_, err := walk(src, end, &container.Limits{BadSection: w.limits.BadSection}, visitor{
		frame: func(f *Frame, frameEnd int64) error {
			if f.Offset > w.next {
				w.endTable(f.Offset)
			}
			return w.addFrame(src, f, frameEnd)
		},
		table: func(begin, end int64) error { return w.compareTable(src, begin, end-begin) },
	})
	if err != nil {
		return err
	}
	w.endTable(end)
	if w.unusable || w.frames == 0 {
		return errs.New(errs.NoIndex, "zstd data without a seek table, and with frames that state no size "+
			"or a large one, can only be read from front to back, by a Reader; WithSeekable writes a table")
	}
	w.tables[len(w.tables)-1].size += sections
	slices.Reverse(w.tables)
	return nil
}

// addFrame adds the entry of a frame.
func (w *frameWalk) addFrame(src io.ReaderAt, f *Frame, end int64) error {
	content := f.Header.ContentSize
	if content < 0 && f.bound == 0 {
		content = 0
	}
	if content < 0 || content > MaxWhole || end-f.Offset > maxFrame {
		w.unsized, content = true, 0
	}
	w.next = end
	w.frames++
	if err := checkEntryMemory(w.frames, w.limits.Memory()); err != nil {
		return err
	}
	entry := Entry{Size: uint32(min(end-f.Offset, math.MaxUint32)), Content: uint32(content)}
	w.sums = w.sums && f.Header.Checksum
	if f.Header.Checksum {
		var p [zstframe.ChecksumSize]byte
		if err := container.ReadAt(src, p[:], end-int64(len(p))); err != nil {
			return err
		}
		entry.Sum = binary.LittleEndian.Uint32(p[:])
	}
	w.last.entries = append(w.last.entries, entry)
	w.summed = append(w.summed, f.Header.Checksum)
	return nil
}

// endTable ends a table of frames. Up to the offset end skippable frames follow.
func (w *frameWalk) endTable(end int64) {
	w.checkFrames()
	w.last.size = end - w.next
	w.tables = append(w.tables, w.last)
	w.last, w.next = seekTable{}, end
}

// compareTable compares what may be a seek table of size bytes with the frames in front of it. It
// takes sizes from it that these do not state.
func (w *frameWalk) compareTable(src io.ReaderAt, at, size int64) error {
	if size < SkippableHeaderSize+SeekFooterSize {
		return nil
	}
	if err := checkEntryMemory(size/8, w.limits.Memory()); err != nil {
		return err
	}
	p := make([]byte, size)
	if err := container.ReadAt(src, p, at); err != nil {
		return err
	}
	w.unsized = w.unsized && !w.takeSizes(p)
	w.checkFrames()
	w.check.enter(size - SkippableHeaderSize)
	w.check.write(p[SkippableHeaderSize:])
	if w.unusable {
		return nil
	}
	if fault := w.check.endFrame(w.limits.Checks); fault != "" {
		return indexError(at, fault)
	}
	return nil
}

// checkFrames adds the new frames to the check.
func (w *frameWalk) checkFrames() {
	w.unusable = w.unusable || w.unsized
	for i, summed := range w.summed {
		e := w.last.entries[i]
		w.check.frame(int64(e.Size), int64(e.Content), e.Sum, summed)
	}
	w.summed, w.unsized = w.summed[:0], false
}

// takeSizes takes the sizes of the frames from a seek table, and reports whether it lists them.
func (w *frameWalk) takeSizes(table []byte) bool {
	f, err := ParseSeekFooter(table[len(table)-SeekFooterSize:], math.MaxInt64)
	if err != nil || f.TableSize() != int64(len(table)) || f.Frames != len(w.last.entries) {
		return false
	}
	list, err := f.AppendEntries(make([]Entry, 0, f.Frames), table, f.Covers(table))
	if err != nil {
		return false
	}
	for i, e := range list {
		if e.Size != w.last.entries[i].Size {
			return false
		}
		w.last.entries[i].Content = e.Content
	}
	return true
}
