package gzfile

import "encoding/binary"

// Subfield returns the first subfield of h.Extra with that name, without name and size. Extra data that is not made of subfields has those before the
// place where it goes wrong.
func (h *Header) Subfield(name string) (data []byte, ok bool) {
	for p := h.Extra; len(p) >= 4; {
		n := int(binary.LittleEndian.Uint16(p[2:]))
		if len(p)-4 < n {
			break
		}
		if string(p[:2]) == name {
			return p[4 : 4+n : 4+n], true
		}
		p = p[4+n:]
	}
	return nil, false
}

// MemberSize returns what the header of a BGZF file (SAM/BAM format specification, section 4.1) says of the size of its member, header and trailer included: 1 … 65,536 bytes. ok is false if
// this is the header of another sort of file. The size is as untrusted as everything else: it need not be more than that of the header.
func (h *Header) MemberSize() (size int, ok bool) {
	data, ok := h.Subfield("BC")
	if !ok || len(data) != 2 {
		return 0, false
	}
	return int(binary.LittleEndian.Uint16(data)) + 1, true
}
