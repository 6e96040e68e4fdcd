package optimal

import (
	"math/bits"

	"github.com/gopz/compress/lz77/internal/base"
	"github.com/gopz/compress/simd"
)

// multiHash finds, for each position, the nearest position with the same hash of 4, 7, 11 and 32
// bytes. If matches of 3 are sought, it has a hash of 3 bytes as well. Each length has a hash table
// with one position per hash. A parser rarely needs lengths between, since the price of an offset
// grows slowly.
//
// A search tree must load one node to know the next. Here no load depends on another: a batch of
// positions reads its table entries without a branch, then the bytes at those positions, and only
// then decides. The entries of the next batch are prefetched meanwhile.
//
// Cost: one cache line per table and position, and a comparison for each candidate. Memory: 4 bytes
// per table entry. A candidate is lost when another position with the same hash enters its table.
// zstd's "double fast" strategy with more tables is the closest relative.
type multiHash struct {
	tables      [len(hashLengths)][]uint32 // last position by hash, with a tag; see lookUp
	firstLength int                        // index of the first length used; it has minMatch bytes
	lengths     [len(hashLengths)]uint8    // number of bytes hashed
	tagMask     uint32                     // bits of an entry that hold a tag; the others hold the position

	nice, minMatch, minOffset, maxOffset, maxOffset3 int

	hashes     [len(hashLengths)][batch]uint64 // of the batch that begins at hashedFrom
	hashedFrom int

	batchFrom, batchEnd int                              // current batch of positions
	entries             [batch * len(hashLengths)]uint32 // found in the tables, by position and length
	xors                [batch][len(hashLengths)]uint64  // 8 bytes at the entry ^ 8 bytes at the position
}

// batch is the number of positions that are looked up at once.
const batch = 32

// hashLengths lists the numbers of bytes hashed and how much smaller their tables are, as a shift.
// There are fewer different short strings, and few long ones still sought. Lengths 4, 5, 7, 10, 16,
// 32 are 0.16% smaller at 0.9 of the speed; without 32 files are 0.3–0.7% larger.
var hashLengths = [...]struct{ bytes, less uint8 }{{3, 3}, {4, 3}, {7, 0}, {11, 0}, {32, 1}}

// Multipliers of the second to fourth word of a hash: primes of xxHash64.
const (
	word2Mul = 0xC2B2AE3D27D4EB4F
	word3Mul = 0x165667B19E3779F9
	word4Mul = 0x27D4EB2F165667C5
)

// multiHashMemory returns the memory of the tables in bytes.
func multiHashMemory(c *Config, size int) (n int) {
	for _, r := range hashLengths[firstHashLength(c.MinNew):] {
		n += 4 << base.TableLog(c.HashLog-r.less, size)
	}
	return n
}

// firstHashLength returns the index of the greatest length that is not above the shortest match.
func firstHashLength(least int) (k int) {
	for k < len(hashLengths)-1 && int(hashLengths[k+1].bytes) <= least {
		k++
	}
	return k
}

// reset begins a block and inserts the positions in front of start.
func (t *multiHash) reset(c *Config, src []byte, start int, checkpoint func()) {
	size := len(src)
	least := c.MinNew
	t.firstLength = firstHashLength(least)
	for k, r := range hashLengths[t.firstLength:] {
		k += t.firstLength
		t.tables[k] = base.EmptyTable(t.tables[k], base.TableLog(c.HashLog-r.less, size))
		t.lengths[k] = max(r.bytes, uint8(least))
	}
	t.tagMask = ^uint32(0) << bits.Len(uint(size))
	t.nice, t.minMatch = c.Nice, least
	t.minOffset, t.maxOffset = c.MinOffset, c.MaxOffset
	t.maxOffset3 = c.maxOffset3()
	t.hashedFrom = -1
	for i := 0; i < start; i += batch {
		t.lookUp(src, i, min(batch, start-i))
		if i%checkpointStep == 0 {
			checkpoint()
		}
	}
	t.batchFrom, t.batchEnd = start, start
}

// lookUp inserts n positions, at most a batch, from i on. It sets entries to what stood in their
// places, or to the position itself where nothing did. It prefetches the places of the next batch.
func (t *multiHash) lookUp(src []byte, i, n int) {
	tagMask := t.tagMask
	more := n == batch && i+2*batch <= len(src)-base.Tail
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
			// With another tag the entry ^ tag lies beyond the block.
			t.entries[j*len(hashLengths)+k] = min(tab[place]^tag, at)
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

// hashBatch sets hashes to those of n positions from i on, of length k. A position whose bytes
// reach beyond the end of src has none.
func (t *multiHash) hashBatch(hashes *[batch]uint64, src []byte, i, n, k int) {
	words := src[i:]
	if length := uint(t.lengths[k]); length <= 8 {
		left := (64 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = base.Load64(words, j) << left * base.Prime64
		}
	} else if length <= 16 {
		left := (128 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = base.Load64(words, j)*base.Prime64 + base.Load64(words, j+8)<<left*word2Mul
		}
	} else {
		for j := range hashes[:min(n, max(0, len(words)-31))] {
			hashes[j] = base.Load64(words, j)*base.Prime64 + base.Load64(words, j+8)*word2Mul +
				base.Load64(words, j+16)*word3Mul + base.Load64(words, j+24)*word4Mul
		}
	}
}

// entriesOf returns the entries of position j of the batch.
func (t *multiHash) entriesOf(j int) *[len(hashLengths)]uint32 {
	return (*[len(hashLengths)]uint32)(t.entries[j%batch*len(hashLengths):])
}

// insert inserts i without a search. Positions must ascend from call to call.
func (t *multiHash) insert(src []byte, i int) {
	if i >= t.batchEnd {
		t.lookUp(src, i, 1)
	}
}

// find appends the candidates of position i to dst, the shortest first, with lengths up to nice.
// Positions must ascend from call to call of find and insert. At least base.Tail bytes follow i.
func (t *multiHash) find(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	if i >= t.batchEnd {
		t.batchFrom, t.batchEnd = i, min(i+batch, len(src)-base.Tail)
		t.lookUp(src, i, t.batchEnd-i)
		simd.Prefetch(src, t.entries[:(t.batchEnd-i)*len(hashLengths)], 1<<32-1)
		for j := range t.batchEnd - i {
			v, entries, xors := base.Load64(src, i+j), t.entriesOf(j), &t.xors[j%batch]
			for k := t.firstLength; k < len(hashLengths); k++ {
				xors[k] = base.Load64(src, int(entries[k])) ^ v
			}
		}
	}
	end := min(len(src), i+t.nice)
	best := t.minMatch - 1
	last := i
	entries, xors := t.entriesOf(i-t.batchFrom), &t.xors[(i-t.batchFrom)%batch]
	for k := t.firstLength; k < len(hashLengths); k++ {
		c := int(entries[k])
		if c >= last {
			continue // nothing, or not farther than a shorter length's entry
		}
		last = c
		x := xors[k]
		n := bits.TrailingZeros64(x) >> 3
		if x == 0 {
			if i+best >= end || src[c+best] != src[i+best] {
				continue
			}
			n = simd.EqualFrom(src, c, i, 8, end)
		}
		if n <= best {
			continue
		}
		d := i - c
		if n == 3 && d > t.maxOffset3 {
			continue
		}
		if d < t.minOffset {
			if d = int(base.LeastMultiple[d&(base.MinOffset-1)]); d > i {
				continue
			}
			if n = simd.EqualFrom(src, i-d, i, 0, end); n <= best {
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
