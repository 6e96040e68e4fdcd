package simd

// Fill sets every byte of p to c. It has no kernel: copy doubles the filled part each time, and the
// standard library's copy uses vectors.
func Fill(p []byte, c byte) {
	if len(p) == 0 {
		return
	}
	p[0] = c
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
