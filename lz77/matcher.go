package lz77

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/simd"
)

// Matcher finds the sequences of blocks. The zero value is ready; it keeps its tables from call to call. It is not safe for concurrent use.
type Matcher struct {
	// Helper, if set, may find candidates for what is Priced beside the parse. The sequences are the same.
	Helper Helper

	limits       Limits
	params       Params
	table        []uint32     // last occurrence, by hash; see tagMask
	long         []uint32     // the same for 8 bytes (Double)
	shift        uint8        // 64 − log2 of the table in use
	tagMask      uint32       // the bits of an entry that are tag; the others are the position
	costs        literalCosts // where there is a choice among matches
	rows         rows         // Recent
	minMatch     int          // bytes of a match that is taken from rows
	candidates   []uint32     // Recent: candidates from elsewhere, in place of rows; see ParseCandidates
	badCandidate bool         // some of them are impossible
	optimal      *optimal     // where params.Finder is Priced; nil until it is used
}

// Parse appends the sequences of src to dst. A block of fewer than 16 bytes has none.
func (m *Matcher) Parse(dst []Sequence, src []byte, params *Params, limits Limits) []Sequence {
	return m.ParseFrom(dst, src, 0, params, limits)
}

// ParseFrom is Parse for src[start:], with matches that may reach back into what is in front of it.
func (m *Matcher) ParseFrom(dst []Sequence, src []byte, start int, params *Params, limits Limits) []Sequence {
	limits.check()
	if len(src) < start+tail {
		return dst
	}
	m.params, m.limits = *params, limits
	src = src[:len(src):len(src)] // load64 looks at the capacity
	switch params.Finder {
	case SingleHash:
		m.resetTables(len(src))
		return m.parseSingle(dst, src, start)
	case DoubleHash:
		m.resetTables(len(src))
		if m.params.Lazy > 0 {
			return m.parseDoubleLazy(dst, src, start)
		}
		return m.parseDouble(dst, src, start)
	case BinaryTree, MultiHash, LCPIntervals:
		return m.parseOptimal(dst, src, start)
	default:
		return m.parseLazy(dst, src, start)
	}
}

func (m *Matcher) resetTables(size int) {
	log := tableLog(m.params.HashLog, size)
	m.table = emptyTable(m.table, log)
	m.shift = 64 - log
	m.tagMask = ^uint32(0) << bits.Len(uint(size))
}

// tail is the number of bytes at the end of a block where no match begins, so that finders may load 8 bytes anywhere.
const tail = 16

// windowStep is how many positions in front of the block there are for one that goes into a hash table. A match that begins at another of them
// is found one byte later, and extended backwards.
const prefixStep = 2

// table returns an empty table of 1<<log entries.
func emptyTable(t []uint32, log uint8) []uint32 {
	if cap(t) < 1<<log {
		t = make([]uint32, 1<<log)
	}
	t = t[:1<<log]
	clear(t)
	return t
}

// A slice of constant capacity takes a compare or two; p[i:] takes a mask as well, on the way to the load.
func load32(p []byte, i int) uint32 { return binary.LittleEndian.Uint32(p[i : i+4 : i+4]) }
func load64(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i : i+8 : i+8]) }

// Multipliers for Fibonacci hashing: odd, and near 2⁶⁴ or 2³² divided by the golden ratio.
const (
	prime64  = 0x9E3779B185EBCA87
	prime32  = 0x9E3779B1
	prime32b = 0x85EBCA77
)

// hash returns the hash of the bytes of v that are in mask.
func hash(v, mask uint64, shift uint8) uint32 { return hashIndex(hashProduct(v, mask), shift) }

// index returns the place of a product in a table of 64 − shift bits.
func hashIndex(product uint64, shift uint8) uint32 { return uint32(product >> (shift & 63)) }

// product is what hashes and tags are made of: the high bits, for the bytes of v that are in mask, and the low ones, for the first 4 bytes.
func hashProduct(v, mask uint64) uint64 { return v & mask * prime64 }

// tagOf returns the tag for the bytes of a product. It stands in the bits of an entry that a position in the block does not need. An entry ^ the tag looked for is the position if
// the tags are equal, and beyond the block otherwise. So nearly all candidates that do not match in their first 4 bytes are known without a look at the block, which would
// be another cache miss before the branch is decided, and those that match are never passed over.
func tagOf(product uint64, tagMask uint32) uint32 { return uint32(product) & tagMask }

// lowBytes is the mask of the first n bytes, 1 … 8.
func lowBytesMask(n uint8) uint64 { return ^uint64(0) >> (64 - 8*n) }

// farEnough turns an offset below MinOffset into the least multiple of it that is not.
var leastMultiple = [MinOffset]uint8{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}

// extend returns the length of the match of src[i:] with src[c:], of which n bytes are known to be equal; c < i.
func extend(src []byte, c, i, n int) int {
	if i+n+inlineBytes <= len(src) {
		x, k := firstDifference(xor8(src, c+n, i+n), xor8(src, c+n+8, i+n+8))
		if n += k; x != 0 {
			return n
		}
	}
	return n + simd.MatchLen(src[c+n:], src[i+n:])
}

// first returns how many of 16 bytes are equal whose differences are in two words, and the word that tells; 0 if all are equal. Where matches end is hard to
// predict: there is no branch.
func firstDifference(x, y uint64) (word uint64, equal int) {
	zero := ^uint64(int64(x|-x) >> 63) // all bits if x is 0
	word = x | y&zero
	return word, int(8&zero) + bits.TrailingZeros64(word)>>3
}

// near is the number of bytes that extend looks at before it calls for help.
const inlineBytes = 16

// differ returns the bits in which 8 bytes at c differ from those at i.
func xor8(src []byte, c, i int) uint64 { return load64(src, c) ^ load64(src, i) }

// before returns how many bytes before i, most at most, are equal to those before c, as far as 8; 8 ≤ c < i.
func equalBefore8(src []byte, c, i, most int) int {
	x := xor8(src, c-8, i-8) | 1<<63>>(8*uint(most))
	return bits.LeadingZeros64(x) >> 3
}

// back is before as far as it goes, for any c < i.
func equalBefore(src []byte, c, i, most int) (n int) {
	for n < most && n < c && src[i-n-1] == src[c-n-1] {
		n++
	}
	return n
}

// maxStep bounds the steps in which stretches without a match are passed over, in bytes: behind a long one, such as an image in a
// program, compressible data must not be passed over as well.
const maxStep = 32
