//go:build amd64 && !noasm

package simd

// The files *_amd64.go select the assembly for amd64: this one for bytes, lanes_amd64.go for rANS
// lanes, ctx_amd64.go for context-coded runs, tokens_amd64.go for sequences and their streams,
// parse_amd64.go, hashchain_amd64.go, pathcosts_amd64.go and tree_amd64.go for parsers. A function
// returns false if the portable twin is to do the work.

func prefetchKernel(table *byte, size int, at []uint32, mask uint32) {
	if current() != portable {
		prefetchEntries(table, size, at, mask)
	}
}

// matchLenKernel requires slices of equal length, of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	return matchLenAVX2(a, b), true
}

func markDisplacementsKernel(masks []uint64, p []byte) bool {
	if current() == portable {
		return false
	}
	for len(masks) > 0 {
		n := min(len(masks), maxCallBytes/64)
		markDisplacementsAVX2(masks[:n], p)
		masks, p = masks[n:], p[64*n:]
	}
	return true
}

// minHistogramBytes is the least number of bytes for the kernel, which has to clear and add up
// eight banks. From there on the kernel is at least 13% faster.
const minHistogramBytes = 512

func histogramKernel(counts *[256]uint32, p []byte) bool {
	if current() == portable || len(p) < minHistogramBytes {
		return false
	}
	for len(p) >= 16 {
		var banks [8][256]uint32
		n := min(len(p)&^15, maxCallBytes)
		histogramAVX2(counts, &banks, p[:n])
		p = p[n:]
	}
	for _, c := range p {
		counts[c]++
	}
	return true
}

const (
	// minFoldBytes is the least number of bytes for the folding kernel. Below it, its first and last
	// steps take as long as hash/crc32 does for everything.
	minFoldBytes = 1024
	// maxSerialBytes is the most bytes for the kernel that takes one word after the other. It is half
	// as fast as hash/crc32 there, but needs no table, which takes 0.2 ms to make.
	maxSerialBytes = 2048
)

// crc32cKernel returns the sum continued over the front of p, and the rest of p.
func crc32cKernel(sum uint32, p []byte) (uint32, []byte) {
	tier := current()
	if tier == avx512 && hasVPCLMULQDQ {
		for len(p) >= minFoldBytes {
			n := min(len(p)&^255, maxCallBytes)
			sum = ^crc32cAVX512(^sum, p[:n])
			p = p[n:]
		}
	}
	if tier != portable && len(p) <= maxSerialBytes {
		return ^crc32cAVX2(^sum, p), nil
	}
	return sum, p
}
