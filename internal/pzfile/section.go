package pzfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/section"
)

// section goes past the section whose header begins with p, in s.buf. Damage behind the header is
// no error.
func (s *Scanner) section(p []byte) error {
	if _, err := s.read(s.buf[len(p):section.HeaderSize], errs.PartHeader, -1); err != nil {
		return err
	}
	kind, size, err := section.ParseHeader(s.buf[:])
	switch {
	case errors.Is(err, section.ErrChecksum):
		return s.fail(errs.Checksum, errs.PartHeader, s.start, "section header checksum mismatch")
	case err != nil:
		return s.fail(errs.Corrupt, errs.PartHeader, s.start, "section header: "+err.Error())
	case !kind.Skippable(): // parity is
		return s.fail(errs.Version, errs.PartHeader, s.start, fmt.Sprintf("unknown section %d", kind))
	}
	if kind != section.Parity || !s.limits.ChecksSections() {
		return s.skip(size-section.HeaderSize, io.Discard)
	}
	var c section.Checker
	err = s.skip(size-section.HeaderSize, &c)
	s.limits.SawSection(err == nil && c.Intact())
	return err
}

// skip goes past n bytes and writes them to w.
func (s *Scanner) skip(n int64, w io.Writer) error {
	buf := make([]byte, min(n, smallPayload))
	for ; n > 0; n -= int64(len(buf)) {
		buf = buf[:min(n, int64(len(buf)))]
		if _, err := s.read(buf, errs.PartIndex, -1); err != nil {
			return err
		}
		w.Write(buf)
	}
	return nil
}

// sectionBefore returns the offset where the section that ends at pos begins, or pos if there is
// none that is intact at both ends. tail has the bytes in front of pos, at least those of a footer.
func sectionBefore(src io.ReaderAt, pos int64, tail []byte) (int64, error) {
	var p [section.HeaderSize]byte
	size, ok := section.ParseFooter(tail)
	if !ok || size < section.MinSize || size > pos {
		return pos, nil
	}
	if err := container.ReadAt(src, p[:], pos-size); err != nil {
		return 0, err
	}
	n, ok := sectionSize(p[:])
	switch kind := section.Kind(p[4]); {
	case !ok || n != size:
		return pos, nil
	case !kind.Skippable():
		return 0, errs.At(errs.Version, pos-size, fmt.Sprintf("unknown section %d", kind))
	}
	return pos - size, nil
}

// sectionSize returns the size of the section whose header p begins with. ok is false if there is
// none.
func sectionSize(p []byte) (size int64, ok bool) {
	if len(p) < section.HeaderSize || !section.IsHeader(p) {
		return 0, false
	}
	_, size, err := section.ParseHeader(p)
	return size, err == nil
}

// skipSections goes past the sections at pos.
func (s *search) skipSections() {
	for s.Err == nil {
		p := s.Peek(s.small[:section.HeaderSize], s.pos)
		size, ok := sectionSize(p)
		if !ok {
			return
		}
		end := s.pos + size
		switch kind := section.Kind(p[4]); {
		case !kind.Skippable():
			s.noteSection(index.DamageUnknown, fmt.Sprintf("unknown section %d", kind))
		case !s.sectionEnds(end, size):
			detail := "a section is damaged"
			if end > s.Size {
				detail = ""
			}
			s.noteSection(index.DamageFrame, detail)
			if c := s.find(s.pos+section.HeaderSize, end); c.at >= 0 {
				end = c.at // bytes are missing
			}
		}
		s.pos = min(end, s.Size)
	}
}

// noteSection notes what is wrong with the section at pos.
func (s *search) noteSection(kind index.DamageKind, detail string) {
	sound := s.wasSound(len(s.streams))
	s.begin(stream{first: len(s.found), start: s.pos, tail: -1, section: true, sound: sound})
	s.endBadly(kind, detail)
}

// sectionEnds reports whether a section of so many bytes ends at an offset.
func (s *search) sectionEnds(end, size int64) bool {
	p := s.Peek(s.small[:section.FooterSize], end-section.FooterSize)
	n, ok := section.ParseFooter(p)
	return ok && n == size
}

// beginsAt reports whether a stream or a section begins at off.
func (s *search) beginsAt(off int64) bool {
	_, isStream := s.headerAt(off)
	_, isSection := sectionSize(s.Peek(s.small[:section.HeaderSize], off))
	return isStream || isSection
}
