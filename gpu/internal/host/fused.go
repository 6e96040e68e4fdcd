package host

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lzseq"
)

// Fused runs all stages of a block in one submission: candidates, lazy parse, sequence coding,
// entropy coding. The host uploads content and downloads payloads. One invocation parses a segment
// of finder.SegmentSize bytes, because each step of a lazy parse depends on the one before; so the
// GPU is busy only with many segments at a time. The head of each kernel says what it computes.
// gpu/internal/kernels/fused_begin.wgsl describes the buffers.

const (
	// fusedBytes is the most content of a batch, unless SetContent changes it: as much as one
	// submission holds. The GPU parses the segments of a submission at the same time. A second
	// submission would take as long again.
	fusedBytes = leastContent
	// fusedExpansion bounds the bytes that a buffer needs for each byte of content.
	fusedExpansion = 8
	// fusedBatch is the most blocks in a batch. It is that of StageN, so that Fused needs no more
	// blocks in flight.
	fusedBatch = entropyBatch
	// fusedMinAuto is the least block in bytes that Auto sends as a whole: none, until Fused has
	// been measured on a GPU. See docs/exec-plans/active/gpu-hardware.md.
	fusedMinAuto = math.MaxInt
	// minFused is the least block in bytes. Smaller ones may have default tables, and the CPU
	// compresses them in microseconds.
	minFused = rans.DefaultsLimit
	// maxFused is the greatest block in bytes: the default of levels 5 to 7.
	maxFused = 4 << 20

	// turnsPerByte bounds the turns of the parse loop for a byte. A parse that needs more goes to
	// the CPU.
	turnsPerByte = 4
	// fusedTurns is the number of turns in a dispatch on a GPU, which is enough for the segments of
	// files. Other programs can use the GPU between two dispatches. softwareTurns is the number on
	// adapters with softwareLoops.
	fusedTurns    = 1 << 16
	softwareTurns = softwareLoops / 2

	// guessMargin is the inverse of the surplus of a download over the payload ratio of the last
	// batch.
	guessMargin = 4
)

// Sizes in 32-bit words, as in gpu/internal/kernels/fused_begin.wgsl.
const (
	headerWords    = 16   // head of an upload
	fusedWords     = 36   // descriptor of a block
	stateWords     = 64   // state of a block
	segmentState   = 1088 // and for each segment of its parse
	planHeadWords  = 16   // head of a block's plan
	planGroupWords = 40   // and for each lane group
	seqWords       = 3    // sequence
	markWords      = 4    // positions in the streams where a sequence begins
	segmentWords   = 208  // segment of a stream
	segmentSymbols = 8192 // least segment but the last, in symbols
	segmentHead    = 58   // longest description of a segment: mode, length, 224 bytes of frequencies
	logWords       = 2048 // table of logarithms
	tilePayload    = 640  // payload for each tile: 5/4 of its content
	resultWords    = 4    // result of a block
)

// fusedUsage is the part of each buffer in use, in words.
type fusedUsage struct{ streams, seqs, state, plan, words, out uint32 }

// parseSegments returns the number of segments in the parse of a block of n bytes.
func parseSegments(n int) int {
	return (n - finder.Tail + finder.SegmentSize - 1) / finder.SegmentSize
}

// longestSegment returns the size of the longest of these segments in bytes. The last one takes in
// the bytes without candidates.
func longestSegment(n int) int { return min(n, finder.SegmentSize+finder.Tail) }

// addBlock adds a block of n bytes with a number of coded streams.
func (u *fusedUsage) addBlock(n int, coded, tiles int) {
	segments := uint32(0)
	for k, m := range lzseq.Repeat.MaxSizes(n) {
		u.streams += words(m) + 1
		if k < coded {
			segments += uint32(m/segmentSymbols) + 1
		}
	}
	u.seqs += maxSeqs(n)
	u.state += blockState(n)
	g := blockGroups(n)
	u.plan += planHeadWords + g*(encGroupWords+planGroupWords) + segments*segmentWords
	u.plan += 4*maxSpans(segments, g) + headRoom(segments) + 4*maxPieces(segments, g)
	u.words += g*encResultWords + codedWords(n)
	u.out += resultWords + tilePayload*uint32(tiles)
}

// largest returns the size of the largest buffer in bytes.
func (u *fusedUsage) largest() uint64 {
	return 4 * uint64(max(u.streams, markWords*u.seqs, u.state, u.plan, u.words, u.out))
}

// Bounds for a block of n bytes, or with that many segments and lane groups.
func maxSeqs(n int) uint32                     { return uint32(n/4 + 2*parseSegments(n)) }
func blockState(n int) uint32                  { return uint32(stateWords + segmentState*parseSegments(n)) }
func maxSpans(segments, groups uint32) uint32  { return segments + groups }
func maxPieces(segments, groups uint32) uint32 { return segments + 2*groups + 8 }
func headRoom(segments uint32) uint32          { return (16 + segments*segmentHead + 3) &^ 3 }

// maxCoded returns the most coded symbols of a block: 4/3 for each byte. A match of four bytes
// leaves a token and an offset, and three literals leave one byte more.
func maxCoded(n int) int { return n + n/3 }

