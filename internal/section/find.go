package section

import (
	"bytes"
	"io"
)

// Find returns where the section of parity begins that ends at pos with damage, or is cut off
// there. The header of a packet in its last bytes tells. Find returns pos if there is none.
func Find(src io.ReaderAt, pos int64, zstd bool) int64 {
	// The first size has the last packets of most sections, the second one any packet.
	for _, size := range []int64{4 << 10, 72 << 10} {
		tail := make([]byte, min(pos, size))
		at := pos - int64(len(tail))
		if n, _ := src.ReadAt(tail, at); n < len(tail) {
			return pos
		}
		for len(tail) > 0 {
			i := max(0, bytes.LastIndex(tail, []byte(PacketMagic)))
			h, ok := ParsePacket(tail[i:])
			if ok && h.Zstd == zstd {
				begin := at + int64(i) + int64(h.Size) - h.Place(h.Number)
				if begin > 0 && pos <= begin+h.SectionSize() {
					return begin
				}
			}
			tail = tail[:i]
		}
	}
	return pos
}

// Check looks at the ends of the section of parity from begin to end: its header, its footer, and
// its first and last packets. intact says that all are, and z is what they state of the zone. found
// says that something shows that this is a section of parity.
func Check(src io.ReaderAt, begin, end int64) (z Zone, found, intact bool) {
	read := func(at int64, size int) []byte {
		p := make([]byte, size)
		if n, _ := src.ReadAt(p, at); n < size {
			return nil
		}
		return p
	}
	size, footer := ParseFooter(read(end-FooterSize, FooterSize))
	head := read(begin, HeaderSize+PacketHeaderSize)
	found = footer || bytes.Contains(head, []byte(PacketMagic))
	for _, frame := range []Zone{{}, {Zstd: true}} {
		h, ok := ParsePacket(head[min(len(head), frame.HeaderSize()):])
		if !ok || h.SectionSize() != end-begin || !bytes.HasPrefix(head, h.AppendHeader(nil)) {
			continue
		}
		for _, number := range []int{0, h.Packets() - 1} {
			p := read(begin+h.Place(number)-int64(h.Size), h.PacketSize(number))
			packet, ok := ParsePacket(p)
			if ok {
				_, ok = packet.Body(p)
			}
			if !ok || packet.Zone != h.Zone || packet.Number != number {
				return z, found, false
			}
		}
		return h.Zone, found, footer && size == end-begin
	}
	return z, found, false
}
