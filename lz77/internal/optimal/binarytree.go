package optimal

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/lz77/internal/base"
)

// binaryTree finds, for each position, the nearest match of every length that no nearer match has.
// LZMA's match finder bt4 and libdeflate's bt_matchfinder work the same way.
//
// Positions with the same hash of 4 bytes form a binary search tree, ordered by the content behind
// them. No position is below an older one. Insertion makes a position the root. On its way down it
// splits the tree into the lesser and the greater nodes, and meets the candidates from the nearest
// to the farthest. A match of nice bytes ends the descent; the new position replaces that
// candidate.
//
// Cost: up to depth nodes per position, each a cache miss and a comparison. Memory: 8 bytes for
// each position of the block or of the window, whichever is smaller. Depth bounds the time on
// content that degenerates a tree to a list; candidates beyond it are lost.
type binaryTree struct {
	heads    []int32 // root by hash of 4 bytes
	heads3   []int32 // the last two positions by hash of 3 bytes, the latest first, if hash3
	hash3    bool    // matches of 3 bytes are sought
	children []int32 // of each position in the window: the less, the greater
	shift    uint8   // 32 − log2 of len(heads)
	mask     int     // of positions: the size of the window, a power of two, less one

	nice, depth, minMatch, minOffset, maxOffset, reach, maxOffset3 int
}

// hash3Log is log2 of the number of hashes of 3 bytes, each of which has two positions. One
// position in place of two makes samples of 16 bits 1% larger.
const hash3Log = 16

// treeWindow returns how many positions a tree holds: all, or a power of two.
func treeWindow(size, maxOffset int) int {
	if maxOffset >= size-1 {
		return size
	}
	return min(size, 1<<bits.Len(uint(maxOffset)))
}

// treeMemory returns the memory of a tree in bytes.
func treeMemory(c *Config, size int) int {
	n := 4<<base.TableLog(c.HashLog, size) + 8*treeWindow(size, c.MaxOffset)
	if c.MinNew < 4 {
		n += 8 << hash3Log
	}
	return n
}

func (t *binaryTree) reset(c *Config, size int) {
	log := base.TableLog(c.HashLog, size)
	t.heads = emptyHeads(t.heads, log)
	t.shift = 32 - log
	if t.hash3 = c.MinNew < 4; t.hash3 {
		t.heads3 = emptyHeads(t.heads3, hash3Log+1)
	}
	n := treeWindow(size, c.MaxOffset)
	if t.mask = n - 1; n == size {
		t.mask = -1 // every position has its own place
	}
	if cap(t.children) < 2*n {
		t.children = make([]int32, 2*n)
	}
	t.children = t.children[:2*n]
	t.nice, t.depth, t.minMatch = c.Nice, c.Depth, c.MinNew
	t.minOffset, t.maxOffset = c.MinOffset, c.MaxOffset
	// A position shares its place with the one n further on.
	t.reach = min(c.MaxOffset, n-1)
	t.maxOffset3 = c.maxOffset3()
}

// none marks an empty entry, since 0 is a position.
const none = -1

// emptyHeads returns 1<<log empty entries, in the memory of t if it is large enough.
func emptyHeads(t []int32, log uint8) []int32 {
	if cap(t) < 1<<log {
		t = make([]int32, 1<<log)
	}
	t = t[:1<<log]
	for i := range t {
		t[i] = none
	}
	return t
}

// insert makes i a root and appends its candidates to dst, the shortest first, with lengths up to
// nice. Positions must follow each other without a gap.
func (t *binaryTree) insert(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	end := min(len(src), i+t.nice)
	best := t.minMatch - 1
	v := base.Load32(src, i)
	if t.hash3 {
		h := v << 8 * base.Prime32 >> (32 - hash3Log)
		last := t.heads3[2*h : 2*h+2 : 2*h+2]
		for _, c := range last {
			d := i - int(c)
			if c < 0 || d > t.maxOffset3 {
				break
			}
			if d >= t.minOffset && (base.Load32(src, int(c))^v)<<8 == 0 {
				best = 3
				dst = append(dst, newCandidate(3, d, model))
				break
			}
		}
		last[0], last[1] = int32(i), last[0]
	}
	h := v * base.Prime32 >> (t.shift & 31)
	c := int(t.heads[h])
	t.heads[h] = int32(i)
	nodes, mask := t.children, t.mask
	below, above := 2*(i&mask), 2*(i&mask)+1 // where the next lesser and greater node go
	nb, na := 0, 0                           // bytes that all lesser or greater nodes share with i
	low := max(-1, i-t.reach-1)
	for left := t.depth; c > low && left > 0; left-- {
		n := min(nb, na)
		if i+n+8 > end {
			n = commonBytes(src, c, i, n, end)
		} else if x := base.Load64(src, c+n) ^ base.Load64(src, i+n); x != 0 {
			n += bits.TrailingZeros64(x) >> 3
		} else {
			n = commonBytes(src, c, i, n+8, end)
		}
		if n > best {
			d := i - c
			if d >= t.minOffset {
				best = n
				dst = append(dst, newCandidate(n, d, model))
			} else if d = int(base.LeastMultiple[d&(base.MinOffset-1)]); d <= i && d <= t.maxOffset {
				if n := commonBytes(src, i-d, i, 0, end); n > best {
					best = n
					dst = append(dst, newCandidate(n, d, model))
				}
			}
		}
		node := 2 * (c & mask)
		pair := nodes[node : node+2 : node+2]
		if i+n == end {
			// It matches as far as searches go: i replaces it.
			nodes[below], nodes[above] = pair[0], pair[1]
			return dst
		}
		if src[c+n] < src[i+n] {
			nodes[below] = int32(c)
			below, nb = node+1, n
			c = int(pair[1])
		} else {
			nodes[above] = int32(c)
			above, na = node, n
			c = int(pair[0])
		}
	}
	nodes[below], nodes[above] = none, none
	return dst
}

// commonBytes returns the length of the match of src[i:end] with src[c:]; c < i. The first n bytes
// are known to be equal.
func commonBytes(src []byte, c, i, n, end int) int {
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

// candidate is a match with the code of its offset:
//
//	bits  0–26  offset
//	bits 27–47  length
//	bits 48–    code
type candidate uint64

func newCandidate(n, d int, model PriceModel) candidate {
	return candidate(d) | candidate(n)<<27 | candidate(model.OffsetCode(uint32(d)))<<48
}

// resized returns c with length n.
func (c candidate) resized(n int) candidate { return c&^(1<<48-1<<27) | candidate(n)<<27 }

func (c candidate) offset() int { return int(c & base.MaxOffset) }
func (c candidate) length() int { return int(c >> 27 & (1<<21 - 1)) }
func (c candidate) code() uint8 { return uint8(c >> 48) }
