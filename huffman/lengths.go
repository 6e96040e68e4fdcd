package huffman

import "math/bits"

// Builder finds the lengths of codes. The zero value is ready; it is scratch memory, some 50 KB, that
// any number of codes can be made with. It is not safe for concurrent use.
type Builder struct {
	leaves  [2][MaxSymbols]leaf // sorted from one to the other and back
	weights [MaxSymbols]uint32  // of the leaves in order, then the tree; see depths
	merge   packages
	used    int // symbols that occurred the last time
	tree    treeCoder
}

// leaf is a symbol that occurs.
type leaf struct {
	count  uint32
	symbol uint32
}

// Lengths sets lens[i] to the length in bits, 1 … limit, of the code of symbol i, which occurs counts[i] times; 0 if that is 0.
// No other prefix code without longer codes makes the symbols take fewer bits together. It returns the length of the longest code.
//
// The code is complete: the sum of 2^−length is 1. A symbol that is alone has a code of one bit, which leaves another one free.
// There are at most MaxSymbols symbols, their counts sum to less than 2³², limit is at most MaxBits, and 1<<limit is not less than
// the number of symbols that occur.
func (b *Builder) Lengths(lens []uint8, counts []uint32, limit int) int {
	lens = lens[:len(counts)]
	sorted := b.sort(counts)
	clear(lens)
	n := len(sorted)
	b.used = n
	switch {
	case limit < 1 || limit > MaxBits || n > 1<<limit:
		panic("huffman: limit out of range")
	case n == 0:
		return 0
	case n == 1:
		lens[sorted[0].symbol] = 1
		return 1
	}
	var num [MaxSymbols]uint16 // symbols with codes of each length
	longest := b.depths(sorted, &num)
	if longest > limit {
		longest = b.merge.depths(sorted, &num, limit)
	}
	// The rarest symbols have the longest codes.
	for l, i := longest, 0; l > 0; l-- {
		for range num[l] {
			lens[sorted[i].symbol] = uint8(l)
			i++
		}
	}
	return longest
}

// sort returns the symbols that occur, the rarest first, those that occur equally often in order.
func (b *Builder) sort(counts []uint32) []leaf {
	n, most := 0, uint32(0)
	from, to := &b.leaves[0], &b.leaves[1]
	for i, c := range counts {
		if c != 0 {
			from[n] = leaf{c, uint32(i)}
			n++
			most = max(most, c)
		}
	}
	// By one byte of the count after the other, from the lowest up.
	for shift := 0; shift < bits.Len32(most); shift += 8 {
		var start [257]uint16
		for i := range from[:n] {
			start[int(byte(from[i].count>>shift))+1]++
		}
		sum := uint16(0)
		for i := range start {
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

// depths counts the leaves at each depth of a Huffman tree and returns the greatest depth. There are two leaves at least.
//
// This is the method of Moffat and Katajainen (In-place calculation of minimum-redundancy codes, 1995): w holds the weights
// of leaves, then those of inner nodes, then their parents, then their depths, each from the front on, where what was there is not
// needed any more. Of a leaf and an inner node of equal weight the leaf is taken first, which makes the tree as low as it can be.
func (b *Builder) depths(sorted []leaf, num *[MaxSymbols]uint16) int {
	n := len(sorted)
	w := b.weights[:n]
	for i := range w {
		w[i] = sorted[i].count
	}
	w[0] += w[1]
	root, next := 0, 2 // the first inner node without a parent, and the first leaf
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
	// Of the nodes at a depth, of which there are twice as many as inner nodes above it, those that are not inner nodes are leaves.
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
