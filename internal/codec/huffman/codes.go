package huffman

import "math/bits"

// AssignDeflate sets codes[i] to Deflate's code of symbol i with length lens[i] (RFC 1951, section
// 3.2.2). The lengths must be at most MaxBits and those of a prefix code. len(codes) must be
// len(lens).
func AssignDeflate(codes []Code, lens []uint8) {
	// Two counters for each length, since an increment waits for the one before of the same
	// counter.
	var next, odd [MaxBits + 1]uint16
	for i := 0; i+1 < len(lens); i += 2 {
		next[lens[i]]++
		odd[lens[i+1]]++
	}
	if n := len(lens); n%2 != 0 {
		next[lens[n-1]]++
	}
	next[0], odd[0] = 0, 0
	code := uint16(0)
	for l, n := range next {
		next[l] = code
		code = (code + n + odd[l]) << 1
	}
	for i, l := range lens {
		if l == 0 {
			codes[i] = 0
			continue
		}
		codes[i] = MakeCode(uint64(bits.Reverse16(next[l])>>(16-l)), uint(l))
		next[l]++
	}
}

// AssignZstd sets codes[i] to zstd's code of symbol i with length lens[i] (RFC 8878, section
// 4.2.1.3). The conditions of AssignDeflate apply, and the code must be complete.
func AssignZstd(codes []Code, lens []uint8) {
	var next [MaxBits + 1]uint16
	for _, l := range lens {
		next[l]++
	}
	// The codes of a length begin where the prefixes of the longer ones end.
	code := uint16(0)
	for l := MaxBits; l > 0; l-- {
		n := next[l]
		next[l] = code
		code = (code + n) >> 1
	}
	for i, l := range lens {
		if l == 0 {
			codes[i] = 0
			continue
		}
		codes[i] = MakeCode(uint64(next[l]), uint(l))
		next[l]++
	}
}
