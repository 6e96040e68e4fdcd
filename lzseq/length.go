package lzseq

import (
	"encoding/binary"
	"slices"
)

// Lengths that exceed the field of a token continue in a stream of their own. A length is one byte,
// or 255 and four bytes, little-endian. Both forms exclude the part in the token.

func appendLength(dst []byte, n uint32) []byte {
	if n < 255 {
		return append(dst, byte(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 255), n)
}

// length reads a length at src[*at:] and advances *at.
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

// appendLong writes v at p[n:] as appendLength does. It returns p with room for that many one-byte
// lengths behind the new end, and the new end. It is not inlined, because it is rare and would take
// registers from a loop.
//
//go:noinline
func appendLong(p []byte, n int, v uint32, room int) ([]byte, int) {
	p = appendLength(p[:n], v)
	n = len(p)
	return slices.Grow(p, room)[:n+room], n
}
