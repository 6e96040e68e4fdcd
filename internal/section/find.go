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
