package kernels

// CheapestTables is a step of clustering: it assigns each context of a context-coded stream to the
// frequency table that codes its symbols in the fewest bits. The size with a table is a sum over
// the symbols of the context: count times price.
//
// The prices of a symbol for all tables are contiguous. The kernel takes two symbols a step. It
// interleaves their prices, so that VPMADDWD multiplies both by their counts and adds the products,
// for 8 tables an instruction. The portable twin multiplies the prices of two tables at once, in
// the halves of a word.

// CtxPrices holds the price of each symbol for each table. Word w of a symbol has the prices of
// tables 4w to 4w+3, 16 bits each, the lowest table in the lowest bits. A price is at most
// MaxCtxPrice.
type CtxPrices [256][MaxCtxTables / 4]uint64

const (
	// MaxCtxPrice is the greatest price.
	MaxCtxPrice = 1<<15 - 1
	// MaxCtxCount bounds the sum of the counts of a context. A size then fits 31 bits.
	MaxCtxCount = 1<<15 + 1<<8
)

// CheapestTables sets tables[c] to the cheapest table for each context c, the first one of several.
// Context c has the symbols from ends[c−1], or 0 for c = 0, to ends[c], with their counts. The
// number of its symbols is even. counts are below 1<<15 and those of a context sum to at most
// MaxCtxCount.
//
// It panics if ends is shorter than tables, if an entry of ends is odd, below the one before or
// beyond symbols or counts.
func CheapestTables(
	tables []uint8, ends []uint32, symbols []uint8, counts []uint16, prices *CtxPrices,
) {
	before, ok := uint32(0), len(ends) >= len(tables)
	if ok {
		for _, end := range ends[:len(tables)] {
			ok = ok && end >= before && end%2 == 0
			before = end
		}
	}
	if !ok || uint64(before) > uint64(min(len(symbols), len(counts))) {
		panic("kernels: CheapestTables out of range")
	}
	symbols, counts = symbols[:before], counts[:before]
	if !cheapestTablesKernel(tables, ends, symbols, counts, prices) {
		cheapestTables(tables, ends, symbols, counts, prices)
	}
}

// cheapestTables is the portable twin of CheapestTables.
func cheapestTables(
	tables []uint8, ends []uint32, symbols []uint8, counts []uint16, prices *CtxPrices,
) {
	const low = 0x0000ffff_0000ffff
	begin := uint32(0)
	for c := range tables {
		own := symbols[begin:ends[c]]
		n := counts[begin:ends[c]]
		n = n[:len(own)]
		begin = ends[c]
		best, lowest := 0, ^uint64(0)
		for w := 0; w < len(prices[0]); w += 2 {
			// sizes with tables 4w and 4w+2, 4w+1 and 4w+3; the same from 4w+4 on
			var even, odd, even4, odd4 uint64
			//pz:nobce
			for i, s := range own {
				row, n := &prices[s], uint64(n[i])
				p, q := row[w&6], row[w&6+1]
				even += p & low * n
				odd += p >> 16 & low * n
				even4 += q & low * n
				odd4 += q >> 16 & low * n
			}
			for k, size := range [...]uint64{
				even & (1<<32 - 1), odd & (1<<32 - 1), even >> 32, odd >> 32,
				even4 & (1<<32 - 1), odd4 & (1<<32 - 1), even4 >> 32, odd4 >> 32,
			} {
				if size < lowest {
					best, lowest = 4*w+k, size
				}
			}
		}
		tables[c] = uint8(best)
	}
}

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
