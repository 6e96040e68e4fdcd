// Package finder holds what match finders share: loads, hash tables, the lengths of matches, the
// list of repeat offsets, and the candidates that devices find.
package finder

import "encoding/binary"

const (
	// MaxOffset is the greatest offset of a match in bytes.
	MaxOffset = 1<<27 - 1
	// Tail is the number of bytes at the end of a block where no match begins. Finders may load 8
	// bytes at any position in front of them.
	Tail = 16
)

// LeastMultiple[d] is the least multiple of an offset d below lz77.MinOffset that is not below it.
var LeastMultiple = [...]uint8{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}

// Multipliers for Fibonacci hashing: odd, and near 2⁶⁴ or 2³² divided by the golden ratio.
const (
	Prime64 = 0x9E3779B185EBCA87
	Prime32 = 0x9E3779B1
)

// Load32 returns the 4 bytes of p at i.
//
// A slice of constant capacity takes one or two compares. p[i:] takes a mask as well, ahead of the
// load.
func Load32(p []byte, i int) uint32 { return binary.LittleEndian.Uint32(p[i : i+4 : i+4]) }

// Load64 returns the 8 bytes of p at i.
func Load64(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i : i+8 : i+8]) }

// TableLog returns log2 of the size of a hash table for a block of size bytes, at most log. More
// entries than positions would only cost time to clear.
func TableLog(log uint8, size int) uint8 {
	for log > MinTableLog && 1<<(log-1) >= size {
		log--
	}
	return log
}

// MinTableLog is log2 of the size of the smallest hash table.
const MinTableLog = 8

// EmptyTable returns a cleared table of 1<<log entries, in the memory of t if it is large enough.
func EmptyTable(t []uint32, log uint8) []uint32 {
	if cap(t) < 1<<log {
		t = make([]uint32, 1<<log)
	}
	t = t[:1<<log]
	clear(t)
	return t
}

// Repeats is the list of repeat offsets, the most recent first.
type Repeats[T int | uint32] [3]T

// Use moves offset d to the front of the list, and drops the last one if d was not there.
func (r *Repeats[T]) Use(d T) {
	switch d {
	case r[0]:
	case r[1]:
		r[0], r[1] = d, r[0]
	default:
		r[0], r[1], r[2] = d, r[0], r[1]
	}
}
