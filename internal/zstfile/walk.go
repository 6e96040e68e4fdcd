package zstfile

import (
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/section"
)

// Walk goes through a .zst file from header to header. It verifies how frames and blocks follow
// one another, and does not look into them. It passes over damaged sections of parity. It calls f
// after each frame that is not skippable, with the offset of its end, and reports whether the last
// frame is a seek table, but for sections.
func Walk(
	src io.ReaderAt, size int64, limits *container.Limits, f func(fr *Frame, end int64) error,
) (table bool, err error) {
	return walk(src, size, limits, visitor{frame: f})
}

// A visitor has what walk calls. Each function may be nil.
type visitor struct {
	frame func(f *Frame, end int64) error
	table func(begin, end int64) error // of what may be a seek table
}

// walk is Walk with a visitor.
func walk(
	src io.ReaderAt, size int64, limits *container.Limits, v visitor,
) (table bool, err error) {
	s := Scanner{limits: limits, nonBlocking: true}
	s.in.ResetAt(src, size)
	s.resetState()
	skipped := int64(0) // where the skippable frame began that has been passed over last
	for {
		if err := limits.Canceled(); err != nil {
			return false, err
		}
		at := s.in.Offset()
		begins := s.phase == betweenFrames
		switch err := s.nextFrame(); err {
		case nil:
		case container.ErrNothingYet:
			if !begins {
				continue
			}
			skipped = at
			end := at + SkippableHeaderSize + s.skip
			isTable := s.kind == SeekTableKind && s.isSeekTable(src, end)
			if s.kind != SectionKind {
				table = isTable
			}
			if !isTable {
				checkSection(src, at, end, s.kind, limits)
			}
			if s.kind == SeekTableKind && v.table != nil {
				if err := v.table(at, end); err != nil {
					return false, err
				}
			}
			continue
		case io.EOF:
			return table, nil
		default:
			end := sectionEnd(src, skipped, at, size)
			if end < 0 {
				return false, err
			}
			limits.SawSection(false)
			s.in.ResetAt(src, size)
			s.phase = betweenFrames
			if err := s.in.Skip(end); err != nil {
				return false, err
			}
			skipped = end
			continue
		}
		if err := s.frame.skip(math.MaxInt64); err != io.EOF {
			return false, err
		}
		table = false
		end := s.in.Offset()
		skipped = end
		if v.frame == nil {
			continue
		}
		if err := v.frame(&s.frame, end); err != nil {
			return false, err
		}
	}
}

// sectionEnd returns the end of a damaged section of parity, or −1 if there is none. It begins at
// second, where what follows is no frame, or at first, if that is where its header leads wrongly.
func sectionEnd(src io.ReaderAt, first, second, size int64) int64 {
	for _, at := range []int64{first, second} {
		if n := section.SizeAt(src, at); n > 0 && at+n != second {
			return min(at+n, size)
		}
	}
	return -1
}

// isSeekTable reports whether the skippable frame that ends at an offset, and whose header has been
// read, is a seek table.
func (s *Scanner) isSeekTable(src io.ReaderAt, end int64) bool {
	var p [SeekFooterSize]byte
	if s.skip < int64(len(p)) || container.ReadAt(src, p[:], end-int64(len(p))) != nil {
		return false
	}
	f, err := ParseSeekFooter(p[:], end)
	return err == nil && f.TableSize() == SkippableHeaderSize+s.skip
}
