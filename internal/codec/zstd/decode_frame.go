package zstd

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/zstframe"
)

// DecodeFrame decodes the frame src, which must be exactly one, into dst and returns the size of
// the content. It may overwrite all of dst, and is fastest with DecodeSlack bytes behind the
// content. dict is the dictionary of the frame, nil for none. With check set DecodeFrame compares
// the checksum, if there is one, and returns ErrChecksum if it differs. All other errors are a
// CorruptError. With an error size is the content of the blocks that were decoded, which no
// checksum confirms.
func (d *Decoder) DecodeFrame(dst, src []byte, dict *Dictionary, check bool) (size int, err error) {
	h, n, err := zstframe.ParseHeader(src)
	switch {
	case err != nil:
		return 0, CorruptError("frame header: " + err.Error())
	case !dict.Serves(h.Dictionary):
		return 0, CorruptError("frame with another dictionary")
	}
	d.Reset(h.Window, dict)
	src = src[n:]
	if check = check && h.Checksum; check {
		d.hash.Reset()
	}
	at := 0
	for last := false; !last; {
		var end, used int
		end, used, last, err = d.Block(dst, at, src)
		if err != nil {
			return at, err
		}
		if check {
			d.hash.Write(dst[at:end]) // while it is in the cache
		}
		at, src = end, src[used:]
		if d.Checkpoint != nil {
			d.Checkpoint()
		}
	}
	if h.ContentSize >= 0 && h.ContentSize != int64(at) {
		return at, CorruptError("content of another size than the frame header states")
	}
	tail := 0
	if h.Checksum {
		tail = zstframe.ChecksumSize
	}
	switch {
	case len(src) < tail:
		return at, CorruptError("checksum cut short")
	case len(src) > tail:
		return at, CorruptError("bytes behind the frame")
	case check && binary.LittleEndian.Uint32(src) != uint32(d.hash.Sum64()):
		return at, ErrChecksum
	}
	return at, nil
}
