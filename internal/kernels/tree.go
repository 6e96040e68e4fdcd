package kernels

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// This file finds, for each position, the nearest match of every length that no nearer match has.
// It uses binary search trees, as LZMA's match finder bt4 and libdeflate's bt_matchfinder do.
//
// Positions with the same hash of 4 bytes form a binary search tree, ordered by the content behind
// them. No position is below an older one. Insertion makes a position the root. On its way down it
// splits the tree into the lesser and the greater nodes, and meets the candidates from the nearest
// to the farthest. A match of Nice bytes ends the descent; the new position replaces that
// candidate.
//
// Tables hold the low 16 bits of positions. The difference from the current position is the offset
// of an entry. It is above TreeReach, and so invalid, for positions out of reach: a sweep of the
// hash tables marks them in time. Children need no sweep. A node in reach got its children while
// they were in reach themselves, so their offsets are below 1<<16.
//
// Work goes in two steps. The first inserts a batch of positions into the hash tables, which takes
// no unpredictable branch, so that cache misses overlap. It notes the root and the match of 3 bytes
// of each position. The second step descends the trees, position by position.
//
// The kernel selects the direction of a descent, and whether a node is a candidate, without
// branches: both are hard to predict. The portable twins are in this file.

const (
	// TreeReach is the greatest offset of a candidate.
	TreeReach = 1<<15 - 1
	// TreeHash3Log is log2 of the number of hashes of 3 bytes, each of which has two positions. One
	// position in place of two makes samples of 16 bits 1% larger.
	TreeHash3Log = 16

	treeWindow = 1 << 15 // positions that have children
	treeBatch  = 64      // positions that enter the hash tables at once
	treeTail   = 16      // no position that close to the end of content is inserted
	treePrime  = 0x9E3779B1
	treeNull   = 1 << 15 // difference of an empty entry from the position that it was written at
)

// Tree is the state and the parameters of the search. Positions and lengths are in bytes.
type Tree struct {
	At     int // next position to insert
	Hashed int // next position to insert into the hash tables, up to a batch farther than At
	swept  int // position of the last sweep

	Nice     int // length of a match that ends the search, 4 or more
	Depth    int // most nodes of a descent, 1 or more
	MinMatch int // least length of a candidate, 3 or more
	Reach    int // greatest offset, 1 … TreeReach
	Reach3   int // greatest offset of a match of 3 bytes, 0 … TreeReach; 0 for none

	Shift    uint64   // 32 − log2 of the number of hashes of 4 bytes, 1 … 31
	Heads    []uint16 // root by hash of 4 bytes
	Heads3   []uint16 // the last two positions by hash of 3 bytes, the latest first, if Reach3 > 0
	Children []uint16 // of each position in the window: the lesser, the greater
	Codes    []uint8  // code of each offset, 0 … TreeReach

	roots, nears [treeBatch]uint16 // offset of root and match of 3 bytes, by position mod treeBatch
}

// TreeChildren returns the length of Children for content of size bytes.
func TreeChildren(size int) int { return 2 * min(size, treeWindow) }

// Reset empties the hash tables, for new content.
func (t *Tree) Reset() {
	t.At, t.Hashed = 0, 0
	t.empty()
}

// empty empties the hash tables at position Hashed.
func (t *Tree) empty() {
	t.swept = t.Hashed
	null := uint16(t.Hashed) ^ treeNull
	for _, table := range [...][]uint16{t.Heads, t.Heads3} {
		for i := range table {
			table[i] = null
		}
	}
}

// SearchTree inserts positions from t.At on, up to end or the tail of src. It appends the
// candidates of each position to cands, the shortest first, with lengths up to Nice:
//
//	bits  0–26  offset
//	bits 27–47  length
//	bits 48–    code
//
// It sets first[k] to the index of the first candidate of position At+k. It stops behind a position
// with a match of Nice bytes, and returns found. It stops in front of a position if there are more
// than most candidates. cands needs a capacity above most+Nice.
func SearchTree[C ~uint64](
	t *Tree, src []byte, end int, cands []C, first []uint32, most int,
) (_ []C, found bool) {
	room := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(cands))), cap(cands))
	end = min(end, len(src)-treeTail)
	if end > t.At && len(first) < end-t.At || cap(cands) <= most+t.Nice {
		panic("kernels: no room for candidates")
	}
	n, found := t.insert(src, end, room, len(cands), first, most)
	return cands[:n], found
}

