//go:build amd64 && !noasm

package kernels

import (
	"unsafe"

	"github.com/gopz/compress/internal/cpu"
)

// Bounds of one call of the assembly: about 50 µs with long matches.
const (
	maxCallPathPositions  = 1 << 11
	maxCallPathCandidates = 1 << 13
)

// rawPathPrices is the form in which the assembly knows PathPrices.
type rawPathPrices = struct {
	Literal [256]uint32
	Length  [MaxPathLength + 1 + nearLengths]uint32
	Offset  [256]uint32
	near    [8][nearLengths]uint32
}

func pathCostsKernel(
	p *PathPrices, content []byte, firstCand []uint32, cands []uint64, costs []uint32, from, at, to int,
) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	first := unsafe.SliceData(cands)
	for at > from {
		n := min(at-from, maxCallPathPositions)
		for n > 1 && firstCand[at]-firstCand[at-n] > maxCallPathCandidates {
			n /= 2
		}
		pathCostsAVX2((*rawPathPrices)(p), &content[0], &firstCand[0], first, &costs[0], at-n, at, to)
		at -= n
	}
	return true
}
