// Package pieces copies, compares and clears large memory with checkpoints.
//
// Each function calls checkpoint, unless that is nil, between pieces of at most Size bytes, on the
// goroutine of its caller. checkpoint may block. It may panic to abandon the work, which is then
// done in part.
package pieces

import "bytes"

// Size is the number of bytes of a piece. A piece takes up to 2 ms where the memory is new to the
// process.
const Size = 2 << 20

// First returns the first piece of p and the rest.
func First(p []byte) (piece, rest []byte) {
	n := min(len(p), Size)
	return p[:n], p[n:]
}

// Append appends p to dst. It copies p at once if dst has to grow.
func Append(dst, p []byte, checkpoint func()) []byte {
	for len(p) > Size && checkpoint != nil && cap(dst)-len(dst) >= len(p) {
		dst, p = append(dst, p[:Size]...), p[Size:]
		checkpoint()
	}
	return append(dst, p...)
}

// Copy copies src to the front of dst, which is at least as long.
func Copy(dst, src []byte, checkpoint func()) {
	for len(src) > Size && checkpoint != nil {
		copy(dst[:Size], src)
		dst, src = dst[Size:], src[Size:]
		checkpoint()
	}
	copy(dst[:len(src)], src)
}

// Clear clears p.
func Clear(p []byte, checkpoint func()) {
	for len(p) > Size && checkpoint != nil {
		clear(p[:Size])
		p = p[Size:]
		checkpoint()
	}
	clear(p)
}

// Equal reports whether a and b have the same length and content.
func Equal(a, b []byte, checkpoint func()) bool {
	if len(a) != len(b) {
		return false
	}
	for len(a) > Size && checkpoint != nil {
		if !bytes.Equal(a[:Size], b[:Size]) {
			return false
		}
		a, b = a[Size:], b[Size:]
		checkpoint()
	}
	return bytes.Equal(a, b)
}
