package kernels

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/gopz/compress/simd"
)

// This file finds, for each position, the last position with the same hash of several numbers of
// bytes. Each number has a hash table with one position per hash.
//
// A search tree must load one node to know the next. Here no load depends on another. Work goes in
// batches of positions and in three steps. The first computes hashes and prefetches the entries of
// the tables, one batch ahead. The second exchanges the entries for the positions, and prefetches
// the content there. The third compares that content. The kernels of all steps decide without
// branches which entries are candidates, since that is hard to predict. They branch where a match
// is longer than a vector, and where an offset is too small.
//
// The portable twins are in this file.

const (
	// MultiHashTables is the number of hash tables, in ascending order of the bytes they hash.
	MultiHashTables = 5

	multiBatch = 32 // positions that enter the tables at once
	multiTail  = 16 // no position that close to the end of content is searched

	// Multipliers of the words of a hash: primes of xxHash64.
	multiWord1 = 0x9E3779B185EBCA87
	multiWord2 = 0xC2B2AE3D27D4EB4F
	multiWord3 = 0x165667B19E3779F9
	multiWord4 = 0x27D4EB2F165667C5
)

// MultiHash is the state and the parameters of the search. Positions and lengths are in bytes.
type MultiHash struct {
	At         int // next position to search
	hashedFrom int // first position of hashes, or -1
	batchFrom  int // first position of entries
	batchEnd   int // the position behind the last one

	Nice       int // greatest length of a candidate
	MinMatch   int // least length of a candidate, 3 or more
	MinOffset  int // least offset, 1 … 16
	MaxOffset  int // greatest offset
	MaxOffset3 int // greatest offset of a match of 3 bytes

	// A search stops at a position with candidates where these three say so. Reach is the end of
	// the candidates so far, Offset the offset of the one that ends there. Before is where those
	// with other offsets end. A search stops at or behind Before, Skip or more bytes in front of
	// Reach.
	Skip, Reach, Before, Offset int

	Tables    [MultiHashTables][]uint32 // last position by hash, with a tag; lengths are powers of two
	Lengths   [MultiHashTables]int      // bytes hashed: up to 8, 9 … 16, or 32
	First     int                       // index of the first table used
	Multiples [16]uint8                 // the offset that stands for each one below MinOffset

	tagMask uint32 // bits of an entry that hold a tag; the others hold the position
	entries [multiBatch * MultiHashTables]uint32
	hashes  [MultiHashTables][multiBatch]uint64
}

// Reset begins the search of content of size bytes. The tables must be empty.
func (t *MultiHash) Reset(size int) {
	t.At, t.batchFrom, t.batchEnd, t.hashedFrom = 0, 0, 0, -1
	t.tagMask = ^uint32(0) << bits.Len(uint(size))
	clear(t.entries[:])
}

// SearchMultiHash searches the positions from t.At on, up to end. It appends the candidates of each
// position to cands, the shortest first:
//
//	bits  0–26  offset
//	bits 27–47  length
//
// It sets first[k] to the index of the first candidate of position At+k. It stops behind a position
// with a match of Nice bytes, or where Reach says so, and returns stopped. It stops in front of a
// position if there are more than most candidates. end must be 16 bytes in front of the end of src,
// and cands needs a capacity above most+MultiHashTables.
func SearchMultiHash[C ~uint64](
	t *MultiHash, src []byte, end int, cands []C, first []uint32, most int,
) (_ []C, stopped bool) {
	room := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(cands))), cap(cands))
	if end > len(src)-multiTail || len(first) < end-t.At || len(room) <= most+MultiHashTables {
		panic("kernels: SearchMultiHash out of range")
	}
	t.checkRange()
	at, n := t.At, len(cands)
	for t.At < end && n <= most && !stopped {
		if t.At >= t.batchEnd {
			t.batchFrom, t.batchEnd = t.At, min(t.At+multiBatch, len(src)-multiTail)
			t.lookUp(src, t.batchFrom, t.batchEnd-t.batchFrom)
		}
		more, found, ok := searchMultiKernel(
			t, src, min(end, t.batchEnd), room, n, first[t.At-at:], most)
		n, stopped = more, found
		if ok {
			continue
		}
		first[t.At-at] = uint32(n)
		n, stopped = t.search(src, room, n)
		t.At++
	}
	return cands[:n], stopped
}

// checkRange panics if a kernel could leave the tables.
func (t *MultiHash) checkRange() {
	for k := t.First; k < MultiHashTables; k++ {
		if n := len(t.Tables[k]); n < 2 || n&(n-1) != 0 || t.Lengths[k] < 1 || t.Lengths[k] > 32 {
			panic("kernels: MultiHash out of range")
		}
	}
}

// InsertMultiHash inserts every step-th position of [from, end) without a search, except those of
// the current batch, which are in the tables. Positions must ascend from call to call.
func InsertMultiHash(t *MultiHash, src []byte, from, end, step int) {
	for ; from < t.batchEnd; from += step {
	}
	if from < end {
		t.hashedFrom = -1
	}
	for k := t.First; k < MultiHashTables; k++ {
		table, length := t.Tables[k], t.Lengths[k]
		shift := multiShift(table)
		for i := from; i < end && i+multiWords(length) <= len(src); i += step {
			h := multiHash(src[i:], length)
			table[h>>(shift&63)] = uint32(i) | uint32(h>>12)&t.tagMask
		}
	}
}

