package x86

import (
	"encoding/binary"
	"errors"
)

// The format of ranges is their number as a varint, at least 1. For each range two varints follow,
// in order of position: the gap to the previous range or to the beginning of the block, and the
// length, both in bytes.

// ErrRanges reports invalid ranges.
var ErrRanges = errors.New("x86: invalid ranges")

// Ranges splits src into the ranges of a block of size bytes and the rest. The returned ranges are
// valid. Both results refer to src.
func Ranges(src []byte, size int) (ranges, rest []byte, err error) {
	rest = src
	n, ok := number(&rest)
	if !ok || n == 0 {
		return nil, nil, ErrRanges
	}
	left := uint64(size)
	for ; n > 0; n-- {
		gap, _ := number(&rest)
		length, ok := number(&rest)
		if !ok || length == 0 || gap+length > left {
			return nil, nil, ErrRanges
		}
		left -= gap + length
	}
	return src[:len(src)-len(rest)], rest, nil
}

// number reads a varint below 2³² from the front of *p and advances it.
func number(p *[]byte) (v uint64, ok bool) {
	v, n := binary.Uvarint((*p)[:min(len(*p), binary.MaxVarintLen32)])
	if n <= 0 || v >= 1<<32 {
		*p = nil
		return 0, false
	}
	*p = (*p)[n:]
	return v, true
}

// Encode filters the content of a block in place. The ranges must come from a [Chooser] or from
// [Ranges] for a block of that size. Encode calls checkpoint, unless it is nil, after at most 256
// KiB of content. checkpoint may panic; the content is then filtered in part.
func Encode(content, ranges []byte, checkpoint func()) {
	forRanges(content, ranges, encode, checkpoint)
}

// Decode undoes [Encode] in place. The content may be anything. Checkpoint is as for Encode.
func Decode(content, ranges []byte, checkpoint func()) {
	forRanges(content, ranges, decode, checkpoint)
}

func forRanges(content, ranges []byte, do func(p []byte, checkpoint func()), checkpoint func()) {
	for n, _ := number(&ranges); n > 0; n-- {
		gap, _ := number(&ranges)
		length, _ := number(&ranges)
		do(content[gap:][:length], checkpoint)
		content = content[gap+length:]
	}
}
