package optimal

import (
	"math/bits"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
)

// Incremental finds the sequences of short blocks of content that follow one another, such as the
// lines of a log with a flush behind each. Its tables outlast a block. A Matcher would fill its
// tables anew for each block, which takes a hundred times as long as the block itself.
//
// A hash table leads to the last position with the same 4 bytes, and a chain from each position to
// the one before it (as zlib's deflate_fast). The chain is a ring, so that it bounds the window.
// Positions count from the beginning of the content, so that moving the window within its buffer
// changes nothing.
//
// The parser looks for the cheapest path through the block by dynamic programming, at fixed prices.
// A block is too short for codes of its own, so its coder knows the prices in advance.
//
// The zero value is ready to use. An Incremental is not safe for concurrent use.
type Incremental struct {
	heads  []uint32 // last position by hash, plus zero; 0 for none
	chain  []uint32 // the position before with the same hash, by the low bits of a position
	origin int64    // the offset in the content of position 0
	base   int      // the position of src[0]
	next   int      // the first position that is not in the tables
	nodes  []shortNode
	steps  []lz77.Sequence // of a path, the last one first
}

// IncrementalParams configures an Incremental.
type IncrementalParams struct {
	HashLog  uint8 // log2 of the entries of the hash table
	ChainLog uint8 // log2 of the window in bytes
	Depth    int   // candidates of a position
	Nice     int   // length in bytes of a match that is taken at once
	Repeats  bool  // the coder has three repeat offsets
	// MinMatch and MinOffset are the length of the shortest match and the least offset of the
	// coder, in bytes; 0 stands for 4 and 1. With Repeats MinMatch is at most 4.
	MinMatch, MinOffset int
	Prices              *IncrementalPrices
}

// IncrementalPrices holds the prices of the parts of sequences in units of 1/PriceBit bit.
type IncrementalPrices struct {
	Literal [256]int32
	Length  [PricedLengths]int32   // of a match of so many bytes; the last entry counts for longer ones
	Offset  [33]int32              // by the length of the offset in bits
	Repeat  [OffsetKinds - 1]int32 // of an offset that repeats, the most recent first
}

// MaxIncremental is the size in bytes of the longest block for an Incremental.
const MaxIncremental = 4 << 10

// minShortMatch is the length in bytes of the shortest match: what the hash covers.
const minShortMatch = 4

// Memory returns the bytes that an Incremental takes with settings p.
func (p *IncrementalParams) Memory() int {
	const node, sequence = 28, 12
	return 4<<p.HashLog + 4<<p.ChainLog + (node+sequence)*(MaxIncremental+1)
}

// Reset forgets the content.
func (x *Incremental) Reset() {
	if x.next > 0 { // or else the tables are empty
		clear(x.heads)
	}
	x.origin, x.next = -1, 0 // position 0 stands for none
}

// maxOrigin bounds positions, which have 32 bits.
const maxOrigin = 1 << 30

// Parse appends the sequences of src[start:] to dst; these are MaxIncremental bytes at most.
// Matches reach back into src[:start]. at is the offset in the content of src[start], and grows
// from call to call. Parse first inserts into the tables what precedes src[start] and was not in an
// earlier call. repeats are the repeat offsets of the coder.
func (x *Incremental) Parse(
	dst []lz77.Sequence, src []byte, start int, at int64, repeats [3]uint32, p *IncrementalParams,
) []lz77.Sequence {
	x.setContent(src, start, at, p)
	src = src[:len(src):len(src)]
	n := len(src) - start
	if len(x.nodes) < n+1 {
		x.nodes = make([]shortNode, MaxIncremental+1)
		x.steps = make([]lz77.Sequence, 0, MaxIncremental/minShortMatch+1)
	}
	x.findPath(src, start, repeats, p)
	return x.appendPath(dst, n)
}

// setContent makes src the content, and inserts what is in front of start.
func (x *Incremental) setContent(src []byte, start int, at int64, p *IncrementalParams) {
	if len(x.heads) != 1<<p.HashLog || len(x.chain) != 1<<p.ChainLog {
		x.heads, x.chain = make([]uint32, 1<<p.HashLog), make([]uint32, 1<<p.ChainLog)
		x.Reset()
	}
	if at-x.origin > maxOrigin {
		x.Reset()
		x.origin = at - int64(start) - 1
	}
	x.base = int(at - int64(start) - x.origin)
	x.next = max(x.next, x.base, x.base+start-len(x.chain))
	x.insert(src, start)
}

// insert inserts the positions in front of src[end] that are not in the tables.
func (x *Incremental) insert(src []byte, end int) {
	shift, mask := headShift(len(x.heads)), len(x.chain)-1
	end = min(end, len(src)-minShortMatch+1)
	i := x.next - x.base
	for ; i < end; i++ {
		h := finder.Load32(src, i) * finder.Prime32 >> (shift & 31)
		position := uint32(i + x.base)
		x.chain[int(position)&mask] = x.heads[h]
		x.heads[h] = position
	}
	x.next = i + x.base
}

// Forget removes from the tables what the last call of Parse has inserted that depends on
// src[start:]. src is as it was then, and not longer than the window. So blocks can have the same
// content in front of them, and do not depend on one another.
func (x *Incremental) Forget(src []byte, start int) {
	shift, mask := headShift(len(x.heads)), len(x.chain)-1
	start = max(0, start-minShortMatch+1)
	for i := x.next - x.base - 1; i >= start; i-- {
		h := finder.Load32(src, i) * finder.Prime32 >> (shift & 31)
		x.heads[h] = x.chain[(i+x.base)&mask]
	}
	x.next = min(x.next, x.base+start)
}