// InsertTree inserts positions from t.At on, up to end or the tail of src, and drops their
// candidates.
func InsertTree(t *Tree, src []byte, end int) {
	var room [1]uint64
	for end = min(end, len(src)-treeTail); t.At < end; {
		t.insert(src, end, room[:], 0, nil, 0)
	}
}

// Skip goes on at position p, at or behind t.Hashed. Positions between are not inserted. t.At must
// equal t.Hashed.
func (t *Tree) Skip(p int) {
	if t.At != t.Hashed || p < t.At {
		panic("kernels: Skip within a batch")
	}
	if p+treeBatch-t.swept > TreeReach {
		t.sweep()
	}
	t.At, t.Hashed = p, p
	if p+treeBatch-t.swept > TreeReach {
		t.empty()
	}
}

// insert is SearchTree with n candidates in cands at first. If first is nil it is InsertTree.
func (t *Tree) insert(
	src []byte, end int, cands []uint64, n int, first []uint32, most int,
) (_ int, found bool) {
	t.checkRange(src)
	for t.At < end && n <= most && !found {
		if t.At == t.Hashed {
			t.hash(src)
		}
		at := t.At
		n, found = t.search(src, min(end, t.Hashed), cands, n, first, most)
		if first != nil {
			first = first[t.At-at:]
		}
	}
	return n, found
}

// checkRange panics if the kernel could leave a slice.
func (t *Tree) checkRange(src []byte) {
	switch {
	case t.At < 0, uint(t.Hashed-t.At) > treeBatch, t.Nice < 4, t.Depth < 1, t.MinMatch < 3,
		uint(t.Reach-1) >= TreeReach, uint(t.Reach3) > TreeReach, t.Shift < 1, t.Shift > 31,
		uint64(len(t.Heads)) < 1<<(32-t.Shift), t.Reach3 > 0 && len(t.Heads3) < 2<<TreeHash3Log,
		len(t.Children) < TreeChildren(len(src)), len(t.Codes) <= TreeReach:
		panic("kernels: Tree out of range")
	}
}

// hash inserts the next batch of positions into the hash tables.
func (t *Tree) hash(src []byte) {
	if t.Hashed+treeBatch-t.swept > TreeReach {
		t.sweep()
	}
	end := min(t.Hashed+treeBatch, len(src)-treeTail)
	if !hashTreeKernel(t, src, end) {
		t.hashPortable(src, end)
	}
	t.Hashed = end
}

// sweep marks all entries of the hash tables that are out of reach.
func (t *Tree) sweep() {
	t.swept = t.Hashed
	now := uint16(t.Hashed)
	for _, table := range [...][]uint16{t.Heads, t.Heads3} {
		if sweepTreeKernel(table, now) {
			continue
		}
		for i, e := range table {
			if int16(now-e) <= 0 {
				table[i] = now ^ treeNull
			}
		}
	}
}

func (t *Tree) hashPortable(src []byte, end int) {
	for i := t.Hashed; i < end; i++ {
		v := binary.LittleEndian.Uint32(src[i : i+4 : i+4])
		if t.Reach3 > 0 {
			h := v << 8 * treePrime >> (32 - TreeHash3Log)
			last := t.Heads3[2*h : 2*h+2 : 2*h+2]
			near, limit := uint16(0), min(t.Reach3, i)
			for _, e := range last {
				d := uint16(i) - e
				if int(d)-1 >= limit || d == 0 {
					break
				}
				if j := i - int(d); (binary.LittleEndian.Uint32(src[j:j+4:j+4])^v)<<8 == 0 {
					near = d
					break
				}
			}
			last[0], last[1] = uint16(i), last[0]
			t.nears[i%treeBatch] = near
		}
		h := v * treePrime >> (t.Shift & 31)
		t.roots[i%treeBatch] = uint16(i) - t.Heads[h]
		t.Heads[h] = uint16(i)
	}
}