func blockGroups(n int) uint32 { return uint32(rans.MaxGroups(maxCoded(n))) }

// codedWords returns the space for the coded words of a block in 32-bit words. A word has 16 bits,
// and there is at most one for each coded symbol.
func codedWords(n int) uint32 { return words(2*maxCoded(n)) + 3*blockGroups(n) + 10 }

// fusedSize bounds the largest buffer that a block of n bytes needs, in bytes.
func fusedSize(n int) uint64 {
	u := fusedUsage{plan: headWords}
	u.addBlock(n, 5, n/tileSize+1)
	return max(u.largest(), matchSize(n)+4*uint64(headerWords+fusedWords+logWords+parseSegments(n)))
}

// runFused runs a batch of Fused, in several submissions if it does not fit into one.
func (s *slot) runFused(batch []*gpu.Request) error {
	for len(batch) > 0 {
		s.blocks = s.blocks[:0]
		first, tile, n := 0, 0, 0
		used := fusedUsage{plan: headWords}
		for ; n < len(batch); n++ {
			r := batch[n]
			r.Err = nil
			if !s.d.acceptsFused(r) {
				r.Err = ErrTooLarge
				continue
			}
			j := matchJob{r: r, first: first, tile: tile, positions: len(r.Src) - finder.Tail}
			j.tiles = (j.positions + tileSize - 1) / tileSize
			j.setHash()
			more := used
			more.addBlock(len(r.Src), 6-r.Layout.Stored, j.tiles)
			end := first + j.positions
			largest := max(more.largest(), matchSize(end)+4*logWords+4096)
			if first > 0 && (end > s.d.Content() || largest > s.d.maxBuffer) {
				break
			}
			used, first, tile = more, end, tile+j.tiles
			s.blocks = append(s.blocks, j)
		}
		if len(s.blocks) > 0 {
			s.setContent(s.blocks)
			if err := s.submitFused(s.blocks, first, tile, &used); err != nil {
				return err
			}
			clear(s.blocks)
		}
		batch = batch[n:]
	}
	return nil
}

// acceptsFused reports whether the device can run a request of Fused.
func (d *Device) acceptsFused(r *gpu.Request) bool {
	if r.Params == nil || r.Layout == nil || r.Window != 0 || len(r.Src) < minFused {
		return false
	}
	n := max(len(r.Src), r.Size)
	return r.Params.CandidatesFit(n) && r.Params.Lazy <= 2 && r.Params.Depth <= 64 &&
		n <= maxFused && fusedSize(n) <= d.maxBuffer
}

// submitFused runs blocks in one submission. It downloads as many bytes of payload as the last
// batch had for its content, and a quarter more. If the payloads are longer, a second submission
// downloads them.
func (s *slot) submitFused(blocks []matchJob, positions, tiles int, used *fusedUsage) error {
	if err := s.recordFused(blocks, positions, tiles, used); err != nil {
		return err
	}
	table := 4 * resultWords * uint64(len(blocks))
	all := uint64(0)
	for i := range blocks {
		all += uint64(len(blocks[i].r.Src))
	}
	if s.ratio == 0 {
		s.ratio = 1 << 15 // half
	}
	out := 4 * uint64(used.out)
	guess := min(table+(all*s.ratio>>16+4*uint64(len(blocks))+15)&^15, out)
	s.download(0, guess)
	if err := s.submit(); err != nil {
		return err
	}
	total := uint64(0)
	err := s.downloaded(func(p []byte) {
		if total = payloadsSize(blocks, p, out); total <= guess {
			copyPayloads(blocks, p)
		}
	})
	if err != nil {
		return err
	}
	s.ratio = max(1<<10, (total-min(total, table))<<16/all)
	s.ratio += s.ratio / guessMargin
	if total <= guess {
		return nil
	}
	s.beginSubmission(0, In)
	s.download(0, min((total+15)&^15, out))
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloaded(func(p []byte) { copyPayloads(blocks, p) })
}

// payloadsSize returns the bytes of the table of sizes and all payloads. If they exceed limit, it
// fails all blocks and returns 0.
func payloadsSize(blocks []matchJob, p []byte, limit uint64) (total uint64) {
	total = 4 * resultWords * uint64(len(blocks))
	for i := range blocks {
		total += (uint64(binary.LittleEndian.Uint32(p[4*resultWords*i:])) + 3) &^ 3
	}
	if total > limit {
		for i := range blocks {
			blocks[i].r.Err = errResult
		}
		return 0
	}
	return total
}

// copyPayloads copies the payloads to their requests.
func copyPayloads(blocks []matchJob, p []byte) {
	at := 4 * resultWords * uint64(len(blocks))
	for i := range blocks {
		r := blocks[i].r
		size := uint64(binary.LittleEndian.Uint32(p[4*resultWords*i:]))
		switch {
		case r.Err != nil:
		case size == 0:
			r.Err = errUnfinished
		case at+size > uint64(len(p)): // the second download has another table than the first
			r.Err = errResult
		default:
			r.Dst = append(r.Dst[:0], p[at:at+size]...)
			at += (size + 3) &^ 3
		}
	}
}
