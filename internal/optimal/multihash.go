package optimal

import (
	"math"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// multiHash finds, for each position, the nearest position with the same hash of 4, 7, 11 and 32
// bytes. If matches of 3 are sought, it has a hash of 3 bytes as well.
// internal/kernels/multihash.go explains the search. A parser rarely needs lengths between, since
// the price of an offset grows slowly.
//
// Cost: one cache line per table and position, and a comparison for each candidate. Memory: 4 bytes
// per table entry. A candidate is lost when another position with the same hash enters its table.
// zstd's "double fast" strategy with more tables is the closest relative.
type multiHash struct {
	kernels.MultiHash
}

// hashLengths lists the numbers of bytes hashed and how much smaller their tables are, as a shift.
// There are fewer different short strings, and few long ones still sought. Lengths 4, 5, 7, 10, 16,
// 32 are 0.16% smaller at 0.9 of the speed; without 32 files are 0.3–0.7% larger.
var hashLengths = [kernels.MultiHashTables]struct{ bytes, less uint8 }{
	{3, 3}, {4, 3}, {7, 0}, {11, 0}, {32, 1},
}

// multiHashMemory returns the memory of the tables in bytes.
func multiHashMemory(c *config, size int) (n int) {
	for _, r := range hashLengths[firstHashLength(c.MinNew):] {
		n += 4 << finder.TableLog(c.HashLog-r.less, size)
	}
	return n
}

// firstHashLength returns the index of the greatest length that is not above the shortest match.
func firstHashLength(least int) (k int) {
	for k < len(hashLengths)-1 && int(hashLengths[k+1].bytes) <= least {
		k++
	}
	return k
}

// reset begins a block and inserts the positions in front of start.
func (t *multiHash) reset(c *config, src []byte, start int, checkpoint func()) {
	size := len(src)
	t.First = firstHashLength(c.MinNew)
	for k, r := range hashLengths[t.First:] {
		k += t.First
		t.Tables[k] = finder.EmptyTable(t.Tables[k], finder.TableLog(c.HashLog-r.less, size))
		t.Lengths[k] = max(int(r.bytes), c.MinNew)
	}
	t.Nice, t.MinMatch = c.Nice, c.MinNew
	t.MinOffset, t.MaxOffset, t.MaxOffset3 = c.MinOffset, c.MaxOffset, c.maxOffset3()
	t.Skip = c.SkipInMatch
	if t.Skip == 0 {
		t.Skip = math.MaxInt32
	}
	t.Multiples = finder.LeastMultiple
	t.Reset(size)
	for i := 0; i < start; i += checkpointStep {
		kernels.InsertMultiHash(&t.MultiHash, src, i, min(i+checkpointStep, start), 1)
		checkpoint()
	}
}

// find appends the candidates of positions from p on to those of g, up to end. It stops behind a
// position where findMatches must act, and returns found. It also stops if there are more than most
// candidates.
func (t *multiHash) find(
	g *chunkCandidates, src []byte, p, end, most int, model PriceModel,
) (found bool) {
	t.At = p
	n := len(g.cands)
	g.cands, found = kernels.SearchMultiHash(&t.MultiHash, src, end, g.cands, g.firstCand[p-g.from:], most)
	added := g.cands[n:]
	for i, c := range added {
		added[i] = c | candidate(model.OffsetCode(uint32(c.offset())))<<kernels.CandidateCodeShift
	}
	return found
}
