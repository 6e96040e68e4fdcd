package pzfile

// lastIndex is the index at the end of a file, with sections behind it or without.
type lastIndex struct {
	read  bool
	tail  int64 // offset of the end marker, −1 if there is no intact index
	units int64
}

// readLastIndex looks for the index at the end of the file.
func (s *search) readLastIndex() {
	s.last = lastIndex{read: true, tail: -1}
	for pos := s.Size; pos >= FooterSize; {
		p := s.Peek(s.small[:FooterSize], pos-FooterSize)
		if len(p) < FooterSize {
			return
		}
		before, err := sectionBefore(s.Src, pos, p)
		if err == nil && before < pos {
			pos = before
			continue
		}
		f, ferr := ParseFooter(p)
		if tail := pos - TailSize(f.Units); err == nil && ferr == nil && tail >= 0 &&
			s.checkTail(tail, f.Units) == nil {
			s.last.tail, s.last.units = tail, f.Units
		}
		return
	}
}

// isInLastIndex reports whether the index at the end of the file has an entry of c, and entries of
// the last blocks found of this stream.
func (s *search) isInLastIndex(c candidate) bool {
	if !s.last.read {
		s.readLastIndex()
	}
	if s.last.tail < 0 || len(s.File.Streams) == 0 {
		return false
	}
	s.walked += s.last.units
	st := s.File.Streams[len(s.File.Streams)-1] // the last row of blocks
	own, _, err := ParseBlockHeader(s.Peek(s.small[:BlockHeaderSize], c.at), &s.head, c.number)
	if err != nil || st.ID != s.id || c.number < st.Skipped+st.Blocks {
		return false
	}
	blocks := s.File.Blocks[st.First : st.First+st.Blocks]
	number, found := int64(-1), false
	s.eachEntry(s.last.tail, s.last.units, func(e Entry) bool {
		number++
		switch k := number - st.Skipped; {
		case number == c.number:
			found = e == own
			return false
		case k >= 0 && k < st.Blocks:
			return e.describes(blocks[k])
		}
		return true
	})
	return found
}
