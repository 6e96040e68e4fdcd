package zstfile

import (
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
)

// Walk goes through a .zst file from header to header. It verifies how frames and blocks follow
// one another, and does not look into them. It calls f after each frame that is not skippable, with
// the offset of its end, and reports whether the last frame is a seek table, but for sections.
func Walk(
	src io.ReaderAt, size int64, limits *container.Limits, f func(fr *Frame, end int64) error,
) (table bool, err error) {
	s := Scanner{Sequential: container.Sequential{Limits: limits}}
	s.In.ResetAt(src, size)
	s.resetState()
	for {
		if err := limits.Canceled(); err != nil {
			return false, err
		}
		at := s.In.Offset()
		switch err := s.nextFrame(); err {
		case nil:
		case container.ErrNothingYet:
			end := at + SkippableHeaderSize + s.skip
			switch {
			case s.phase != skipping:
			case s.kind != SectionKind:
				table = s.kind == SeekTableKind && s.isSeekTable(src, end)
			default:
				checkSection(src, at, end, limits)
			}
			continue
		case io.EOF:
			return table, nil
		default:
			return false, err
		}
		if err := s.frame.skip(math.MaxInt64); err != io.EOF {
			return false, err
		}
		table = false
		if err := f(&s.frame, s.In.Offset()); err != nil {
			return false, err
		}
	}
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
