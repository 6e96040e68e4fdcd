//go:build amd64 && !noasm

package simd

// maxCallSearches is the most positions that one call of the assembly searches. Their RowMatches stay
// in the first-level cache.
const maxCallSearches = 1 << 7

// rawRowMatches is the form in which the assembly knows RowMatches.
type rawRowMatches = struct {
	Back         [rowEntries]int16
	Lengths      [rowEntries]uint8
	Longer, Full uint16
	_            [12]byte
}

// searchRowsKernel returns the number of positions searched. i is at least 1.
func searchRowsKernel(t *MultiRows, src []byte, i, minMatch, maxOffset int, out []RowMatches) (n int) {
	if current() == portable {
		return 0
	}
	for n < len(out) {
		k := min(len(out)-n, maxCallSearches)
		searchRowsAVX2(&src[0], i+n, k, &t.rows3[0], &t.rows4[0], &t.rows6[0], &t.rows10[0],
			int(t.shift), minMatch, maxOffset, (*rawRowMatches)(&out[n]))
		n += k
	}
	return n
}

// rawCandidateRun is the form in which the assembly knows a CandidateRun.
type rawCandidateRun = struct {
	At, End, Least, Nice, SkipInMatch, Reach, Before, Offset int
	Codes                                                    [codeEntries]uint8
}

// maxCallCollected is the most positions that one call of the assembly collects.
const maxCallCollected = 1 << 9

// collectSlack is the number of bytes behind Nice that the assembly may load.
const collectSlack = 32

// collectKernel does as many positions as it can.
func collectKernel(
	c *CandidateRun, src []byte, matches []RowMatches, firstCand []uint32, cands []uint64, n int,
) (count int, stopped bool) {
	if current() == portable {
		return n, false
	}
	for len(matches) > 0 && len(cands) >= rowEntries {
		k := min(len(matches), maxCallCollected, len(src)-c.Nice-collectSlack-c.At)
		if k <= 0 {
			break
		}
		from := c.At
		n, stopped = collectAVX2((*rawCandidateRun)(c), &src[0], (*rawRowMatches)(&matches[0]), k,
			&firstCand[0], &cands[0], n, len(cands)-rowEntries)
		done := c.At - from
		if stopped || done < k {
			break
		}
		matches, firstCand = matches[done:], firstCand[done:]
	}
	return n, stopped
}