// multiShift returns what a hash is shifted by to index table.
func multiShift(table []uint32) uint { return uint(64 - bits.Len(uint(len(table)-1))) }

// multiWords returns the number of bytes that multiHash loads.
func multiWords(length int) int {
	switch {
	case length <= 8:
		return 8
	case length <= 16:
		return 16
	}
	return 32
}

// multiHash returns the hash of the first length bytes of p, which has at least 8, 16 or 32.
func multiHash(p []byte, length int) uint64 {
	word := binary.LittleEndian.Uint64
	switch {
	case length <= 8:
		return word(p) << ((64 - 8*length) & 63) * multiWord1
	case length <= 16:
		return word(p)*multiWord1 + word(p[8:])<<((128-8*length)&63)*multiWord2
	}
	p = p[:32]
	return word(p)*multiWord1 + word(p[8:])*multiWord2 + word(p[16:])*multiWord3 + word(p[24:])*multiWord4
}

// lookUp inserts n positions, at most a batch, from i on. It sets entries to what stood in their
// places, or to the position itself where nothing did or no table is used. It hashes the next
// batch.
func (t *MultiHash) lookUp(src []byte, i, n int) {
	if i != t.hashedFrom {
		t.hash(src, i, n)
	}
	for k := range MultiHashTables {
		m := n
		switch {
		case k < t.First:
			m = 0
		case t.Lengths[k] > 16:
			m = max(0, min(n, len(src)-i-31))
		}
		if m > 0 {
			t.exchange(src, k, i, m)
		}
		for j := m; j < n; j++ {
			t.entries[j*MultiHashTables+k] = uint32(i + j)
		}
	}
	t.hashedFrom = -1
	if n == multiBatch && i+2*multiBatch <= len(src)-multiTail {
		t.hash(src, i+multiBatch, multiBatch)
	}
}

// exchange puts n positions from i on into table k and sets their entries.
func (t *MultiHash) exchange(src []byte, k, i, n int) {
	if exchangeMultiKernel(t, src, k, i, n) {
		return
	}
	table := t.Tables[k]
	shift := multiShift(table) & 63
	for j, h := range t.hashes[k][:n] {
		place, at := h>>shift, uint32(i+j)
		tag := uint32(h>>12) & t.tagMask // below the bits of any place
		// With another tag the entry ^ tag lies beyond the block.
		t.entries[j*MultiHashTables+k] = min(table[place]^tag, at)
		table[place] = at | tag
	}
}

// hash sets hashes to those of n positions from i on. A position whose bytes reach beyond the end
// of src has none. It prefetches the entries of the tables.
func (t *MultiHash) hash(src []byte, i, n int) {
	t.hashedFrom = i
	if hashMultiKernel(t, src, i, n) {
		return
	}
	for k := t.First; k < MultiHashTables; k++ {
		length := t.Lengths[k]
		m := n
		if length > 16 {
			m = max(0, min(n, len(src)-i-31))
		}
		hashes, words := t.hashes[k][:m], src[i:]
		if length <= 8 {
			left := uint(64-8*length) & 63
			for j := range hashes {
				hashes[j] = binary.LittleEndian.Uint64(words[j:]) << left * multiWord1
			}
		} else {
			for j := range hashes {
				hashes[j] = multiHash(words[j:], length)
			}
		}
		var places [multiBatch]uint32
		shift := multiShift(t.Tables[k]) & 63
		for j, h := range hashes {
			places[j] = uint32(h >> shift)
		}
		simd.Prefetch(t.Tables[k], places[:m], 1<<32-1)
	}
}

// search appends the candidates of position At to the n in cands and updates Reach. It reports
// whether the search stops.
func (t *MultiHash) search(src []byte, cands []uint64, n int) (_ int, stop bool) {
	i, before := t.At, n
	end := min(len(src), i+t.Nice)
	best, last, offset := t.MinMatch-1, i, 0
	entries := t.entries[(i-t.batchFrom)%multiBatch*MultiHashTables:][:MultiHashTables]
	here := binary.LittleEndian.Uint64(src[i:])
	for k := t.First; k < MultiHashTables; k++ {
		if k > 0 {
			best = max(best, 3)
		}
		c := int(entries[k])
		if c >= last {
			continue // nothing, or not farther than a shorter length's entry
		}
		last = c
		d, length := i-c, 0
		if x := binary.LittleEndian.Uint64(src[c:]) ^ here; x != 0 {
			length = min(bits.TrailingZeros64(x)>>3, end-i)
		} else if i+best < end && src[c+best] == src[i+best] {
			length = EqualFrom(src, c, i, min(8, end-i), end)
		}
		if length <= best || d > t.MaxOffset || length == 3 && d > t.MaxOffset3 {
			continue
		}
		if d < t.MinOffset {
			if d = int(t.Multiples[d&15]); d > min(i, t.MaxOffset) {
				continue
			}
			if length = EqualFrom(src, i-d, i, 0, end); length <= best {
				continue
			}
		}
		best, offset = length, d
		cands[n] = uint64(length)<<CandidateLengthShift | uint64(d)
		n++
	}
	if n == before || best >= t.Nice {
		return n, n > before
	}
	if i+best > t.Reach {
		if offset != t.Offset {
			t.Before, t.Offset = t.Reach, offset
		}
		t.Reach = i + best
	}
	return n, t.Reach-i >= t.Skip && i >= t.Before
}
