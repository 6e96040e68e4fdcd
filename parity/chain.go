package parity

import (
	"bytes"
	"slices"
)

// chain returns the sections of a file in which all are in place, from their footers and first
// packets. It returns nil if that is not so.
func (f *file) chain() ([]*section, error) {
	var list []*section
	for end := f.size; end > 0; {
		s, err := f.sectionBefore(end)
		if s == nil || err != nil {
			return nil, err
		}
		if len(list) == 0 && !s.last {
			return nil, nil
		}
		if len(list) > 0 {
			next := int64(0)
			if !s.last {
				next = s.geometry.endOffset()
			}
			if list[len(list)-1].offset != next {
				return nil, nil
			}
		}
		list = append(list, s)
		end = s.start
	}
	if len(list) == 0 || list[len(list)-1].offset != 0 {
		return nil, nil
	}
	slices.Reverse(list)
	return list, nil
}

// sectionBefore returns the section that ends at end, or nil if none does. Of its packets it looks
// at the header of the first one.
func (f *file) sectionBefore(end int64) (*section, error) {
	if end < footerSize+headerSize+pzHeaderSize {
		return nil, nil
	}
	buf := make([]byte, footerSize)
	if _, err := f.read(buf, end-footerSize); err != nil {
		return nil, err
	}
	size, ok := parseFooter(buf)
	begin := end - size
	if !ok || begin <= 0 || size < footerSize+headerSize+pzHeaderSize {
		return nil, nil
	}
	buf = make([]byte, pzHeaderSize+headerSize)
	if _, err := f.read(buf, begin); err != nil {
		return nil, err
	}
	for _, frame := range []frame{framePZ, frameZstd} {
		h, ok := parsePacketHeader(buf[frame.headerSize():])
		if !ok || h.frame != frame || h.number != 0 || h.sectionSize() != size ||
			!bytes.HasPrefix(buf, frame.appendHeader(nil, size)) || begin < int64(h.size) {
			continue
		}
		lo := begin - int64(h.size)
		s := newSection(h.geometry, packet{lo + h.place(0), 0}, &pool{assumed: true})
		s.lo, s.after, s.hi, s.pinned = lo, lo, end, true
		return s, nil
	}
	return nil, nil
}

// section looks again for the packets of a section that was in place. It returns nil if there are
// none.
func (f *file) section(s *section) (*section, error) {
	list, err := f.sections(max(0, s.beginOffset()), s.hi)
	if err != nil {
		return nil, err
	}
	var best *section
	for _, found := range list {
		if found.geometry == s.geometry && (best == nil || found.count > best.count) {
			best = found
		}
	}
	if best != nil {
		best.lo, best.after, best.hi, best.pinned = s.lo, s.after, s.hi, s.pinned
	}
	return best, nil
}
