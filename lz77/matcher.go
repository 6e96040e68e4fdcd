package lz77

import (
	"math/bits"
	"slices"

	"github.com/gopz/compress/internal/finder"
)

// Matcher finds the sequences of blocks. The zero value is ready to use. A Matcher keeps its tables
// from call to call and is not safe for concurrent use.
type Matcher struct {
	// Checkpoint, unless it is nil, is called between pieces of the work: often enough that the
	// time between two calls stays below about 5 ms. Methods call it on their caller's goroutine.
	// It may block, and it may panic to abandon the work. The Matcher can be used again after that.
	// The sequences do not depend on it.
	//
	// Between two calls are at most 512 KiB of content, or 64 KiB with RowHash, or 512 Ki
	// candidates with HashChain. A single match belongs to the piece that it begins in, however
	// long it is. The lazy parser of DoubleHash takes 13 ms for one of 64 MiB.
	Checkpoint func()

	position     int // see Position
	limits       Limits
	params       Params
	table        []uint32 // last position by hash; see tagMask
	long         []uint32 // the same by hash of 8 bytes (DoubleHash)
	shift        uint8    // 64 − log2 of the size of table
	tagMask      uint32   // bits of an entry that hold a tag; the others hold the position
	costs        literalCosts
	rows         rows     // RowHash
	minMatch     int      // least bytes of a match that rows may return
	candidates   []uint32 // RowHash: the caller's candidates in place of rows; see ParseCandidates
	badCandidate bool     // one of candidates is impossible
	chains       chains   // HashChain
}

// Parse appends the sequences of src to dst. A block of fewer than 16 bytes has none.
func (m *Matcher) Parse(dst []Sequence, src []byte, params *Params, limits Limits) []Sequence {
	return m.ParseFrom(dst, src, 0, params, limits)
}

// ParseFrom appends the sequences of src[start:] to dst. Matches may reach back into src[:start].
func (m *Matcher) ParseFrom(
	dst []Sequence, src []byte, start int, params *Params, limits Limits,
) []Sequence {
	limits.Check()
	if len(src) < start+finder.Tail {
		return dst
	}
	m.params, m.limits, m.candidates = *params, limits, nil
	defer func() { m.position = 0 }()
	src = src[:len(src):len(src)] // load64 looks at the capacity
	switch params.Finder {
	case SingleHash:
		m.resetTables(len(src))
		return m.shortenPeriods(m.parseSingle(dst, src, start), len(dst), src, start)
	case DoubleHash:
		m.resetTables(len(src))
		if m.params.Lazy > 0 {
			return m.shortenPeriods(m.parseDoubleLazy(dst, src, start), len(dst), src, start)
		}
		return m.shortenPeriods(m.parseDouble(dst, src, start), len(dst), src, start)
	case HashChain:
		return m.parseChains(dst, src, start)
	default:
		return m.parseLazy(dst, src, start)
	}
}

// checkpointBytes is the content in bytes between checkpoints of the fast parsers, which take 5 to
// 20 ns a byte on adverse content.
const checkpointBytes = 1 << 18

func (m *Matcher) checkpoint() {
	if m.Checkpoint != nil {
		m.Checkpoint()
	}
}

// reach records that n bytes of content are parsed, and calls the checkpoint.
func (m *Matcher) reach(n int) {
	m.position = n
	m.checkpoint()
}

// Position returns how far the parse is, in bytes of content. It is for Checkpoint. It never falls
// during a parse, and outside of one it is 0.
func (m *Matcher) Position() int { return m.position }

// grow makes room for one more sequence. A block may have millions of them, so that copying them
// takes a while.
func (m *Matcher) grow(dst []Sequence) []Sequence {
	const piece = 1 << 16
	if len(dst) < cap(dst) {
		return dst
	}
	if len(dst) < piece {
		return slices.Grow(dst, 1)
	}
	longer := make([]Sequence, 0, cap(dst)+cap(dst)/4)
	for len(longer) < len(dst) {
		m.checkpoint()
		longer = append(longer, dst[len(longer):min(len(longer)+piece, len(dst))]...)
	}
	return longer
}

func (m *Matcher) resetTables(size int) {
	log := finder.TableLog(m.params.HashLog, size)
	m.table = finder.EmptyTable(m.table, log)
	m.shift = 64 - log
	m.tagMask = ^uint32(0) << bits.Len(uint(size))
}

// prefixStep is the distance of the positions in front of a block that enter a hash table.
// A match that begins between two of them is found one byte later and extended backwards.
const prefixStep = 2

// hash returns the hash of the bytes of v in mask, for a table of 64 − shift bits.
func hash(v, mask uint64, shift uint8) uint32 { return hashIndex(hashProduct(v, mask), shift) }

// hashIndex returns the place of a product in a table of 64 − shift bits.
func hashIndex(product uint64, shift uint8) uint32 { return uint32(product >> (shift & 63)) }

// hashProduct returns the number that hashes and tags are taken from. Its high bits depend on the
// bytes of v in mask, its low bits on the first 4 bytes only.
func hashProduct(v, mask uint64) uint64 { return v & mask * finder.Prime64 }

// tagOf returns the tag of a product: the bits of an entry that no position in the block needs.
// An entry ^ the tag sought is a position if the tags are equal, and lies beyond the block if not.
// So a candidate that differs in its first 4 bytes is rejected without a load from the block, which
// would be a second cache miss. No candidate that matches is rejected.
func tagOf(product uint64, tagMask uint32) uint32 { return uint32(product) & tagMask }

// lowBytesMask returns the mask of the first n bytes, 1 … 8.
func lowBytesMask(n uint8) uint64 { return ^uint64(0) >> (64 - 8*n) }

// maxStep bounds the step of the search in bytes. Behind a long stretch without matches, such as an
// image in a program, the search must not pass over compressible data.
const maxStep = 32