// headShift returns 32 − log2 of the size of the hash table.
func headShift(size int) uint32 { return uint32(bits.LeadingZeros32(uint32(size)) + 1) }

// A shortNode is a position of a block, with the cheapest path to it.
type shortNode struct {
	price          int32
	length, offset uint32 // of the match that leads here; a length of 0 is a literal
	repeats        [3]uint32
}

// findPath finds the cheapest path from src[start] to the end.
func (x *Incremental) findPath(src []byte, start int, repeats [3]uint32, p *IncrementalParams) {
	nodes := x.nodes[:len(src)-start+1]
	for i := range nodes {
		nodes[i].price = unreached
	}
	nodes[0] = shortNode{length: 1, repeats: repeats}
	for i := 0; i < len(nodes)-1; i++ {
		node, at := &nodes[i], start+i
		if price := node.price + p.Prices.Literal[src[at]]; price < nodes[i+1].price {
			nodes[i+1] = shortNode{price: price, repeats: node.repeats}
		}
		if len(src)-at < minShortMatch {
			continue
		}
		x.insert(src, at)
		longest := 0
		if p.Repeats {
			longest = extendRepeats(nodes[i:], src, at, p)
		}
		if longest < p.Nice {
			longest = max(longest, x.extendMatches(nodes[i:], src, at, p))
		}
		if longest >= p.Nice {
			i += longest - 1
		}
	}
}

// extendRepeats extends the path to src[at] by matches at its repeat offsets, and returns the
// length of the longest. nodes begins with the node of at.
func extendRepeats(nodes []shortNode, src []byte, at int, p *IncrementalParams) (longest int) {
	node := nodes[0]
	v := finder.Load32(src, at)
	for k, offset := range node.repeats {
		c := at - int(offset)
		if k == 0 && node.length > 0 || c < 0 || finder.Load32(src, c) != v {
			continue // behind a match the last offset has no short code
		}
		n := finder.Extend(src, c, at, 4)
		step := shortNode{offset: offset, repeats: node.repeats}
		copy(step.repeats[1:], node.repeats[:k])
		step.repeats[0] = offset
		extendPath(nodes, minShortMatch, n, node.price+p.Prices.Repeat[k], step, p)
		longest = max(longest, n)
	}
	return longest
}

// extendMatches is extendRepeats for candidates at new offsets.
func (x *Incremental) extendMatches(
	nodes []shortNode, src []byte, at int, p *IncrementalParams,
) (longest int) {
	node := nodes[0]
	v := finder.Load32(src, at)
	chain, first := x.chain, x.base
	mask := len(chain) - 1
	position := at + first
	last := max(first, position-mask)
	c := int(x.heads[v*finder.Prime32>>(headShift(len(x.heads))&31)])
	longest = max(p.MinMatch, minShortMatch) - 1
	if len(src)-at <= longest {
		return 0
	}
	ends := finder.Load32(src, at+longest-3) // the 4 bytes at the end of a longer match
	for range p.Depth {
		if c < last || c >= position {
			break
		}
		i := c - first
		if at-i >= p.MinOffset && finder.Load32(src, i+longest-3) == ends && finder.Load32(src, i) == v {
			if n := finder.Extend(src, i, at, 4); n > longest {
				offset := uint32(at - i)
				step := shortNode{
					offset: offset, repeats: [3]uint32{offset, node.repeats[0], node.repeats[1]},
				}
				extendPath(nodes, longest+1, n, node.price+p.Prices.Offset[bits.Len32(offset)], step, p)
				longest = n
				if n >= p.Nice || at+n == len(src) {
					break
				}
				ends = finder.Load32(src, at+longest-3)
			}
		}
		c = int(chain[c&mask])
	}
	return longest
}

// extendPath extends the path to nodes[0] by matches of from to to bytes. price is that of the path
// and the offset, and step has everything else but the length.
func extendPath(nodes []shortNode, from, to int, price int32, step shortNode, p *IncrementalParams) {
	if to >= p.Nice {
		from = to
	}
	for n := from; n <= to; n++ {
		if next := price + p.Prices.Length[min(n, PricedLengths-1)]; next < nodes[n].price {
			step.price, step.length = next, uint32(n)
			nodes[n] = step
		}
	}
}

// appendPath appends the sequences of the path to the node n.
func (x *Incremental) appendPath(dst []lz77.Sequence, n int) []lz77.Sequence {
	x.steps = x.steps[:0]
	run := uint32(0)
	for n > 0 {
		node := &x.nodes[n]
		if node.length == 0 {
			run++
			n--
			continue
		}
		if k := len(x.steps); k > 0 {
			x.steps[k-1].LitLen = run
		}
		run = 0
		x.steps = append(x.steps, lz77.Sequence{MatchLen: node.length, Offset: node.offset})
		n -= int(node.length)
	}
	if k := len(x.steps); k > 0 {
		x.steps[k-1].LitLen = run
	}
	for i := len(x.steps) - 1; i >= 0; i-- {
		dst = append(dst, x.steps[i])
	}
	return dst
}
