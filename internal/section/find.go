package section

import (
	"bytes"
	"io"
	"iter"
)

// reach is how many bytes are searched for the header of a packet: a few, which have one of most
// sections, and as many as have one of any.
var reach = []int64{4 << 10, MaxPacket + PacketHeaderSize + FooterSize}

// Find returns where the section of parity of a .pz file begins that ends at pos with damage, or is
// cut off there. The header of a packet in its last bytes tells. Find returns pos if there is none.
func Find(src io.ReaderAt, pos int64) int64 {
	for _, size := range reach {
		for begin, h := range headers(src, max(0, pos-size), pos) {
			if !h.Zstd && begin > 0 && pos <= begin+h.SectionSize() {
				return begin
			}
		}
	}
	return pos
}

// SizeAt returns the size of the section of parity of a .zst file that begins at an offset, whose
// header may be damaged. It returns 0 if there is none.
func SizeAt(src io.ReaderAt, at int64) int64 {
	for _, size := range reach {
		for begin, h := range headers(src, at, at+size) {
			if h.Zstd && begin == at {
				return h.SectionSize()
			}
		}
	}
	return 0
}

// headers goes through the headers of packets from lo to hi, the last one first. begin is where
// the section of each begins.
func headers(src io.ReaderAt, lo, hi int64) iter.Seq2[int64, Packet] {
	return func(yield func(begin int64, h Packet) bool) {
		p := make([]byte, hi-lo)
		n, err := src.ReadAt(p, lo)
		if err != nil && err != io.EOF {
			return
		}
		for p = p[:n]; len(p) > 0; {
			i := max(0, bytes.LastIndex(p, []byte(PacketMagic)))
			h, ok := ParsePacket(p[i:])
			if ok && !yield(lo+int64(i)+int64(h.Size)-h.Place(h.Number), h) {
				return
			}
			p = p[:i]
		}
	}
}

// Check looks at the ends of the section of parity from begin to end: its header, that of its first
// packet, and its footer. intact says that they are, and z is what they state of the zone. found
// says that something shows that this is a section of parity.
func Check(src io.ReaderAt, begin, end int64) (z Zone, found, intact bool) {
	head, foot := make([]byte, HeaderSize+PacketHeaderSize), make([]byte, FooterSize)
	src.ReadAt(head, max(0, begin)) // what cannot be read stays zeros
	src.ReadAt(foot, max(0, end-FooterSize))
	size, footer := ParseFooter(foot)
	i := bytes.Index(head, []byte(PacketMagic))
	if i < 0 {
		return z, footer, false
	}
	h, ok := ParsePacket(head[i:])
	intact = ok && footer && size == end-begin && size == h.SectionSize() && h.Number == 0 &&
		bytes.Equal(head[:i], h.AppendHeader(nil))
	return h.Zone, true, intact
}
