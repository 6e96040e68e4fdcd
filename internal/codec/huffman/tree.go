package huffman

import (
	"math"
	"math/bits"

	"github.com/gopz/compress/fse"
)

// A description of a code consists of weights (RFC 8878, section 4.2.1). The weight of a byte is 0
// without a code, else the maximum code length plus one less the length of its code. The last byte
// with a code is left out: its weight follows from the others. The weights take four bits each, at
// most 128 of them, or are coded with two states of FSE, whichever is smaller.
const (
	// a first byte above this is 127 plus the number of weights of four bits; any other is the size
	// of the FSE code
	directBase = 127
	maxDirect  = 255 - directBase
	weightLog  = 6 // maximum accuracy log of weights
)

// treeCoder is the scratch memory for descriptions.
type treeCoder struct {
	fse     [2]fse.Encoder // one for each accuracy
	dist    fse.Distribution
	buf     [2][]byte // descriptions of the accuracies' tables
	weights [256]byte
	shapes  [2]shape
}

// A shape is a code without its bits: the length of each, and the number of codes of each length.
type shape struct {
	lens    [256]uint8
	num     [MaxSymbols]uint16
	longest int
	bits    uint64 // size of the bytes to be coded
}

// AppendTree appends the description of t, at most 128 bytes, to dst. It returns dst unchanged and
// false if there is none: zstd cannot describe a code of more than 128 bytes that all but one have
// the same length. Such a code would save nothing.
func (b *Builder) AppendTree(dst []byte, t *Table) (tree []byte, ok bool) {
	s := &b.tree.shapes[0]
	s.lens, s.longest, s.num = t.Lens(), int(t.max), [MaxSymbols]uint16{}
	for _, l := range s.lens {
		s.num[l]++
	}
	size, how := b.tree.size(s, int(t.used), true)
	if size == noTree {
		return dst, false
	}
	return b.tree.appendTree(dst, int(t.used)-1, how), true
}

// AppendBest sets t to a table for bytes with the given counts, and appends its description to dst.
// At least two counts must not be 0. size is the size of the bytes and the description. ok is
// false, and t undefined, if there is no description; see AppendTree.
//
// With thorough set, size is the minimum over all limits of the code's length if there are few
// bytes, and the description the smaller one of two. For 1 KiB of JSON
// that takes 5 µs in place of 1 µs, and a block of .zst is 0.5% smaller.
func (b *Builder) AppendBest(
	dst []byte, t *Table, counts *[256]uint32, thorough bool,
) (tree []byte, size uint64, ok bool) {
	sorted := b.sort(counts[:])
	total, used := uint64(0), 0
	for _, s := range sorted {
		total += uint64(s.count)
		used = max(used, int(s.symbol)+1)
	}
	c := &b.tree
	best, next := &c.shapes[0], &c.shapes[1]
	*best, *next = shape{}, shape{}
	best.longest = b.depths(sorted, &best.num)
	packed := best.longest > MaxTableBits
	if packed {
		b.limited.pack(sorted, MaxTableBits)
		best.longest = b.limited.depths(len(sorted), &best.num, MaxTableBits)
	}
	best.setLengths(sorted)
	at := len(dst)
	size = math.MaxUint64
	if n, how := c.size(best, used, thorough); n != noTree {
		size = best.bits/8 + uint64(n)
		dst = c.appendTree(dst, used-1, how)
	}
	if thorough && total < shallowFrom {
		// A lower limit may save more in the description than it costs in the codes.
		for limit := best.longest - 1; 1<<limit >= len(sorted); limit-- {
			if !packed {
				b.limited.pack(sorted, limit)
				packed = true
			}
			next.longest = b.limited.depths(len(sorted), &next.num, limit)
			next.setLengths(sorted)
			n, how := c.size(next, used, thorough)
			if n == noTree || next.bits/8+uint64(n) >= size {
				break
			}
			size = next.bits/8 + uint64(n)
			dst = c.appendTree(dst[:at], used-1, how)
			best, next = next, best
		}
	}
	t.setCodes(best, used)
	return dst, size, size < math.MaxUint64
}

// shallowFrom is the number of bytes from which AppendBest does not try lower limits. With 1,000
// bytes they save up to 2%.
const shallowFrom = 8 << 10

// setLengths sets the lengths and the size from the numbers of codes. Symbols that do not occur
// must have length 0.
func (s *shape) setLengths(sorted []leaf) {
	setLengths(s.lens[:], sorted, &s.num, s.longest)
	s.bits = 0
	for l, i := s.longest, 0; l > 0; l-- {
		sum := uint64(0)
		for _, x := range sorted[i : i+int(s.num[l])] {
			sum += uint64(x.count)
		}
		i += int(s.num[l])
		s.bits += sum * uint64(l)
	}
}

// Ways to describe a code: with FSE at one of two accuracies, or in four bits each.
const inFourBits = 2

// noTree is the size of a description that does not exist.
const noTree = math.MaxInt

