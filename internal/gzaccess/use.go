package gzaccess

import (
	"fmt"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// maxLead is the most bytes of a file before its first content. There may be a long header, and
// empty members.
const maxLead = 1 << 20

// Use makes the Map of the .gz file of size bytes that src holds, by the checkpoints of x. It
// decodes what lies before the first content and what follows the last checkpoint. An index that
// does not fit the file is an error that wraps errs.Corrupt, with errs.PartIndex. If that does not
// show here, it does when an interval is decoded.
func Use(x *gzindex.Index, src io.ReaderAt, size int64, limits *container.Limits) (*Map, error) {
	if err := checkMemory(limits); err != nil {
		return nil, err
	}
	if x.FileSize != gzindex.Unknown && x.FileSize != size {
		return nil, stale("is for a file of %d bytes, and this one has %d", x.FileSize, size)
	}
	m := maker{spacing: spacing, most: pointsLimit(limits)}
	m.points = distinct(x.Checkpoints)
	if n := len(m.points); m.points[n-1].Bit > size*8 {
		return nil, stale("has a checkpoint behind the end of the file")
	}
	for i := range m.points {
		m.memory += pointMemory + int64(m.points[i].Window.Size())
	}
	m.most = max(m.most, m.memory) // the caller has counted them
	if err := m.lead(src, limits); err != nil {
		return nil, misfit(err)
	}
	last := m.points[len(m.points)-1]
	if limits.TooLarge(0, last.Content) {
		return nil, &errs.Error{
			Kind: errs.TooLarge, Part: errs.PartBlock, Block: -1, Offset: last.Bit >> 3,
		}
	}
	var unpacker gzindex.Unpacker
	window, err := unpacker.Unpack(last.Window)
	if err == nil {
		m.content = last.Content
		m.spacing = max(m.spacing, last.Content/int64(len(m.points)))
		err = m.pass(src, size, limits, nil, &last, window)
	}
	if err != nil {
		return nil, misfit(err)
	}
	if content := m.content; x.ContentSize != gzindex.Unknown && x.ContentSize != content {
		return nil, stale("is for %d bytes of content, and this file has %d", x.ContentSize, content)
	}
	return newMap(size, m.content, m.points, nil)
}

// distinct returns the last checkpoint at each place of the content. The first one is at the
// beginning of the file if the index has none at the beginning of the content.
func distinct(points []gzindex.Checkpoint) []gzindex.Checkpoint {
	list := make([]gzindex.Checkpoint, 0, len(points)+1)
	if len(points) == 0 || points[0].Content > 0 {
		list = append(list, gzindex.Checkpoint{Header: true})
	}
	for _, p := range points {
		if n := len(list); n > 0 && list[n-1].Content == p.Content {
			list = list[:n-1]
		}
		list = append(list, p)
	}
	return list
}

// lead decodes what lies before the first content.
func (m *maker) lead(src io.ReaderAt, limits *container.Limits) error {
	first := &m.points[0]
	size := (first.Bit + 7) >> 3
	if size == 0 {
		return nil
	}
	if size > maxLead {
		return stale("has its first checkpoint at byte %d", size)
	}
	p := make([]byte, size)
	if err := container.ReadAt(src, p, 0); err != nil {
		return err
	}
	var d gzfile.SectionDecoder
	s := gzfile.Section{
		From: gzfile.Point{Header: true}, To: point(first), Src: p, Checks: limits.Checks,
		Buf: make([]byte, gzfile.SectionWindow+slack),
	}
	if err := d.Decode(&s); err != nil {
		return err
	}
	if len(s.Buf) > gzfile.SectionWindow {
		return stale("has no checkpoint at the first content")
	}
	return nil
}

// stale returns an error about an index that does not belong to the file.
func stale(format string, args ...any) error {
	e := errs.New(errs.Corrupt, fmt.Sprintf("the index "+format, args...))
	e.Part = errs.PartIndex
	return e
}

// misfit returns the error for a file that cannot be decoded as its index says.
func misfit(err error) error {
	e, ok := err.(*errs.Error)
	if !ok || e.Part == errs.PartIndex || e.Kind == errs.TooLarge || e.Kind == errs.Memory {
		return err
	}
	return &errs.Error{
		Kind: errs.Corrupt, Part: errs.PartIndex, Block: -1, Offset: e.Offset, Err: e,
		Detail: "the index does not fit the file, or the file is damaged",
	}
}
