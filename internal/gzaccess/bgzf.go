package gzaccess

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// BGZF files consist of members with at most 64 KiB of content. A subfield of a member's header
// states the member's size. The specification of SAM describes the format, in section 4.1.
const (
	bgzfContent = 64 << 10 // most content of a member, in bytes
	bgzfHeader  = 64       // how much of a member is read to find the subfield, in bytes
	bgzfEnd     = 13       // bytes of the longest of emptyEnds
	sizeField   = 4        // bytes of the content's size at the end of a member
	subfield    = 4        // bytes of a subfield's header
)

// emptyEnds are the ends of members without content behind their headers: a static block without
// symbols, as bgzip has it, or a stored block without bytes, as package compress/gzip has it.
var emptyEnds = []string{
	"\x03\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00",
	"\x01\x00\x00\xff\xff" + "\x00\x00\x00\x00\x00\x00\x00\x00",
}

// makeBGZF makes the Map of a BGZF file. It reads only the headers and trailers of members. It
// returns nil if it cannot go through the whole file so.
func makeBGZF(src io.ReaderAt, size int64, limits *container.Limits) (*Map, error) {
	m := maker{spacing: 1, most: pointsLimit(limits)}
	var buf [bgzfEnd + bgzfHeader]byte
	var at, content, last, head int64 // of the member; last is its size, head that of its header
	for members := 0; ; members++ {
		// The end of the member before comes with the beginning of this one.
		from := max(0, at-bgzfEnd)
		p := buf[:min(int64(len(buf)), size-from)]
		if err := container.ReadAt(src, p, from); err != nil {
			return nil, err
		}
		if at > 0 {
			end := p[:bgzfEnd]
			n := int64(binary.LittleEndian.Uint32(end[bgzfEnd-sizeField:]))
			if n > bgzfContent || n == 0 && !isEmpty(end, last-head) {
				return nil, nil
			}
			// Nothing begins at an empty member, such as the last one of a file.
			if len(m.points) == 0 || n > 0 {
				m.addCheckpoint(gzindex.Checkpoint{Bit: (at - last) * 8, Content: content, Header: true})
			}
			content += n
			p = p[bgzfEnd:]
		}
		if limits.TooLarge(0, content) {
			return nil, &errs.Error{
				Kind: errs.TooLarge, Part: errs.PartBlock, Stream: members - 1, Block: -1,
				Offset: at - last,
			}
		}
		if at == size {
			break
		}
		last, head = bgzfSize(p)
		if last == 0 || last > size-at {
			return nil, nil
		}
		at += last
	}
	x, err := newMap(size, content, m.points, nil)
	if x != nil {
		x.thin = m.thinned
	}
	return x, err
}

// isEmpty reports whether a member is of those without content that programs write. No block of the
// Map has such a member, so no one decodes it. end is its end, and rest the number of bytes behind
// its header.
func isEmpty(end []byte, rest int64) bool {
	return slices.ContainsFunc(emptyEnds, func(s string) bool {
		return rest == int64(len(s)) && bytes.HasSuffix(end, []byte(s))
	})
}

// bgzfSize returns the size of a member in bytes by the beginning of its header, 0 if that does not
// say, and the size of the header.
func bgzfSize(p []byte) (size, head int64) {
	h, headSize, err := gzfile.ParseHeader(p)
	if err != nil || h.HeaderCRC {
		return 0, 0
	}
	for f := h.Extra; len(f) >= subfield; {
		n := int(binary.LittleEndian.Uint16(f[2:]))
		if n > len(f)-subfield {
			return 0, 0
		}
		if f[0] == 'B' && f[1] == 'C' && n == 2 {
			size := int64(binary.LittleEndian.Uint16(f[subfield:])) + 1
			if least := gzfile.MinHeaderSize + 2 + len(h.Extra) + gzfile.TrailerSize; size < int64(least) {
				return 0, 0
			}
			return size, int64(headSize)
		}
		f = f[subfield+n:]
	}
	return 0, 0
}
