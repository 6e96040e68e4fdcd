package zstd

import (
	"encoding/binary"
	"math"
)

// frameMagic begins every frame that is not skippable.
const frameMagic = 0xFD2FB528

// FrameHeader is the header of a frame (RFC 8878, section 3.1.1.1).
type FrameHeader struct {
	Size     int   // of the header in bytes
	Window   int64 // largest offset in bytes
	Content  int64 // size of the content in bytes, -1 if the header does not state it
	Checksum bool  // a checksum follows the last block
}

// ParseFrameHeader reads the header of a frame without a dictionary from the front of p. All errors
// are a CorruptError.
func ParseFrameHeader(p []byte) (h FrameHeader, err error) {
	const errShort = CorruptError("frame header cut short")
	switch {
	case len(p) < 5:
		return h, errShort
	case binary.LittleEndian.Uint32(p) != frameMagic:
		return h, CorruptError("no frame begins here")
	}
	d := p[4]
	single := d&(1<<5) != 0
	if d&(1<<3) != 0 {
		return h, CorruptError("reserved bit of the frame header")
	}
	dictionary, content := [4]int{0, 1, 2, 4}[d&3], [4]int{0, 2, 4, 8}[d>>6]
	if single && content == 0 {
		content = 1
	}
	at := 5
	if !single {
		at++
	}
	h = FrameHeader{Size: at + dictionary + content, Content: -1, Checksum: d&(1<<2) != 0}
	if len(p) < h.Size {
		return h, errShort
	}
	if !single {
		h.Window = int64(1) << (10 + p[5]>>3)
		h.Window += h.Window / 8 * int64(p[5]&7)
	}
	if littleEndian(p[at:at+dictionary]) != 0 {
		return h, CorruptError("frame with a dictionary")
	}
	if content > 0 {
		v := littleEndian(p[at+dictionary : h.Size])
		if content == 2 {
			v += 256
		}
		if v > math.MaxInt64 {
			return h, CorruptError("content size out of range")
		}
		h.Content = int64(v)
	}
	if single {
		h.Window = h.Content
	}
	return h, nil
}

// DecodeFrame decodes the frame src, which must be exactly one, into dst and returns the size of
// the content. It may overwrite all of dst, and is fastest with DecodeSlack bytes behind the
// content. With check set it compares the checksum, if there is one, and returns ErrChecksum if it
// differs. All other errors are a CorruptError.
func (d *Decoder) DecodeFrame(dst, src []byte, check bool) (size int, err error) {
	h, err := ParseFrameHeader(src)
	if err != nil {
		return 0, err
	}
	d.Reset(h.Window)
	src = src[h.Size:]
	if check = check && h.Checksum; check {
		d.hash.Reset()
	}
	at := 0
	for last := false; !last; {
		var end, used int
		if end, used, last, err = d.Block(dst, at, src); err != nil {
			return 0, err
		}
		if check {
			d.hash.Write(dst[at:end]) // while it is in the cache
		}
		at, src = end, src[used:]
	}
	if h.Content >= 0 && h.Content != int64(at) {
		return 0, CorruptError("content of another size than the frame header states")
	}
	tail := 0
	if h.Checksum {
		tail = 4
	}
	switch {
	case len(src) < tail:
		return 0, CorruptError("checksum cut short")
	case len(src) > tail:
		return 0, CorruptError("bytes behind the frame")
	case check && binary.LittleEndian.Uint32(src) != uint32(d.hash.Sum64()):
		return 0, ErrChecksum
	}
	return at, nil
}
