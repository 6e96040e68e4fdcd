package lz77

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/simd"
)

// Matcher finds the sequences of blocks. The zero value is ready; it keeps its tables from call to call. It is not safe for concurrent use.
type Matcher struct {
	limits Limits
	params Params
	table  []int32 // position of the last occurrence, by hash
	long   []int32 // the same for 8 bytes (Double)
	shift  uint8   // 64 − log2 of the table in use
	rows   rows    // Recent
}

// Parse appends the sequences of src to dst. A block of fewer than 16 bytes has none.
func (m *Matcher) Parse(dst []Sequence, src []byte, params *Params, limits Limits) []Sequence {
	return m.ParseFrom(dst, src, 0, params, limits)
}

// ParseFrom is Parse for src[start:], with matches that may reach back into what is in front of it.
func (m *Matcher) ParseFrom(dst []Sequence, src []byte, start int, params *Params, limits Limits) []Sequence {
	if len(src) < start+tail {
		return dst
	}
	m.params, m.limits = *params, limits
	switch params.Finder {
	case Single:
		m.reset(len(src))
		return m.parseSingle(dst, src, start)
	case Double:
		m.reset(len(src))
		return m.parseDouble(dst, src, start)
	default:
		return m.parseLazy(dst, src, start)
	}
}

func (m *Matcher) reset(size int) {
	log := tableLog(m.params.HashLog, size)
	m.table = table(m.table, log)
	m.shift = 64 - log
}

// tail is the number of bytes at the end of a block where no match begins, so that finders may load 8 bytes anywhere.
const tail = 16

// none marks an empty entry of a table.
const none = -1

// windowStep is how many positions in front of the block there are for one that goes into a hash table. A match that begins at another of them
// is found one byte later, and extended backwards.
const windowStep = 2

// table returns an empty table of 1<<log entries.
func table(t []int32, log uint8) []int32 {
	if cap(t) < 1<<log {
		t = make([]int32, 1<<log)
	}
	t = t[:1<<log]
	for i := range t {
		t[i] = none
	}
	return t
}

func load32(p []byte, i int) uint32 { return binary.LittleEndian.Uint32(p[i:]) }
func load64(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i:]) }

// Multipliers for Fibonacci hashing: odd, and near 2⁶⁴ or 2³² divided by the golden ratio.
const (
	prime64  = 0x9E3779B185EBCA87
	prime32  = 0x9E3779B1
	prime32b = 0x85EBCA77
)

// hash returns the hash of the low bytes of v that drop leaves: drop is 64 less their number of bits.
func hash(v uint64, drop, shift uint8) uint32 {
	return uint32(v << (drop & 63) * prime64 >> (shift & 63))
}

// farEnough turns an offset below MinOffset into the least multiple of it that is not.
var farEnough = [MinOffset]uint8{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}

// extend returns the length of the match of src[i:] with src[c:], of which n bytes are known to be equal; c < i.
func extend(src []byte, c, i, n int) int {
	if i+n+8 <= len(src) {
		if x := load64(src, c+n) ^ load64(src, i+n); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
		n += 8
	}
	return n + simd.MatchLen(src[c+n:], src[i+n:])
}

// maxStep bounds the steps in which stretches without a match are passed over, in bytes: behind a long one, such as an image in a
// program, compressible data must not be passed over as well.
const maxStep = 32