// search descends the trees of positions up to end, which are in the hash tables. It may stop
// anywhere.
func (t *Tree) search(
	src []byte, end int, cands []uint64, n int, first []uint32, most int,
) (_ int, found bool) {
	// The kernel compares 8 bytes at a time.
	if fast := min(end, len(src)-t.Nice-7); t.At < fast {
		if n, found, ok := searchTreeKernel(t, src, fast, cands, n, first, most); ok {
			return n, found
		}
	}
	for k := 0; t.At < end && n <= most && !found; k++ {
		if first == nil {
			t.descend(src, nil, 0)
			continue
		}
		first[k] = uint32(n)
		n, found = t.descend(src, cands, n)
	}
	return n, found
}

// descend inserts position At into its tree and adds its candidates to the first n of cands, unless
// that is nil.
func (t *Tree) descend(src []byte, cands []uint64, n int) (_ int, found bool) {
	i := t.At
	t.At++
	end := min(len(src), i+t.Nice)
	best := t.MinMatch - 1
	if cands == nil {
		best = t.Nice
	} else if d := t.nears[i%treeBatch]; t.Reach3 > 0 && d > 0 && best < 3 {
		best = 3
		cands[n] = t.candidate(3, int(d))
		n++
	}
	nodes := t.Children
	below := 2 * (i % treeWindow) // where the next lesser node goes
	above := below + 1            // where the next greater node goes
	nb, na := 0, 0                // bytes that all lesser or greater nodes share with i
	limit := min(t.Reach, i)
	d := int(t.roots[i%treeBatch])
	for left := t.Depth; left > 0 && d <= limit; left-- {
		c := i - d
		k := EqualFrom(src, c, i, min(nb, na), end)
		if k > best {
			best = k
			cands[n] = t.candidate(k, d)
			n++
		}
		node := 2 * (c % treeWindow)
		pair := nodes[node : node+2 : node+2]
		if i+k == end {
			// It matches as far as searches go: i replaces it.
			nodes[below], nodes[above] = child(i, pair[0], limit), child(i, pair[1], limit)
			return n, k == t.Nice
		}
		e := pair[0]
		if src[c+k] < src[i+k] {
			nodes[below] = uint16(c)
			below, nb = node+1, k
			e = pair[1]
		} else {
			nodes[above] = uint16(c)
			above, na = node, k
		}
		d = int(uint16(i) - e)
	}
	nodes[below], nodes[above] = uint16(i)^treeNull, uint16(i)^treeNull
	return n, false
}

// child returns the entry e as a child of position i. It drops a child out of reach, whose offset
// could exceed 16 bits before i is out of reach.
func child(i int, e uint16, limit int) uint16 {
	if int(uint16(i)-e) > limit {
		return uint16(i) ^ treeNull
	}
	return e
}

func (t *Tree) candidate(n, d int) uint64 {
	return uint64(d) | uint64(n)<<CandidateLengthShift | uint64(t.Codes[d])<<CandidateCodeShift
}

// EqualFrom returns the length of the match of src[i:end] with src[c:]; c < i. The first n bytes
// are known to be equal.
func EqualFrom(src []byte, c, i, n, end int) int {
	a, b := src[c+n:], src[i+n:end]
	for k := 0; ; k += 8 {
		if len(b) < k+8 {
			for k < len(b) && a[k] == b[k] {
				k++
			}
			return n + k
		}
		if x := binary.LittleEndian.Uint64(a[k:]) ^ binary.LittleEndian.Uint64(b[k:]); x != 0 {
			return n + k + bits.TrailingZeros64(x)>>3
		}
	}
}
