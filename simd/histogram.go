package simd

import "encoding/binary"

// Histogram counts bytes. The processor can increment a counter in memory only after the previous
// increment of the same counter, so a run of equal bytes would wait for itself. Several banks of
// 256 counters take turns for that reason: four in the portable twin, eight in the kernel. The
// kernel reads 16 bytes a step and adds up the banks with vectors.

// Histogram adds to counts[c] the number of bytes c in p, for each c. Counters wrap at 2³².
func Histogram(counts *[256]uint32, p []byte) {
	if !histogramKernel(counts, p) {
		histogram(counts, p)
	}
}

// minBanksBytes is the least size in bytes at which banks pay: it takes 200 ns to clear them and to
// add them up.
const minBanksBytes = 256

// histogram is the portable twin of the kernel.
func histogram(counts *[256]uint32, p []byte) {
	if len(p) < minBanksBytes {
		for _, c := range p {
			counts[c]++
		}
		return
	}
	var b1, b2, b3 [256]uint32
	for len(p) >= 8 {
		v := binary.LittleEndian.Uint64(p)
		counts[byte(v)]++
		b1[byte(v>>8)]++
		b2[byte(v>>16)]++
		b3[byte(v>>24)]++
		counts[byte(v>>32)]++
		b1[byte(v>>40)]++
		b2[byte(v>>48)]++
		b3[byte(v>>56)]++
		p = p[8:]
	}
	for _, c := range p {
		counts[c]++
	}
	for i := range counts {
		counts[i] += b1[i] + b2[i] + b3[i]
	}
}
