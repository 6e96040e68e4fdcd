package lz77

import (
	"encoding/binary"
	"math/bits"
)

// tree finds, for each position, the nearest match of every length there is a longer one than of all nearer ones. Positions whose next 4 bytes hash
// alike form a binary search tree, ordered by what follows them, in which no position is below an older one: the search for a position's place
// meets its longest matches from the nearest to the farthest, and makes it the root on the way (as in LZMA's match finder bt4).
type tree struct {
	heads []int32 // root by hash of 4 bytes
	three []int32 // the last two positions by hash of 3 bytes, the last one first, if short
	short bool    // there may be matches of 3 bytes
	nodes []int32 // of each position in the window: what is below, what is above
	shift uint8   // 32 − log2 of len(heads)
	mask  int     // of positions: one less than the size of the window, a power of two

	nice, depth, least, minOffset, maxOffset, reach, threeReach int
}

const (
	// threeLog is log2 of the hashes of 3 bytes, each of which has two positions. Two in place of one: samples of 16 bits 1% smaller, executables 0.1%. Half as many hashes: 0.25% larger, 0.05%.
	threeLog = 16
)

// treeWindow is how many positions a tree holds: all, or a power of two.
func treeWindow(size, maxOffset int) int {
	if maxOffset >= size-1 {
		return size
	}
	return min(size, 1<<bits.Len(uint(maxOffset)))
}

// treeMemory is what a tree takes, in bytes.
func treeMemory(params *Params, size int, limits *Limits) int {
	n := 4<<tableLog(params.HashLog, size) + 8*treeWindow(size, limits.MaxOffset)
	if params.least(limits) < 4 {
		n += 8 << threeLog
	}
	return n
}

func (t *tree) reset(params *Params, limits *Limits, size int) {
	log := tableLog(params.HashLog, size)
	t.heads = roots(t.heads, log)
	t.shift = 32 - log
	if t.short = params.least(limits) < 4; t.short {
		t.three = roots(t.three, threeLog+1)
	}
	n := treeWindow(size, limits.MaxOffset)
	if t.mask = n - 1; n == size {
		t.mask = -1 // every position has its own
	}
	if cap(t.nodes) < 2*n {
		t.nodes = make([]int32, 2*n)
	}
	t.nodes = t.nodes[:2*n]
	t.nice, t.depth, t.least = params.Nice, params.Depth, params.least(limits)
	t.minOffset, t.maxOffset = limits.minOffset(), limits.MaxOffset
	// A position's place in nodes is taken by the one that many further on.
	t.reach = min(limits.MaxOffset, n-1)
	t.threeReach = limits.threeReach()
}

// none marks an empty entry: position 0 is one like any other.
const none = -1

// roots returns 1<<log empty entries.
func roots(t []int32, log uint8) []int32 {
	if cap(t) < 1<<log {
		t = make([]int32, 1<<log)
	}
	t = t[:1<<log]
	for i := range t {
		t[i] = none
	}
	return t
}

// insert makes i a root, and appends its candidates to dst, shortest first; lengths go up to nice. Calls must be for one position after the other.
func (t *tree) insert(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	end := min(len(src), i+t.nice)
	best := t.least - 1
	v := load32(src, i)
	if t.short {
		h := v << 8 * prime32 >> (32 - threeLog)
		last := t.three[2*h : 2*h+2 : 2*h+2]
		for _, c := range last {
			d := i - int(c)
			if c < 0 || d > t.threeReach {
				break
			}
			if d >= t.minOffset && (load32(src, int(c))^v)<<8 == 0 {
				best = 3
				dst = append(dst, newCandidate(3, d, model))
				break
			}
		}
		last[0], last[1] = int32(i), last[0]
	}
	h := v * prime32 >> (t.shift & 31)
	c := int(t.heads[h])
	t.heads[h] = int32(i)
	nodes, mask := t.nodes, t.mask
	below, above := 2*(i&mask), 2*(i&mask)+1 // where what is below and above i goes
	nb, na := 0, 0                           // bytes that all that is below or above has in common with i
	low := max(-1, i-t.reach-1)
	for left := t.depth; c > low && left > 0; left-- {
		n := min(nb, na)
		if i+n+8 > end {
			n = common(src, c, i, n, end)
		} else if x := load64(src, c+n) ^ load64(src, i+n); x != 0 {
			n += bits.TrailingZeros64(x) >> 3
		} else {
			n = common(src, c, i, n+8, end)
		}
		if n > best {
			d := i - c
			if d >= t.minOffset {
				best = n
				dst = append(dst, newCandidate(n, d, model))
			} else if d = int(farEnough[d&(MinOffset-1)]); d <= i && d <= t.maxOffset {
				if n := common(src, i-d, i, 0, end); n > best {
					best = n
					dst = append(dst, newCandidate(n, d, model))
				}
			}
		}
		node := 2 * (c & mask)
		pair := nodes[node : node+2 : node+2]
		if i+n == end {
			// It matches as far as anyone looks, and is replaced.
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

// common is extend for lengths up to end−i.
func common(src []byte, c, i, n, end int) int {
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

// resized is c with another length.
func (c candidate) resized(n int) candidate { return c&^(1<<48-1<<27) | candidate(n)<<27 }

func (c candidate) offset() int { return int(c & maxOffset) }
func (c candidate) length() int { return int(c >> 27 & (1<<21 - 1)) }
func (c candidate) code() uint8 { return uint8(c >> 48) }
