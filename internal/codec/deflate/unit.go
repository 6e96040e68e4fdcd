package deflate

import (
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/simd"
)

// Block splitting. Content is cut into units of about 2,048 symbols. Then mergeUnits merges, again
// and again, the two neighbours that save most by common codes, until no merger saves anything.
// Costs are entropies plus an estimate of the header. At last refine moves the boundaries to single
// tokens.
//
// unitSymbols is the number of symbols of a unit. With 1024 files are 0.01% smaller, and an Encoder
// takes 1.25 times as long.
const unitSymbols = 2048

// checkpointUnits is the number of units, or of mergers of up to 30 µs, between checkpoints.
const checkpointUnits = 64

// maxUnits bounds the number of units merged together, and so their memory.
const maxUnits = 256

// span is a range of content: its tokens, literals and bytes.
type span struct {
	tokens  []token
	lits    []byte // begins with the literals of the span; others may follow
	content []byte
}

// unit is a range of about unitSymbols symbols, and later a block of several units.
type unit struct {
	tokens, lits, content int // number of each
	hist                  histogram
	cost                  uint64 // estimated size, in units of 1/huffman.CostBit bit
	pairCost              uint64 // estimated size together with the next unit
	// indices of the neighbours; the next of the last one is the number of units
	prev, next int
}

// histogram counts the symbols of a block.
type histogram struct {
	litLen [litLenSymbols]uint32
	offset [offsetSymbols]uint32
	extra  uint64 // number of extra bits
}

// addCounts adds the counts of g to h. The sum has one end of block.
//
//pz:nobce
func (h *histogram) addCounts(g *histogram) {
	for i := range h.litLen {
		h.litLen[i] += g.litLen[i]
	}
	for i := range h.offset {
		h.offset[i] += g.offset[i]
	}
	h.litLen[endOfBlock] = 1
	h.extra += g.extra
}

// takeTokens sets u to the first tokens of s, about unitSymbols symbols, and removes them from s.
func (u *unit) takeTokens(s *span) {
	h := &u.hist
	*h = histogram{}
	lits, matched, n := 0, 0, 0
	var lengths [32]uint32
	//pz:nobce
	for _, t := range s.tokens {
		length := int(t >> tokenLength & 511)
		lits += int(t >> tokenRun)
		matched += length
		n++
		h.offset[t%offsetSymbols]++
		lengths[lengthSlot[length]%32]++
		if lits+n >= unitSymbols {
			break
		}
	}
	h.offset[noSlot] = 0
	copy(h.litLen[firstLength:], lengths[:lengthSlots])
	h.litLen[endOfBlock] = 1
	simd.Histogram((*[literals]uint32)(h.litLen[:]), s.lits[:lits])
	for i, c := range lengths[:lengthSlots] {
		h.extra += uint64(c) * uint64(lengthExtra[i])
	}
	for i, c := range &h.offset {
		h.extra += uint64(c) * uint64(offsetExtra[i])
	}
	u.tokens, u.lits, u.content = n, lits, lits+matched
	s.tokens, s.lits, s.content = s.tokens[n:], s.lits[lits:], s.content[lits+matched:]
}

// estimate returns the estimated size of a block of both units, in units of 1/huffman.CostBit bit.
func estimate(a, b *unit) uint64 {
	lits, usedLits := huffman.EstimateSum(a.hist.litLen[:maxLitLen], b.hist.litLen[:maxLitLen])
	offs, usedOffs := huffman.EstimateSum(a.hist.offset[:], b.hist.offset[:])
	other := a.hist.extra + b.hist.extra + headerBits(usedLits, usedOffs)
	coded := lits + offs + other*huffman.CostBit
	return min(coded, uint64(storedBits(a.content+b.content))*huffman.CostBit)
}

// headerBits estimates the size of the header of dynamic codes, from measurements on text, images
// and tables. The more symbols are in use, the more often neighbours have equal lengths.
func headerBits(lits, offs int) uint64 {
	return 60 + uint64(lits*6-lits*lits/64) + uint64(offs*3)
}

// mergeUnits merges units to blocks: units[0], units[units[0].next] and so on.
//
// It is greedy and takes quadratic time, so maxUnits bounds the number of units. It calls
// checkpoint, unless that is nil, after some mergers.
func mergeUnits(units []unit, checkpoint func()) {
	last := len(units) - 1
	if last == 0 {
		units[0].prev, units[0].next = -1, 1
		return
	}
	for i := range units {
		u := &units[i]
		u.prev, u.next = i-1, i+1
		u.cost = estimate(u, &emptyUnit)
		if i > 0 {
			units[i-1].pairCost = estimate(&units[i-1], u)
		}
		if i%checkpointUnits == checkpointUnits-1 && checkpoint != nil {
			checkpoint()
		}
	}
	for merged := 1; last > 0; merged++ {
		if merged%checkpointUnits == 0 && checkpoint != nil {
			checkpoint()
		}
		best, gain := 0, int64(-1)
		for i := 0; i != last; {
			u := &units[i]
			if g := int64(u.cost + units[u.next].cost - u.pairCost); g > gain {
				best, gain = i, g
			}
			i = u.next
		}
		if gain < 0 {
			return
		}
		u := &units[best]
		next := &units[u.next]
		u.tokens += next.tokens
		u.lits += next.lits
		u.content += next.content
		u.hist.addCounts(&next.hist)
		u.cost = u.pairCost
		if u.next == last {
			last = best
		} else {
			units[next.next].prev = best
			u.pairCost = estimate(u, &units[next.next])
		}
		u.next = next.next
		if u.prev >= 0 {
			units[u.prev].pairCost = estimate(&units[u.prev], u)
		}
	}
}

var emptyUnit unit
