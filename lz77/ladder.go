package lz77

import (
	"math/bits"

	"github.com/gopz/compress/simd"
)

// ladder finds, for each position, the nearest earlier one whose next bytes are the same as far as each of several lengths, its rungs. A price rarely asks for a length in between.
// A tree has to wait for one node to know the next; here nothing waits: the entries of a batch of positions are looked up without a branch, then
// the bytes that they stand for, and only then anything is decided.
type multiHash struct {
	tables      [len(hashLengths)][]uint32 // last position by hash of so many bytes, with a tag; see tagOf
	firstLength int                        // the first rung that is used, made as long as the shortest match
	lengths     [len(hashLengths)]uint8    // of each rung, in bytes
	tagMask     uint32                     // the bits of an entry that are tag; the others are the position

	nice, minMatch, minOffset, maxOffset, maxOffset3 int

	hashes     [len(hashLengths)][batch]uint64 // of the batch that begins at hashed
	hashedFrom int

	batchFrom, batchEnd int                              // the positions of the batch
	entries             [batch * len(hashLengths)]uint32 // by position and rung
	xors                [batch][len(hashLengths)]uint64  // the next 8 bytes there ^ those of the position
}

// batch is how many positions are looked up at once.
const batch = 32

// rungs are the lengths in bytes, and how much smaller the tables are, as a shift: there are fewer different short strings, and few long ones that are still looked for. Each rung is a line
// of the third cache for each position. On dickens+mr+nci+xml 4, 5, 7, 10, 16, 32 are 0.16% smaller at 0.9 of the speed, and sources 0.6% smaller; 4, 6, 8, 12, 32 as small as that and no faster; 5, 7, 10, 32 the
// same size, but programs and sources 0.5–1% larger; 4, 8, 14 1.6% larger, and with 24 or 20 in place of 32 it is 0.3% or 0.7%.
var hashLengths = [...]struct{ bytes, less uint8 }{{3, 3}, {4, 3}, {7, 0}, {11, 0}, {32, 1}}

// Multipliers of the words behind the first: odd, and nothing else.
const (
	word2Mul = 0xC2B2AE3D27D4EB4F
	word3Mul = 0x165667B19E3779F9
	word4Mul = 0x27D4EB2F165667C5
)

// ladderMemory is what the tables take, in bytes.
func multiHashMemory(params *Params, size int, limits *Limits) (n int) {
	for _, r := range hashLengths[firstHashLength(params.minNewMatch(limits)):] {
		n += 4 << tableLog(params.HashLog-r.less, size)
	}
	return n
}

// firstRung returns the longest rung that is no longer than the shortest match.
func firstHashLength(least int) (k int) {
	for k < len(hashLengths)-1 && int(hashLengths[k+1].bytes) <= least {
		k++
	}
	return k
}

// reset begins a block of size bytes in all, of which those before start are in front of it.
func (t *multiHash) reset(params *Params, limits *Limits, src []byte, start int) {
	size := len(src)
	least := params.minNewMatch(limits)
	t.firstLength = firstHashLength(least)
	for k, r := range hashLengths[t.firstLength:] {
		k += t.firstLength
		t.tables[k] = emptyTable(t.tables[k], tableLog(params.HashLog-r.less, size))
		t.lengths[k] = max(r.bytes, uint8(least))
	}
	t.tagMask = ^uint32(0) << bits.Len(uint(size))
	t.nice, t.minMatch = params.Nice, least
	t.minOffset, t.maxOffset = limits.minOffset(), limits.MaxOffset
	t.maxOffset3 = limits.maxOffset3()
	t.hashedFrom = -1
	for i := 0; i < start; i += batch {
		t.lookUp(src, i, min(batch, start-i))
	}
	t.batchFrom, t.batchEnd = start, start
}

