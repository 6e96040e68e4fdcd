package lz77

import (
	"math"
	"math/bits"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// chains finds matches within a window of kernels.HashChainWindow bytes (as zlib and libdeflate
// do). For each hash of 4 bytes there is a head, the last position with that hash, and a chain from
// each position to the one before with the same hash. For matches of 3 bytes there is only a head.
//
// An entry is a position less a base, in 16 bits, so that all tables together take 224 KiB and stay
// in the second-level cache. Every 32 KiB the base moves on, and all entries are lowered. The least
// value stands for none. A lazy search ends where the base moves.
//
// The parser is lazy. It takes the longest match of up to Depth candidates, and the nearest of that
// length, unless one of the next Lazy positions has a better one. The search at the next position
// looks at half of the candidates, and that at the second one at a quarter.
//
// Cost: an insertion for each position; a search for each position that no match covers, and up to
// Lazy searches for each match.
type chains struct {
	heads3, heads4 []int16
	links          []int16 // by the low bits of a position
}

const (
	// chainMatchBits is the number of bits that a match of chains takes besides those of its
	// offset.
	chainMatchBits = 6
	// leastChainMatch is the length of the shortest match of a chain, which its hash covers.
	leastChainMatch = 4
)

// chainLazyCost[k] is the number of bits by which a match k positions later must be better.
var chainLazyCost = [3]int{0, 2, 5}

// chainMemory is the memory of chains with 1<<log heads of chains, in bytes.
func chainMemory(log uint8) int {
	return 2<<log + 2<<(log-kernels.HashChainLess3) + 2*kernels.HashChainWindow
}

// reset empties all chains; there are 1<<log.
func (c *chains) reset(log uint8) {
	if n := 1 << log; cap(c.heads4) < n {
		c.heads4, c.heads3 = make([]int16, n), make([]int16, n>>kernels.HashChainLess3)
	}
	c.heads4, c.heads3 = c.heads4[:1<<log], c.heads3[:1<<(log-kernels.HashChainLess3)]
	if c.links == nil {
		c.links = make([]int16, kernels.HashChainWindow)
	}
	for _, heads := range [][]int16{c.heads3, c.heads4} {
		heads[0] = math.MinInt16
		for n := 1; n < len(heads); n *= 2 {
			copy(heads[n:], heads[:n])
		}
	}
}

// slide moves the window on by its size. It first inserts the rest of its positions.
func (c *chains) slide(st *kernels.HashChainParse, src []byte) {
	c.insert(st, src, st.Base+kernels.HashChainWindow)
	for _, entries := range [][]int16{c.heads3, c.heads4, c.links} {
		kernels.SlideHashChain(entries)
	}
	st.Base += kernels.HashChainWindow
}

// parseChains appends the sequences of src[start:] to dst. It panics if the limits have repeat
// offsets or a least offset above 1, or if parameters are out of range.
func (m *Matcher) parseChains(dst []Sequence, src []byte, start int) []Sequence {
	if m.limits.Repeats > 0 || m.limits.LeastOffset() > 1 {
		panic("lz77: HashChain with repeat offsets or a least offset")
	}
	c, p := &m.chains, &m.params
	if p.Depth < 4 || p.Lazy < 0 || p.Lazy > 2 || p.Nice < 5 || p.Nice > kernels.MaxHashChainMatch ||
		p.HashLog < 8 || p.HashLog > 24 {
		panic("lz77: parameters of HashChain out of range")
	}
	log := finder.TableLog(p.HashLog, len(src))
	c.reset(log)
	st := kernels.HashChainParse{
		At: start, Anchor: start, End: len(src) - finder.Tail,
		Depth: p.Depth, Lazy: p.Lazy, Nice: p.Nice,
		MaxOffset: min(m.limits.MaxOffset, kernels.HashChainWindow), Shift: uint64(32 - log),
	}
	st.Base = max(start-kernels.HashChainWindow, 0) &^ (kernels.HashChainWindow - 1)
	st.NextInsert = st.Base
	least := max(m.limits.MinMatch, 3)
	m.costs.estimate(len(dst), src, start)
	st.MinMatch, st.SureMatch = m.costs.bounds(least)
	kernelEnd := 0
	if kernels.HasHashChain() {
		kernelEnd = len(src) - kernels.HashChainSlack
	}
	step := max(checkpointCandidates/p.Depth, 1)
	for next := st.At + step; st.At < st.End; {
		dst = m.grow(dst)
		left := m.costs.untilUpdate(dst)
		if left == 0 {
			m.costs.update(dst, src, m.Checkpoint)
			st.MinMatch, st.SureMatch = m.costs.bounds(least)
			left = m.costs.untilUpdate(dst)
		}
		room := dst[len(dst):min(cap(dst), len(dst)+left)]
		n := 0
		if st.At < kernelEnd {
			n = kernels.ParseHashChain(&st, src, c.heads3, c.heads4, c.links, &m.costs.cost, room)
		} else {
			n = c.parse(&st, src, &m.costs.cost, room, min(next, st.End, st.Base+kernels.HashChainWindow))
		}
		dst = dst[:len(dst)+n]
		if st.At < st.End && st.At >= st.Base+kernels.HashChainWindow {
			c.slide(&st, src)
		}
		if st.At >= next {
			next = st.At + step
			m.reach(st.At - start)
		}
	}
	return dst
}

// checkpointCandidates is the number of candidates between checkpoints.
const checkpointCandidates = 1 << 18

// parse continues a parse until it reaches stop or has written all of seqs. It returns the number
// of sequences. It is the definition of kernels.ParseHashChain.
func (c *chains) parse(
	st *kernels.HashChainParse, src []byte, cost *[256]uint8, seqs []Sequence, stop int,
) (n int) {
	at, end := st.At, min(st.End, st.Base+kernels.HashChainWindow)
	for at < stop && n < len(seqs) {
		length, offset, head3 := c.search(st, src, at, max(st.MinMatch, leastChainMatch)-1, st.Depth)
		if length == 0 && st.MinMatch < leastChainMatch {
			length, offset = search3(st, src, at, head3)
		}
		if length == 0 || length < st.SureMatch && !chainPays(cost, src[at:at+length], offset) {
			at += min(1+(at-st.Anchor)>>8, maxStep)
			continue
		}
		for k := 1; k <= st.Lazy && length < st.Nice && at+k < end; k++ {
			longer, far, _ := c.search(st, src, at+k, max(length, leastChainMatch)-1, st.Depth>>k)
			saved := score(longer-length) + bits.Len32(uint32(offset)) - bits.Len32(uint32(far))
			if longer > 0 && saved > chainLazyCost[k] {
				at += k
				length, offset, k = longer, far, 0
			}
		}
		back := finder.EqualBefore(src, at-offset, at, at-st.Anchor)
		seqs[n] = Sequence{
			LitLen: uint32(at - back - st.Anchor), MatchLen: uint32(length + back), Offset: uint32(offset),
		}
		n++
		at += length
		st.Anchor = at
	}
	st.At = at
	return n
}

// chainPays reports whether a match of content takes fewer bits than its bytes do as literals.
func chainPays(cost *[256]uint8, content []byte, offset int) bool {
	sum := 0
	for _, b := range content {
		sum += int(cost[b])
	}
	return sum > (bits.Len32(uint32(offset))+chainMatchBits)*costBit
}

// insert inserts the positions up to end. It returns the old heads of the last one: of its chain,
// and of its hash of 3 bytes.
func (c *chains) insert(st *kernels.HashChainParse, src []byte, end int) (head, head3 int16) {
	shift := st.Shift & 31
	heads3, heads4, links := c.heads3, c.heads4, c.links[:kernels.HashChainWindow]
	for p := st.NextInsert; p < end; p++ {
		v, entry := finder.Load32(src, p), int16(p-st.Base)
		h := v * finder.Prime32 >> shift
		head = heads4[h]
		links[p&(len(links)-1)] = head
		heads4[h] = entry
		if st.MinMatch < leastChainMatch {
			h = v << 8 * finder.Prime32 >> shift >> kernels.HashChainLess3
			head3 = heads3[h]
			heads3[h] = entry
		}
	}
	st.NextInsert = max(end, st.NextInsert)
	return head, head3
}

// lowest returns the least position of a candidate at i.
func lowest(st *kernels.HashChainParse, i int) int {
	return max(i-st.MaxOffset, st.Base+math.MinInt16+1, 0)
}

// search inserts position i. It returns the longest match there of more than best bytes among depth
// candidates; length 0 stands for none. head3 is the last position with the same hash of 3 bytes.
func (c *chains) search(
	st *kernels.HashChainParse, src []byte, i, best, depth int,
) (length, offset int, head3 int16) {
	head, head3 := c.insert(st, src, i+1)
	links := c.links[:kernels.HashChainWindow]
	rest := src[i:min(i+kernels.MaxHashChainMatch, len(src))]
	low, p := lowest(st, i), st.Base+int(head)
	if best >= len(rest) || p < low {
		return 0, 0, head3
	}
	ends := finder.Load32(rest, best-3)
	for {
		if finder.Load32(src, p+best-3) == ends {
			if n := finder.Extend(src[:i+len(rest)], p, i, 0); n > best {
				length, offset, best = n, i-p, n
				if n >= st.Nice || n == len(rest) {
					break
				}
				ends = finder.Load32(rest, best-3)
			}
		}
		next := st.Base + int(links[p&(len(links)-1)])
		depth--
		if depth == 0 || next < low || next >= p {
			break
		}
		p = next
	}
	return length, offset, head3
}

// search3 returns the match of 3 bytes at i with the head of their hash. Length 0 stands for none.
func search3(st *kernels.HashChainParse, src []byte, i int, head int16) (length, offset int) {
	p := st.Base + int(head)
	if p < lowest(st, i) || (finder.Load32(src, p)^finder.Load32(src, i))<<8 != 0 {
		return 0, 0
	}
	return 3, i - p
}