// accuracies are those tried with FSE: which is better is hard to predict.
var accuracies = [...]int{weightLog, fse.MinLog}

// size returns the size of the description of a code in bytes, and how append writes it. used is
// one more than the highest byte with a code. thorough says whether all accuracies are tried.
func (c *treeCoder) size(s *shape, used int, thorough bool) (size, how int) {
	n := used - 1
	var counts [MaxTableBits + 1]uint32
	var weightOf [16]byte
	kinds, coded := 0, 0
	for l := 1; l <= s.longest; l++ {
		w := s.longest + 1 - l
		weightOf[l], counts[w] = byte(w), uint32(s.num[l])
		coded += int(s.num[l])
	}
	counts[0] = uint32(used - coded)
	counts[weightOf[s.lens[n]&15]]-- // that of the last byte is left out
	for i, l := range s.lens[:n] {
		c.weights[i] = weightOf[l&15]
	}
	for _, n := range counts {
		if n != 0 {
			kinds++
		}
	}
	size = noTree
	if kinds > 1 {
		for i, log := range accuracies {
			if i > 0 && !thorough {
				break
			}
			c.dist.Normalize(counts[:], log, true)
			c.buf[i] = c.dist.Append(c.buf[i][:0])
			e := &c.fse[i]
			e.Table.Build(&c.dist)
			if n := len(c.buf[i]) + e.Encode(c.weights[:n], 2); n <= directBase && n+1 < size {
				size, how = 1+n, i
			}
		}
	}
	if direct := 1 + (n+1)/2; n <= maxDirect && direct <= size {
		c.weights[n] = 0 // behind the last
		size, how = direct, inFourBits
	}
	return size, how
}

// appendTree appends the description that size has prepared, of n weights.
func (c *treeCoder) appendTree(dst []byte, n, how int) []byte {
	if how != inFourBits {
		dst = append(dst, 0)
		at := len(dst)
		dst = c.fse[how].AppendEncoded(append(dst, c.buf[how]...))
		dst[at-1] = byte(len(dst) - at)
		return dst
	}
	dst = append(dst, byte(directBase+n))
	for i := 0; i < n; i += 2 {
		dst = append(dst, c.weights[i]<<4|c.weights[i+1])
	}
	return dst
}

// treeReader reads descriptions of codes, and has the last code.
type treeReader struct {
	lens    [256]uint8 // code lengths, 0 for bytes without a code
	num     [16]uint16 // number of codes of each length from 1
	longest int        // maximum length
	used    int        // one more than the highest byte with a code

	dist    fse.Distribution
	weights fse.DecTable
}

// readTree reads the description of a code from the front of src and returns its size. All errors
// are a CorruptError.
func (d *treeReader) readTree(src []byte) (size int, err error) {
	const errShort = CorruptError("tree cut short")
	if len(src) == 0 {
		return 0, errShort
	}
	n, lens := 0, &d.lens
	if head := int(src[0]); head > directBase {
		n = head - directBase
		size = 1 + (n+1)/2
		if len(src) < size {
			return 0, errShort
		}
		for i := range n {
			lens[i] = src[1+i/2] >> (4 &^ (i << 2)) & 15
		}
	} else {
		size = 1 + head
		if len(src) < size {
			return 0, errShort
		}
		table, err := d.dist.Read(src[1:size], weightLog, MaxTableBits+1)
		if err != nil {
			return 0, CorruptError("tree: " + err.Error())
		}
		d.weights.Build(&d.dist)
		n, err = d.weights.DecodeAll(lens[:255], src[1+table:size])
		if err != nil {
			return 0, CorruptError("tree: " + err.Error())
		}
	}
	return size, d.setLengths(n)
}

// setLengths replaces n weights in d.lens by code lengths.
func (d *treeReader) setLengths(n int) error {
	var num [16]uint16 // of each weight
	for _, w := range d.lens[:n] {
		num[w&15]++
	}
	for _, c := range num[MaxTableBits+1:] {
		if c != 0 {
			return CorruptError("weight too large")
		}
	}
	sum := 0
	for w, c := range num[1 : MaxTableBits+1] {
		sum += int(c) << w
	}
	if sum == 0 {
		return CorruptError("no weights")
	}
	longest := bits.Len(uint(sum))
	rest := 1<<longest - sum
	if longest > MaxTableBits || rest&(rest-1) != 0 {
		return CorruptError("weights do not add up")
	}
	last := uint8(bits.Len(uint(rest)))
	d.lens[n] = last
	num[last]++
	if num[1] < 2 {
		return CorruptError("fewer than two codes of the maximum length")
	}
	var lengthOf [16]uint8
	d.num = [16]uint16{}
	for w := 1; w <= longest; w++ {
		l := longest + 1 - w
		lengthOf[w], d.num[l] = uint8(l), num[w]
	}
	for i, w := range d.lens[:n+1] {
		d.lens[i] = lengthOf[w&15]
	}
	clear(d.lens[n+1:])
	d.longest, d.used = longest, n+1
	return nil
}