// look enters n positions from i on, a batch at most, and sets seen to what was in their places: the position itself where that was nothing. Of the batch behind them it asks for the
// places meanwhile.
func (t *multiHash) lookUp(src []byte, i, n int) {
	tagMask := t.tagMask
	more := n == batch && i+2*batch <= len(src)-tail
	for k := t.firstLength; k < len(hashLengths); k++ {
		tab := t.tables[k]
		shift := uint(64-bits.Len(uint(len(tab)-1))) & 63
		hashes := &t.hashes[k]
		if i != t.hashedFrom {
			t.hashBatch(hashes, src, i, n, k)
		}
		m := n
		if t.lengths[k] > 16 {
			m = max(0, min(n, len(src)-i-31))
		}
		for j, p := range hashes[:m] {
			place := p >> shift
			tag := uint32(p>>12) & tagMask // below the bits of any place
			at := uint32(i + j)
			t.entries[j*len(hashLengths)+k] = min(tab[place]^tag, at) // with another tag it is beyond the block
			tab[place] = at | tag
		}
		for j := m; j < n; j++ {
			t.entries[j*len(hashLengths)+k] = uint32(i + j)
		}
		if more {
			t.hashBatch(hashes, src, i+batch, batch, k)
			var places [batch]uint32
			for j, p := range hashes {
				places[j] = uint32(p >> shift)
			}
			simd.Prefetch(tab, places[:], 1<<32-1)
		}
	}
	t.hashedFrom = -1
	if more {
		t.hashedFrom = i + batch
	}
}

// hash sets hashes to those of n positions from i on, for a rung. What reaches beyond the end has none.
func (t *multiHash) hashBatch(hashes *[batch]uint64, src []byte, i, n, k int) {
	words := src[i:]
	if length := uint(t.lengths[k]); length <= 8 {
		left := (64 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = load64(words, j) << left * prime64
		}
	} else if length <= 16 {
		left := (128 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = load64(words, j)*prime64 + load64(words, j+8)<<left*word2Mul
		}
	} else {
		for j := range hashes[:min(n, max(0, len(words)-31))] {
			hashes[j] = load64(words, j)*prime64 + load64(words, j+8)*word2Mul + load64(words, j+16)*word3Mul + load64(words, j+24)*word4Mul
		}
	}
}

// rungsSeen is what was in the places of position j of the batch.
func (t *multiHash) entriesOf(j int) *[len(hashLengths)]uint32 {
	return (*[len(hashLengths)]uint32)(t.entries[j%batch*len(hashLengths):])
}

// pass enters i, a position behind all that were before, without looking for its candidates.
func (t *multiHash) insert(src []byte, i int) {
	if i >= t.batchEnd {
		t.lookUp(src, i, 1)
	}
}

// find appends the candidates of position i to dst, shortest first; lengths go up to nice. Each call must be for a position behind that of the one before, and of the last
// call of pass, with tail bytes or more from there on.
func (t *multiHash) find(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	if i >= t.batchEnd {
		t.batchFrom, t.batchEnd = i, min(i+batch, len(src)-tail)
		t.lookUp(src, i, t.batchEnd-i)
		simd.Prefetch(src, t.entries[:(t.batchEnd-i)*len(hashLengths)], 1<<32-1)
		for j := range t.batchEnd - i {
			v, seen, differ := load64(src, i+j), t.entriesOf(j), &t.xors[j%batch]
			for k := t.firstLength; k < len(hashLengths); k++ {
				differ[k] = load64(src, int(seen[k])) ^ v
			}
		}
	}
	end := min(len(src), i+t.nice)
	best := t.minMatch - 1
	last := i
	seen, differ := t.entriesOf(i-t.batchFrom), &t.xors[(i-t.batchFrom)%batch]
	for k := t.firstLength; k < len(hashLengths); k++ {
		c := int(seen[k])
		if c >= last {
			continue // nothing, or what a shorter rung has led to
		}
		last = c
		x := differ[k]
		n := bits.TrailingZeros64(x) >> 3
		if x == 0 {
			if i+best >= end || src[c+best] != src[i+best] {
				continue
			}
			n = commonBytes(src, c, i, 8, end)
		}
		if n <= best {
			continue
		}
		d := i - c
		if n == 3 && d > t.maxOffset3 {
			continue
		}
		if d < t.minOffset {
			if d = int(leastMultiple[d&(MinOffset-1)]); d > i {
				continue
			}
			if n = commonBytes(src, i-d, i, 0, end); n <= best {
				continue
			}
		}
		if d > t.maxOffset {
			break
		}
		best = n
		dst = append(dst, newCandidate(n, d, model))
		if i+n == end {
			break
		}
	}
	return dst
}
