//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

func hasHashChain() bool { return cpu.Current() != cpu.Portable }

const (
	// maxCallCandidates bounds the candidates of one call of the assembly: about 50 µs if few of
	// them match.
	maxCallCandidates = 1 << 16
	// minCallPositions is the least number of positions for a call.
	minCallPositions = 64
)

func parseHashChainKernel(
	p *HashChainParse, src []byte, heads3, heads4, links []int16, costs *[256]uint8,
	seqs []rawSequence,
) int {
	p.checkRange(src, heads3, heads4, links)
	positions := max(maxCallCandidates/p.Depth, minCallPositions)
	stop := min(p.End, len(src)-HashChainSlack, p.Base+HashChainWindow, p.At+positions)
	if len(seqs) == 0 || p.At >= stop && p.At < p.Base+HashChainWindow {
		return 0
	}
	size := parseHashChainAVX2((*rawHashChain)(p), src, &heads3[0], &heads4[0], &links[0], costs,
		&seqs[0], min(len(seqs), maxCallSequences), stop)
	return size / sequenceSize
}

// checkRange panics if a kernel could leave the slices.
func (p *HashChainParse) checkRange(src []byte, heads3, heads4, links []int16) {
	switch {
	case cpu.Best() == cpu.Portable, p.NextInsert < 0, p.NextInsert > p.At, p.Anchor < 0, p.Anchor > p.At,
		p.At > len(src)-16, p.End > len(src)-16,
		p.Depth < 4, uint(p.Lazy) > 2, p.Nice < 5, p.Nice > MaxHashChainMatch,
		p.MinMatch < 3, p.MinMatch > 16, p.SureMatch > MaxHashChainMatch,
		p.MaxOffset < 1, p.MaxOffset > HashChainWindow,
		p.Base < 0, p.Base > p.NextInsert, p.NextInsert-p.Base > HashChainWindow,
		p.Shift < 1, p.Shift > 29, uint64(len(heads3)) < 1<<(32-HashChainLess3-p.Shift),
		uint64(len(heads4)) < 1<<(32-p.Shift), len(links) < HashChainWindow:
		panic("kernels: HashChainParse out of range")
	}
}

func slideKernel(entries []int16) (done int) {
	n := len(entries) &^ 15
	if n == 0 || cpu.Current() == cpu.Portable {
		return 0
	}
	slideAVX2(&entries[0], n)
	return n
}
