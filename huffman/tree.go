package huffman

import (
	"math"

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
	fse   fse.Encoder
	dist  fse.Distribution
	buf   [2][]byte
	table Table
}

// AppendTree appends the description of t, at most 128 bytes, to dst. It returns dst unchanged and
// false if there is none: zstd cannot describe a code of more than 128 bytes that all but one have
// the same length. Such a code would save nothing.
func (b *Builder) AppendTree(dst []byte, t *Table) (tree []byte, ok bool) {
	var weights [256]byte
	var counts [MaxTableBits + 1]uint32
	n := int(t.used) - 1
	for i := range n {
		if l := t.codes[i].Len(); l != 0 {
			weights[i] = t.max + 1 - byte(l)
		}
		counts[weights[i]]++
	}
	best := b.tree.weights(weights[:n], counts[:])
	direct := (n + 1) / 2
	switch {
	case n <= maxDirect && (best == nil || direct <= len(best)):
		dst = append(dst, byte(directBase+n))
		for i := 0; i < n; i += 2 {
			dst = append(dst, weights[i]<<4|weights[i+1]) // a weight behind the last is 0
		}
		return dst, true
	case best == nil:
		return dst, false
	}
	return append(append(dst, byte(len(best))), best...), true
}

// AppendBest sets t to the table that minimises the size of bytes with the given counts plus its
// description, and appends the description to dst. At least two counts must not be 0. size is the
// sum of both in bytes. ok is false, and t undefined, if there is no description; see AppendTree.
func (b *Builder) AppendBest(
	dst []byte, t *Table, counts *[256]uint32,
) (tree []byte, size uint64, ok bool) {
	at := len(dst)
	dst, size = b.try(dst, t, counts, MaxTableBits)
	n := uint64(0)
	for _, c := range counts {
		n += uint64(c)
	}
	if n < shallowFrom {
		// A lower limit may save more in the description than it costs in the codes.
		next := &b.tree.table
		for limit := int(t.max) - 1; 1<<limit >= b.used; limit-- {
			end := len(dst)
			var s uint64
			if dst, s = b.try(dst, next, counts, limit); s >= size {
				dst = dst[:end]
				break
			}
			size, *t = s, *next
			dst = append(dst[:at], dst[end:]...)
		}
	}
	return dst, size, size < math.MaxUint64
}

// shallowFrom is the number of bytes from which AppendBest does not try lower limits. With 1,000
// bytes they save up to 2%.
const shallowFrom = 8 << 10

// try sets t to the table under a limit and appends its description. size is as in AppendBest, or
// math.MaxUint64 without a description.
func (b *Builder) try(
	dst []byte, t *Table, counts *[256]uint32, limit int,
) (tree []byte, size uint64) {
	b.Table(t, counts, limit)
	tree, ok := b.AppendTree(dst, t)
	if !ok {
		return dst, math.MaxUint64
	}
	bits, _ := t.Bits(counts)
	return tree, bits/8 + uint64(len(tree)-len(dst))
}

// weights encodes weights with FSE. It returns nil if that is impossible.
func (c *treeCoder) weights(weights []byte, counts []uint32) (best []byte) {
	kinds := 0
	for _, n := range counts {
		if n != 0 {
			kinds++
		}
	}
	if kinds < 2 {
		return nil
	}
	// The better accuracy is hard to predict, so both are tried.
	for i, log := range [...]int{weightLog, fse.MinLog} {
		c.dist.Normalize(counts, log, true)
		code := c.dist.Append(c.buf[i][:0])
		c.fse.Table.Build(&c.dist)
		code = c.fse.Append(code, weights, 2)
		if c.buf[i] = code; len(code) <= directBase && (best == nil || len(code) < len(best)) {
			best = code
		}
	}
	return best
}

// treeReader is the scratch memory for reading descriptions.
type treeReader struct {
	dist    fse.Distribution
	weights fse.DecTable
}

// readTree reads the description of a code from the front of src. It sets lens to the code lengths,
// 0 for bytes without a code, and returns the size of the description. All errors are a
// CorruptError.
func (d *treeReader) readTree(lens *[256]uint8, src []byte) (size int, err error) {
	const errShort = CorruptError("tree cut short")
	*lens = [256]uint8{}
	if len(src) == 0 {
		return 0, errShort
	}
	n := 0
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
		if n, err = d.weights.DecodeAll(lens[:255], src[1+table:size]); err != nil {
			return 0, CorruptError("tree: " + err.Error())
		}
	}
	return size, lengthsOf(lens, n)
}

// lengthsOf replaces n weights by code lengths.
func lengthsOf(lens *[256]uint8, n int) error {
	sum, ones := 0, 0
	for _, w := range lens[:n] {
		if w > MaxTableBits {
			return CorruptError("weight too large")
		}
		sum += 1 << w >> 1
		if w == 1 {
			ones++
		}
	}
	if sum == 0 {
		return CorruptError("no weights")
	}
	longest := 1
	for 1<<longest <= sum {
		longest++
	}
	rest := 1<<longest - sum
	if longest > MaxTableBits || rest&(rest-1) != 0 {
		return CorruptError("weights do not add up")
	}
	for rest > 0 {
		lens[n]++
		rest >>= 1
	}
	if lens[n] == 1 {
		ones++
	}
	if ones < 2 {
		return CorruptError("fewer than two codes of the maximum length")
	}
	for i, w := range lens[:n+1] {
		if w != 0 {
			lens[i] = uint8(longest) + 1 - w
		}
	}
	return nil
}
