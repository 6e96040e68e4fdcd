package lz77

import (
	"math/bits"

	"github.com/gopz/compress/simd"
)

// ladder finds, for each position, the nearest earlier one whose next bytes are the same as far as each of several lengths, its rungs. A price rarely asks for a length in between.
// A tree has to wait for one node to know the next; here nothing waits: the entries of a batch of positions are looked up without a branch, then
// the bytes that they stand for, and only then anything is decided.
type ladder struct {
	tables  [len(rungs)][]uint32 // last position by hash of so many bytes, with a tag; see tagOf
	first   int                  // the first rung that is used, made as long as the shortest match
	length  [len(rungs)]uint8    // of each rung, in bytes
	tagMask uint32               // the bits of an entry that are tag; the others are the position

	nice, least, minOffset, maxOffset, threeReach int

	hashes [len(rungs)][batch]uint64 // of the batch that begins at hashed
	hashed int

	from, done int                        // the positions of the batch
	seen       [batch * len(rungs)]uint32 // by position and rung
	differ     [batch][len(rungs)]uint64  // the next 8 bytes there ^ those of the position
}

// batch is how many positions are looked up at once.
const batch = 32

// rungs are the lengths in bytes, and how much smaller the tables are, as a shift: there are fewer different short strings, and few long ones that are still looked for. Each rung is a line
// of the third cache for each position. On dickens+mr+nci+xml 4, 5, 7, 10, 16, 32 are 0.16% smaller at 0.9 of the speed, and sources 0.6% smaller; 4, 6, 8, 12, 32 as small as that and no faster; 5, 7, 10, 32 the
// same size, but programs and sources 0.5–1% larger; 4, 8, 14 1.6% larger, and with 24 or 20 in place of 32 it is 0.3% or 0.7%.
var rungs = [...]struct{ bytes, less uint8 }{{3, 3}, {4, 3}, {7, 0}, {11, 0}, {32, 1}}

// Multipliers of the words behind the first: odd, and nothing else.
const (
	secondWord = 0xC2B2AE3D27D4EB4F
	thirdWord  = 0x165667B19E3779F9
	fourthWord = 0x27D4EB2F165667C5
)

// ladderMemory is what the tables take, in bytes.
func ladderMemory(params *Params, size int, limits *Limits) (n int) {
	for _, r := range rungs[firstRung(params.least(limits)):] {
		n += 4 << tableLog(params.HashLog-r.less, size)
	}
	return n
}

// firstRung returns the longest rung that is no longer than the shortest match.
func firstRung(least int) (k int) {
	for k < len(rungs)-1 && int(rungs[k+1].bytes) <= least {
		k++
	}
	return k
}

// reset begins a block of size bytes in all, of which those before start are in front of it.
func (t *ladder) reset(params *Params, limits *Limits, src []byte, start int) {
	size := len(src)
	least := params.least(limits)
	t.first = firstRung(least)
	for k, r := range rungs[t.first:] {
		k += t.first
		t.tables[k] = table(t.tables[k], tableLog(params.HashLog-r.less, size))
		t.length[k] = max(r.bytes, uint8(least))
	}
	t.tagMask = ^uint32(0) << bits.Len(uint(size))
	t.nice, t.least = params.Nice, least
	t.minOffset, t.maxOffset = limits.minOffset(), limits.MaxOffset
	t.threeReach = limits.threeReach()
	t.hashed = -1
	for i := 0; i < start; i += batch {
		t.look(src, i, min(batch, start-i))
	}
	t.from, t.done = start, start
}

// look enters n positions from i on, a batch at most, and sets seen to what was in their places: the position itself where that was nothing. Of the batch behind them it asks for the
// places meanwhile.
func (t *ladder) look(src []byte, i, n int) {
	tagMask := t.tagMask
	more := n == batch && i+2*batch <= len(src)-tail
	for k := t.first; k < len(rungs); k++ {
		tab := t.tables[k]
		shift := uint(64-bits.Len(uint(len(tab)-1))) & 63
		hashes := &t.hashes[k]
		if i != t.hashed {
			t.hash(hashes, src, i, n, k)
		}
		m := n
		if t.length[k] > 16 {
			m = max(0, min(n, len(src)-i-31))
		}
		for j, p := range hashes[:m] {
			place := p >> shift
			tag := uint32(p>>12) & tagMask // below the bits of any place
			at := uint32(i + j)
			t.seen[j*len(rungs)+k] = min(tab[place]^tag, at) // with another tag it is beyond the block
			tab[place] = at | tag
		}
		for j := m; j < n; j++ {
			t.seen[j*len(rungs)+k] = uint32(i + j)
		}
		if more {
			t.hash(hashes, src, i+batch, batch, k)
			var places [batch]uint32
			for j, p := range hashes {
				places[j] = uint32(p >> shift)
			}
			simd.Prefetch(tab, places[:], 1<<32-1)
		}
	}
	t.hashed = -1
	if more {
		t.hashed = i + batch
	}
}

// hash sets hashes to those of n positions from i on, for a rung. What reaches beyond the end has none.
func (t *ladder) hash(hashes *[batch]uint64, src []byte, i, n, k int) {
	words := src[i:]
	if length := uint(t.length[k]); length <= 8 {
		left := (64 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = load64(words, j) << left * prime64
		}
	} else if length <= 16 {
		left := (128 - 8*length) & 63
		for j := range hashes[:n] {
			hashes[j] = load64(words, j)*prime64 + load64(words, j+8)<<left*secondWord
		}
	} else {
		for j := range hashes[:min(n, max(0, len(words)-31))] {
			hashes[j] = load64(words, j)*prime64 + load64(words, j+8)*secondWord + load64(words, j+16)*thirdWord + load64(words, j+24)*fourthWord
		}
	}
}

// rungsSeen is what was in the places of position j of the batch.
func (t *ladder) rungsSeen(j int) *[len(rungs)]uint32 {
	return (*[len(rungs)]uint32)(t.seen[j%batch*len(rungs):])
}

// pass enters i, a position behind all that were before, without looking for its candidates.
func (t *ladder) pass(src []byte, i int) {
	if i >= t.done {
		t.look(src, i, 1)
	}
}

// find appends the candidates of position i to dst, shortest first; lengths go up to nice. Each call must be for a position behind that of the one before, and of the last
// call of pass, with tail bytes or more from there on.
func (t *ladder) find(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	if i >= t.done {
		t.from, t.done = i, min(i+batch, len(src)-tail)
		t.look(src, i, t.done-i)
		simd.Prefetch(src, t.seen[:(t.done-i)*len(rungs)], 1<<32-1)
		for j := range t.done - i {
			v, seen, differ := load64(src, i+j), t.rungsSeen(j), &t.differ[j%batch]
			for k := t.first; k < len(rungs); k++ {
				differ[k] = load64(src, int(seen[k])) ^ v
			}
		}
	}
	end := min(len(src), i+t.nice)
	best := t.least - 1
	last := i
	seen, differ := t.rungsSeen(i-t.from), &t.differ[(i-t.from)%batch]
	for k := t.first; k < len(rungs); k++ {
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
			n = common(src, c, i, 8, end)
		}
		if n <= best {
			continue
		}
		d := i - c
		if n == 3 && d > t.threeReach {
			continue
		}
		if d < t.minOffset {
			if d = int(farEnough[d&(MinOffset-1)]); d > i {
				continue
			}
			if n = common(src, i-d, i, 0, end); n <= best {
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
