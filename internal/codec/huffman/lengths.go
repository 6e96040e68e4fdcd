package huffman

import "math/bits"

// Builder finds code lengths. The zero value is ready to use. It is scratch memory of about 50 KB
// for any number of codes. A Builder must not be used concurrently.
type Builder struct {
	leaves  [2][MaxSymbols]leaf // source and destination of sort
	weights [MaxSymbols]uint32  // of the sorted leaves, then of the tree; see depths
	limited packages
	tree    treeCoder
}

// leaf is a symbol that occurs.
type leaf struct {
	count  uint32
	symbol uint32
}

// Lengths sets lens[i] to the code length of symbol i, 1 to limit bits, or to 0 if counts[i] is 0.
// No other prefix code within the limit gives a smaller total size. It returns the maximum length.
//
// The code is complete: the sum of 2^−length is 1. A single symbol gets a code of one bit, which
// leaves the other one unused. There may be at most MaxSymbols symbols, and the counts must sum to
// less than 2³². limit must be at most MaxBits, and 1<<limit at least the number of symbols that
// occur.
func (b *Builder) Lengths(lens []uint8, counts []uint32, limit int) int {
	lens = lens[:len(counts)]
	sorted := b.sort(counts)
	clear(lens)
	n := len(sorted)
	switch {
	case limit < 1 || limit > MaxBits || n > 1<<limit:
		panic("huffman: limit out of range")
	case n == 0:
		return 0
	case n == 1:
		lens[sorted[0].symbol] = 1
		return 1
	}
	var num [MaxSymbols]uint16 // number of codes of each length
	longest := b.depths(sorted, &num)
	if longest > limit {
		b.limited.pack(sorted, limit)
		longest = b.limited.depths(n, &num, limit)
	}
	setLengths(lens, sorted, &num, longest)
	return longest
}

// setLengths sets the lengths of the sorted symbols, given the number of codes of each length. The
// rarest symbols have the longest codes.
func setLengths(lens []uint8, sorted []leaf, num *[MaxSymbols]uint16, longest int) {
	for l, i := longest, 0; l > 0; l-- {
		for _, s := range sorted[i : i+int(num[l])] {
			lens[s.symbol] = uint8(l)
		}
		i += int(num[l])
	}
}

// sort returns the symbols that occur, sorted by count, then by symbol.
func (b *Builder) sort(counts []uint32) []leaf {
	n, maxCount := 0, uint32(0)
	from, to := &b.leaves[0], &b.leaves[1]
	for i, c := range counts {
		from[n] = leaf{c, uint32(i)}
		n += int((c | -c) >> 31) // 1 unless c is 0; a branch would be hard to predict
		maxCount = max(maxCount, c)
	}
	if n <= fewLeaves {
		sortFew(from[:n])
		return from[:n]
	}
	// Radix sort by the bytes of the count, lowest byte first.
	for shift := 0; shift < bits.Len32(maxCount); shift += 8 {
		var start [257]uint16
		for i := range from[:n] {
			start[int(byte(from[i].count>>shift))+1]++
		}
		sum := uint16(0)
		for i := range start[:min(maxCount>>shift, 255)+1] {
			sum += start[i]
			start[i] = sum
		}
		for _, l := range from[:n] {
			p := &start[byte(l.count>>shift)]
			to[*p] = l
			*p++
		}
		from, to = to, from
	}
	return from[:n]
}

// fewLeaves is the number of leaves up to which sortFew takes less time than a radix sort.
const fewLeaves = 20

// sortFew sorts leaves by count and keeps the order of equal ones. It is an insertion sort.
func sortFew(leaves []leaf) {
	for i, l := range leaves {
		for ; i > 0 && leaves[i-1].count > l.count; i-- {
			leaves[i] = leaves[i-1]
		}
		leaves[i] = l
	}
}

// depths counts the leaves at each depth of a Huffman tree and returns the maximum depth. There
// must be at least two leaves.
//
// It uses the in-place method of Moffat and Katajainen (In-Place Calculation of Minimum-Redundancy
// Codes, 1995). w holds in turn the weights of leaves, the weights of inner nodes, their parents,
// and their depths. Each overwrites from the front what is no longer needed. Of a leaf and an inner
// node of equal weight it takes the leaf first, which minimises the depth.
func (b *Builder) depths(sorted []leaf, num *[MaxSymbols]uint16) int {
	n := len(sorted)
	w := b.weights[:n]
	for i := range w {
		w[i] = sorted[i].count
	}
	w[0] += w[1]
	root, next := 0, 2 // first inner node without a parent, and first unused leaf
	for node := 1; node < n-1; node++ {
		sum := uint32(0)
		for range 2 {
			if next < n && (root >= node || w[next] <= w[root]) {
				sum += w[next]
				next++
			} else {
				sum += w[root]
				w[root] = uint32(node)
				root++
			}
		}
		w[node] = sum
	}
	// A depth has twice as many nodes as the depth above has inner nodes. Those that are not inner
	// nodes are leaves.
	var inner [MaxSymbols + 1]uint16
	w[n-2], inner[0] = 0, 1
	for i := n - 3; i >= 0; i-- {
		w[i] = w[w[i]] + 1
		inner[w[i]]++
	}
	deepest := int(w[0]) + 1
	for d := 1; d <= deepest; d++ {
		num[d] = 2*inner[d-1] - inner[d]
	}
	return deepest
}
