package kernels

// NonZero returns the set of symbols whose counts are not 0: bit s mod 64 of word s/64 stands for
// symbol s. The kernel compares eight counts an instruction.
func NonZero(counts *[256]uint32) (set [4]uint64) {
	if !nonZeroKernel(&set, counts) {
		set = nonZero(counts)
	}
	return set
}

// nonZero is the portable twin of NonZero.
func nonZero(counts *[256]uint32) (set [4]uint64) {
	for k := range set {
		w := uint64(0)
		for _, n := range counts[64*k:][:64] {
			w = w>>1 | uint64(n|-n)>>31<<63 // the sign bit of n or −n is 1 unless n is 0
		}
		set[k] = w
	}
	return set
}
