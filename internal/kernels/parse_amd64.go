//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

func parseSingleKernel(
	p *SingleParse, src []byte, table []uint32, seqs []rawSequence,
) (n int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	p.checkRange(src, table)
	if len(seqs) == 0 {
		return 0, true
	}
	// Stopping early changes nothing but the return: only the end of the parse does.
	size := parseSingleAVX2((*rawSingle)(p), src, &table[0],
		&seqs[0], min(len(seqs), maxCallSequences), min(p.End, p.At+maxCallBytes))
	return size / sequenceSize, true
}

// checkRange panics if a kernel could leave the slices.
func (p *SingleParse) checkRange(src []byte, table []uint32) {
	switch {
	case p.At < 1, p.Anchor < 0, p.Anchor > p.At, p.Repeat < 1, p.End > len(src)-16,
		p.SkipLog > 63, p.Shift > 63, uint64(len(table)) <= ^uint64(0)>>p.Shift:
		panic("kernels: SingleParse out of range")
	}
}

func hasDouble() bool { return cpu.Current() != cpu.Portable }

func parseDoubleKernel(
	p *DoubleParse, src []byte, long, short []uint32, seqs []rawSequence,
) (n int) {
	p.checkRange(src, long, short)
	if len(seqs) == 0 {
		return 0
	}
	size := parseDoubleAVX2((*rawDouble)(p), src, &long[0], &short[0],
		&seqs[0], min(len(seqs), maxCallSequences),
		min(p.End, len(src)-DoubleSlack, p.At+maxCallBytes))
	return size / sequenceSize
}

func parseDoubleLazyKernel(
	p *DoubleParse, src []byte, long, short []uint32, costs *[256]uint8,
	seqs []rawSequence, costsValid int,
) (n int) {
	p.checkRange(src, long, short)
	if len(seqs) == 0 {
		return 0
	}
	size := parseDoubleLazyAVX2((*rawDouble)(p), src, &long[0], &short[0], costs,
		&seqs[0], min(len(seqs), maxCallSequences), min(max(costsValid, 0), maxCallSequences),
		min(p.End, p.At+maxCallBytes))
	return size / sequenceSize
}

// checkRange panics if a kernel could leave the slices.
func (p *DoubleParse) checkRange(src []byte, long, short []uint32) {
	switch {
	case cpu.Best() == cpu.Portable, p.At < 1, p.Anchor < 0, p.Anchor > p.At,
		p.Repeats[0] < 1, p.Repeats[1] < 1, p.End > len(src)-16,
		p.SkipLog > 63, p.ShortShift > 63, p.LongShift > 63,
		uint64(len(long)) <= ^uint64(0)>>p.LongShift,
		uint64(len(short)) <= ^uint64(0)>>p.ShortShift,
		p.MinMatch < 3, p.MinMatch > 32, p.MaxOffset < 32,
		p.CheckRepeat != 0 && (p.Anchor != p.At || p.PendingLen != 0),
		uint(p.PendingLen) > 7,
		p.PendingLen > 0 && (p.PendingLen > len(src)-p.At ||
			p.PendingOffset < 1 || p.PendingOffset > p.At || uint(p.NextInsert) > uint(p.At+2)):
		panic("kernels: DoubleParse out of range")
	}
}

// maxCallPositions is the most positions that one call inserts into rows: about 50 µs, but more
// where matches are very long.
const maxCallPositions = 1 << 12

func hasRowHash(depth int) bool {
	return cpu.Current() != cpu.Portable && (depth == 8 || depth == 16 || depth == 32)
}

func hasCandidates() bool { return cpu.Current() != cpu.Portable }

// checkRange panics if a kernel could leave src or the costs.
func (p *RowHashParse) checkRange(src []byte) {
	switch {
	case cpu.Best() == cpu.Portable, p.NextInsert < 0, p.At < p.NextInsert-p.PendingLen,
		p.Anchor < 0, p.Anchor > p.At, p.End > len(src)-16,
		uint(p.PendingLen) > 7, p.PendingLen > len(src)-p.At,
		p.PendingLen > 0 &&
			(p.PendingOffset < 1 || p.PendingOffset > p.At || p.NextInsert < p.At),
		p.Repeats[0] < 1, p.Repeats[1] < 1, p.Repeats[2] < 1,
		uint(p.Lazy) > 2, p.Nice < 5, uint(p.MinRowMatch-4) > 1<<RowHashBits, p.MaxOffset < 32:
		panic("kernels: RowHashParse out of range")
	}
}

func parseRowHashKernel(
	p *RowHashParse, src []byte, rows []uint32, costs *[256]uint8, seqs []rawSequence, costsValid int,
) int {
	p.checkRange(src)
	switch {
	case p.Depth != 8 && p.Depth != 16 && p.Depth != 32,
		p.Shift < 1, p.Shift > 31, uint64(len(rows)) < uint64(p.Depth)<<(32-p.Shift),
		p.Base > 1<<RowHashBits, p.Base+uint64(len(src)) >= 1<<RowHashBits:
		panic("kernels: RowHashParse out of range")
	}
	return p.run(p.Depth, src, &rows[0], costs, seqs, costsValid)
}

func parseCandidatesKernel(
	p *RowHashParse, src []byte, candidates []uint32, costs *[256]uint8,
	seqs []rawSequence, costsValid int,
) int {
	p.checkRange(src)
	if p.At >= p.End {
		return 0
	}
	if len(candidates) < p.End {
		panic("kernels: candidates missing")
	}
	return p.run(0, src, &candidates[0], costs, seqs, costsValid)
}

// maxRunCalls is the most calls of the assembly in one call of a kernel.
const maxRunCalls = 4

// run calls the assembly for rows of the given depth, or for candidates if depth is 0. It stops
// when the parse ends, seqs is full or a match is pending, and after maxRunCalls calls.
func (p *RowHashParse) run(
	depth int, src []byte, candidates *uint32, costs *[256]uint8, seqs []rawSequence, costsValid int,
) (n int) {
	for calls := 0; p.At < p.End && n < len(seqs) && calls < maxRunCalls; calls++ {
		room := min(len(seqs)-n, maxCallSequences)
		valid := min(max(costsValid-n, 0), maxCallSequences)
		from := p.NextInsert // rows hold the positions before it
		if depth == 0 {
			from = p.At
		}
		p.callEnd = min(p.End, from+maxCallPositions)
		var size int
		raw := (*rawRowHash)(p)
		switch depth {
		case 0:
			size = parseCandidatesAVX2(raw, src, candidates, costs, &seqs[n], room, valid)
		case 8:
			size = parseRowHash8AVX2(raw, src, candidates, costs, &seqs[n], room, valid)
		case 16:
			size = parseRowHash16AVX2(raw, src, candidates, costs, &seqs[n], room, valid)
		case 32:
			size = parseRowHash32AVX2(raw, src, candidates, costs, &seqs[n], room, valid)
		}
		n += size / sequenceSize
		if p.PendingLen > 0 {
			break
		}
	}
	return n
}
