package optimal

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// binaryTree finds, for each position, the nearest match of every length that no nearer match has,
// within kernels.TreeReach bytes. internal/kernels/tree.go explains the search.
//
// Cost: up to Depth nodes per position, each a cache miss and a comparison. Memory: 4 bytes for
// each position of the block or of the window, whichever is smaller, 2 or 4 for each hash, and a
// table of codes. Depth bounds the time on content that degenerates a tree to a list; candidates
// beyond it are lost.
type binaryTree struct {
	kernels.Tree
	minOffset int
	model     PriceModel // model of Codes, if it has blocks
	coded     int        // greatest offset with a code
}

// treeMemory returns the memory of a tree in bytes.
func treeMemory(c *config, size int) int {
	n := 2<<finder.TableLog(c.HashLog, size) + 2*kernels.TreeChildren(size) + kernels.TreeReach + 1
	if c.MinNew < 4 {
		n += 4 << kernels.TreeHash3Log
	}
	return n
}

// reset prepares the tree for a block of size bytes.
func (t *binaryTree) reset(c *config, size int) {
	log := finder.TableLog(c.HashLog, size)
	t.Heads = sized(t.Heads, 1<<log)
	t.Shift = uint64(32 - log)
	t.Reach3 = 0
	if c.MinNew < 4 {
		t.Heads3 = sized(t.Heads3, 2<<kernels.TreeHash3Log)
		t.Reach3 = min(c.maxOffset3(), kernels.TreeReach)
	}
	t.Children = sized(t.Children, kernels.TreeChildren(size))
	t.Nice, t.Depth, t.MinMatch = c.Nice, c.Depth, c.MinNew
	t.Reach, t.minOffset = min(c.MaxOffset, kernels.TreeReach), c.MinOffset
	t.setCodes(c.Model, min(t.Reach, size))
	t.Reset()
}

// setCodes sets the codes of the offsets up to reach.
func (t *binaryTree) setCodes(model PriceModel, reach int) {
	t.Codes = sized(t.Codes, kernels.TreeReach+1)
	// Only models with blocks are comparable.
	if blocks := model.Rules().NewSplitter != nil; !blocks {
		t.model, t.coded = nil, 0
	} else if t.model != model {
		t.model, t.coded = model, 0
	}
	for ; t.coded < reach; t.coded++ {
		t.Codes[t.coded+1] = model.OffsetCode(uint32(t.coded + 1))
	}
}

// sized returns a slice of n elements, in the memory of s if it is large enough.
func sized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// insertRange inserts the positions [p, end) and drops their candidates. Positions between those
// inserted before and p are left out, but for the rest of a batch.
func (t *binaryTree) insertRange(src []byte, p, end int) {
	if p > t.At {
		kernels.InsertTree(&t.Tree, src, min(p, t.Hashed))
		if p > t.At {
			t.Skip(p)
		}
	}
	kernels.InsertTree(&t.Tree, src, end)
}

// find appends the candidates of positions from t.At on to those of g, up to end. It stops behind a
// position with a match of Nice bytes and returns found. It also stops if there are more than most
// candidates.
func (t *binaryTree) find(g *chunkCandidates, src []byte, end, most int) (found bool) {
	if t.minOffset > 1 {
		return t.findFarther(g, src, end, most)
	}
	g.cands, found = kernels.SearchTree(&t.Tree, src, end, g.cands, g.firstCand[t.At-g.from:], most)
	return found
}

// findFarther is find for a form with a least offset. A match nearer than that stands for its least
// multiple that is not.
func (t *binaryTree) findFarther(g *chunkCandidates, src []byte, end, most int) (found bool) {
	for t.At < end && len(g.cands) <= most && !found {
		i, k := t.At, len(g.cands)
		all, _ := kernels.SearchTree(&t.Tree, src, i+1, g.cands, g.firstCand[i-g.from:], most)
		g.cands = g.cands[:k]
		best := t.MinMatch - 1
		for _, c := range all[k:] {
			if d := c.offset(); d < t.minOffset {
				if d = int(finder.LeastMultiple[d]); d > min(i, t.Reach) {
					continue
				}
				n := kernels.EqualFrom(src, i-d, i, 0, min(len(src), i+t.Nice))
				c = candidate(n)<<kernels.CandidateLengthShift | candidate(d) |
					candidate(t.Codes[d])<<kernels.CandidateCodeShift
			}
			if c.length() > best {
				best = c.length()
				g.cands = append(g.cands, c)
			}
		}
		found = best >= t.Nice
	}
	return found
}

// candidate is a match with the code of its offset:
//
//	bits  0–26  offset
//	bits 27–47  length
//	bits 48–    code
type candidate uint64

func newCandidate(n, d int, model PriceModel) candidate {
	code := candidate(model.OffsetCode(uint32(d)))
	return candidate(d) | candidate(n)<<kernels.CandidateLengthShift | code<<kernels.CandidateCodeShift
}

// resized returns c with length n.
func (c candidate) resized(n int) candidate {
	const lengths = 1<<kernels.CandidateCodeShift - 1<<kernels.CandidateLengthShift
	return c&^lengths | candidate(n)<<kernels.CandidateLengthShift
}

func (c candidate) offset() int { return int(c & finder.MaxOffset) }
func (c candidate) length() int { return int(c >> kernels.CandidateLengthShift & (1<<21 - 1)) }
func (c candidate) code() uint8 { return uint8(c >> kernels.CandidateCodeShift) }
