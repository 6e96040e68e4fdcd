package kernels

import "unsafe"

// PathCosts is the inner loop of an optimal parser. From each position of a content an edge leads
// to the next position, a literal, and edges lead to the ends of all lengths of its candidates. The
// cost of a position is that of the cheapest path from it to the end. PathCosts computes costs from
// the end to the beginning.
//
// A candidate costs the least sum of a length's price and the cost behind that length, and the
// price of its offset. As candidates grow longer, the least sum of the longest is also one over the
// lengths of those before it. So each length is looked at once for each position.
//
// The kernel holds the costs of the next positions in a vector, the cost of position j in lane j&7,
// so that no lane moves when the position changes. Prices of the lengths 3 to 10 come rotated to
// suit. A mask takes out the lengths above that of a candidate. Costs of longer lengths come from
// memory, eight at a time. They were stored at least 11 positions before, since a load that has to
// wait for a store takes long. Minima over lanes are off the critical path, which has an addition
// and a minimum for each position.

const (
	// CandidateLengthShift and CandidateCodeShift place the length of a candidate and the code of
	// its offset in its 64 bits: 21 bits of length, and 8 bits of code. PathCosts ignores the
	// others.
	CandidateLengthShift = 27
	CandidateCodeShift   = 48

	// MaxPathLength is the greatest length of a candidate in bytes.
	MaxPathLength = 319
	// MinPathLength is the least length in bytes that has a price.
	MinPathLength = 3
	// PathSlack is the number of entries behind the last cost that the kernel may load.
	PathSlack = 16

	candidateLengthMask = 1<<21 - 1
	nearLengths         = 8 // lengths from MinPathLength on that the kernel has in a vector
)

// ForbiddenPrice is the price of lengths that are not allowed. All costs must be below it.
const ForbiddenPrice = 1 << 30

// PathPrices holds the prices that PathCosts adds up, each below 1<<14 or ForbiddenPrice. Lengths
// below MinPathLength have ForbiddenPrice.
type PathPrices struct {
	Literal [256]uint32
	Length  [MaxPathLength + 1 + nearLengths]uint32 // by length
	Offset  [256]uint32                             // by code
	// near has the prices of the nearest lengths for each position modulo 8: the price of length n
	// in lane (position+n)&7.
	near [8][nearLengths]uint32
}

// Rotate prepares p for PathCosts. A call must follow each change of Length.
func (p *PathPrices) Rotate() {
	for i := range p.near {
		for n, price := range p.Length[MinPathLength : MinPathLength+nearLengths] {
			p.near[i][(i+MinPathLength+n)&7] = price
		}
	}
}

// PathCosts sets costs[from:at], the costs of the paths to position to. costs[at:to+1] are known;
// PathSlack entries follow them. cands[firstCand[i]:firstCand[i+1]] are the candidates of position
// i, with lengths that do not fall. Lengths beyond to count as ending there.
//
// It panics if an argument is out of range. For any candidates it touches nothing outside the
// slices.
func PathCosts[C ~uint64](
	p *PathPrices, content []byte, firstCand []uint32, cands []C, costs []uint32, from, at, to int,
) {
	if from < 0 || from > at || at > to || to > len(content) || to >= len(firstCand) ||
		to+PathSlack >= len(costs) || int(firstCand[at]) > len(cands) {
		panic("kernels: PathCosts out of range")
	}
	if from == at || pathCostsKernel(p, content, firstCand, rawCandidates(cands), costs, from, at, to) {
		return
	}
	next := firstCand[at]
	for i := at - 1; i >= from; i-- {
		best := costs[i+1] + p.Literal[content[i]]
		if first := firstCand[i]; first < next {
			best = min(best, cheapestMatch(p, cands[first:next], costs[i:to+1]))
			next = first
		}
		costs[i] = best
	}
}

// cheapestMatch returns the cost of the cheapest path that begins with a match. costs are those of
// the position and all behind it. It adds up four lengths at a time, also some that it has seen.
func cheapestMatch[C ~uint64](p *PathPrices, cands []C, costs []uint32) (best uint32) {
	const step = 4
	best = ^uint32(0)
	least, seen := best, MinPathLength-1 // the least sum of the lengths seen
	for _, c := range cands {
		n := min(int(c>>CandidateLengthShift)&candidateLengthMask, len(costs)-1, MaxPathLength)
		if n < MinPathLength {
			continue
		}
		for k := n; k > seen; k -= step {
			c, l := (*[step]uint32)(costs[k+1-step:]), (*[step]uint32)(p.Length[k+1-step:])
			least = min(least, c[0]+l[0], c[1]+l[1], c[2]+l[2], c[3]+l[3])
		}
		seen = max(seen, n)
		best = min(best, least+p.Offset[uint8(c>>CandidateCodeShift)])
	}
	return best
}

// rawCandidates returns cands in the form that the kernel takes.
func rawCandidates[C ~uint64](cands []C) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(cands))), len(cands))
}
