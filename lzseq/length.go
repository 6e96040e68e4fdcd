package lzseq

import (
	"encoding/binary"
	"slices"
)

// Lengths that a token has no room for go into a stream of their own, less what the token says: one byte, or
// 255 and four bytes.

func appendLength(dst []byte, n uint32) []byte {
	if n < 255 {
		return append(dst, byte(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 255), n)
}

// length reads what appendLength wrote at place *at.
func length(src []byte, at *int) (n uint32, ok bool) {
	if *at >= len(src) {
		return 0, false
	}
	n = uint32(src[*at])
	*at++
	if n == 255 {
		if len(src)-*at < 4 {
			return 0, false
		}
		n = binary.LittleEndian.Uint32(src[*at:])
		*at += 4
		return n, n >= 255 && n < 1<<30
	}
	return n, true
}

// appendLong is appendLength for a stream that is longer than what is in it so far, n bytes: what it returns has room for so many lengths of
// one byte behind, and is n bytes full. It is rare, and not to take registers from a loop.
//
//go:noinline
func appendLong(p []byte, n int, v uint32, room int) ([]byte, int) {
	p = appendLength(p[:n], v)
	n = len(p)
	return slices.Grow(p, room)[:n+room], n
}
