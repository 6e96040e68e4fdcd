package pipeline

import (
	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// History is what the blocks of a .gz or .zst file that end with a flush pass on to the next block,
// besides the content in front of it. The Writer keeps it. Blocks with a History are compressed one
// after the other, on the CPU. The zero value is ready to use.
//
// Match candidates of short blocks come from tables that outlast the block. Blocks of .zst continue
// the frame of the block before: repeat offsets, codes and tables stay valid.
type History struct {
	finder optimal.Incremental
	frame  zstd.Encoder
	end    int64         // where the content in frame ends
	sum    xxhash.Digest // of the frame so far
}

// Reset makes h ready for another file.
func (h *History) Reset() {
	h.finder.Reset()
	h.end = 0
}

// HasHistory reports whether blocks that end with a flush have a History.
func (p *Pipeline) HasHistory() bool { return p.short != nil }

// shortDepth is the number of candidates of a position in a short block, by level. At level 4, half
// as many make files 2% larger. docs/notes/flush.md has more.
var shortDepth = [MaxLevel + 1]int{0, 4, 6, 8, 16, 24, 32, 64, 128, 256}

const (
	// historyFactor bounds the window of a long block that continues a frame, as a multiple of its
	// content. The finder inserts the window anew.
	historyFactor = 4
	// leastHistory is the window in bytes that is searched in any case.
	leastHistory = 64 << 10
)

// isShort reports whether the block is short and has a History.
func (b *Block) isShort() bool { return b.History != nil && len(b.content()) <= optimal.MaxIncremental }

// findInHistory finds the sequences of a block that has a History.
func (ws *workspace) findInHistory(b *Block) []lz77.Sequence {
	h, p, n := b.History, b.run.cfg.Pipeline, len(b.content())
	if b.Window == 0 && b.run.cfg.Dictionary != nil {
		return ws.findWithDictionary(b)
	}
	if !b.isShort() {
		from := max(0, b.Window-max(historyFactor*n, leastHistory))
		return ws.matcher.ParseFrom(b.payload.seqs, b.src[from:], b.Window-from, b.params(), b.form())
	}
	params := *p.short
	params.Depth = shortDepth[b.run.cfg.Level]
	var repeats [3]uint32
	if params.Repeats {
		h.beginBlock(b)
		repeats, params.Prices = h.frame.Repeats(), h.frame.IncrementalPrices()
	}
	return h.finder.Parse(b.payload.seqs, b.src, b.Window, b.Offset, repeats, &params)
}

// beginBlock begins a frame if b is the first block of one. It begins a part of the frame if the
// block in front of b has no History. Else b continues the part.
func (h *History) beginBlock(b *Block) {
	first := b.Window == 0
	if first || h.end != b.Offset {
		h.frame.Thorough, h.frame.Dictionary = b.thorough(), b.run.cfg.Dictionary.zstd()
		h.frame.BeginPart(first)
	}
}

// appendBlock appends the blocks of a frame that hold b. last says that they are the last ones.
func (h *History) appendBlock(dst []byte, b *Block, last bool, check func()) []byte {
	h.beginBlock(b)
	h.frame.Checkpoint = check
	h.end = b.Offset + int64(len(b.content()))
	return h.frame.Continue(dst, b.content(), b.payload.seqs, last)
}

// addSum adds content to the check of the frame, or of a new one, and returns the check so far.
func (h *History) addSum(content []byte, begin bool) uint32 {
	if begin {
		h.sum.Reset()
	}
	h.sum.Write(content)
	return uint32(h.sum.Sum64())
}
