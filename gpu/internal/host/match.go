package host

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/finder"
)

// matchJob is a block in a submission that finds candidates, of Stage0 or Fused.
type matchJob struct {
	r         *gpu.Request
	first     int // index of its first position in the submission
	positions int
	tile      int // index of its first tile
	tiles     int
	rowBits   uint8  // log2 of the number of rows
	mask      uint32 // of the hash; see finder.RowHash
}

// setHash sets the parameters of the hash from those of the request.
func (j *matchJob) setHash() {
	p := j.r.Params
	j.rowBits, j.mask = finder.TableLog(p.HashLog, len(j.r.Src)), finder.RowHashMask(p.HashBytes)
}

// Constants of the kernels.
const (
	tileSize   = 2048
	blockWords = 16
	leastBits  = 3 // of a digit: a workgroup of match_scan has 8 digits
	mostBits   = 8
)

// matchSize bounds the largest buffer that a block of size bytes needs, in bytes.
func matchSize(size int) uint64 {
	return max(4*uint64(size)+4096, uint64(size+size/tileSize*4+4096))
}

// sortPasses returns the passes that sort keys by their rows, and the bits of a digit. Passes have
// digits as small as their number allows: runs of keys with the same digit are longer then.
func sortPasses(rowBits uint8) (passes, bits int) {
	passes = max(1, (int(rowBits)+mostBits-1)/mostBits)
	return passes, max(leastBits, (int(rowBits)+passes-1)/passes)
}

// ShiftBytes returns the content of the buffer Shifts: the lowest bit of a digit and the number of
// its bits, at multiples of shiftStep. See digit.
func ShiftBytes() []byte {
	p := make([]byte, shiftStep*maxPasses*(mostBits+1))
	for bits := range mostBits + 1 {
		for pass := range maxPasses {
			at := digit(pass, bits).Offset
			binary.LittleEndian.PutUint32(p[at:], uint32(finder.RowTagBits+bits*pass))
			binary.LittleEndian.PutUint32(p[at+4:], uint32(bits))
		}
	}
	return p
}

// digit returns the binding of Shifts for a pass with digits of that many bits.
func digit(pass, bits int) Binding {
	return Binding{Shifts, uint64(shiftStep * (maxPasses*bits + pass)), shiftStep}
}

const (
	shiftStep = 256 // alignment of bindings that every device accepts
	maxPasses = (32 - finder.RowTagBits + mostBits - 1) / mostBits
)

// runMatch runs a batch of Stage0, in several submissions if it does not fit into one.
func (s *slot) runMatch(batch []*gpu.Request) error {
	for len(batch) > 0 {
		s.blocks = s.blocks[:0]
		first, tile := 0, 0
		n := 0
		for ; n < len(batch); n++ {
			r := batch[n]
			r.Err, r.Candidates = nil, nil
			j := matchJob{r: r, first: first, tile: tile}
			j.positions = max(0, len(r.Src)-finder.Tail)
			if j.positions == 0 || len(r.Src) < r.Window+finder.Tail {
				r.Seqs = r.Seqs[:0]
				continue
			}
			j.tiles = (j.positions + tileSize - 1) / tileSize
			j.setHash()
			end := first + j.positions
			if first > 0 && (end > s.d.Content() || matchSize(end) > s.d.maxBuffer) {
				break
			}
			first, tile = first+j.positions, tile+j.tiles
			s.blocks = append(s.blocks, j)
		}
		if len(s.blocks) > 0 {
			s.setContent(s.blocks)
			if err := s.submitMatch(s.blocks, first, tile); err != nil {
				return err
			}
			clear(s.blocks)
		}
		batch = batch[n:]
	}
	return nil
}

// submitMatch finds the candidates of blocks in one submission.
func (s *slot) submitMatch(blocks []matchJob, positions, tiles int) error {
	in := 8 + len(blocks)*blockWords + tiles
	rowBits := uint8(0)
	for i := range blocks {
		in += int(words(len(blocks[i].r.Src))) + 2
		rowBits = max(rowBits, blocks[i].rowBits)
	}
	up, err := s.upload(4 * uint64(in))
	if err != nil {
		return err
	}
	head := packer{p: up}
	tilesAt := uint32(8 + len(blocks)*blockWords)
	head.putWords(uint32(len(blocks)), uint32(tiles), uint32(positions), 8, tilesAt, 0, 0, 0)
	table := packer{p: up, at: tilesAt}
	w := packer{p: up, at: tilesAt + uint32(tiles)}
	for i := range blocks {
		j := &blocks[i]
		w.block(&head, j)
		for range j.tiles {
			table.putWords(uint32(i))
		}
	}
	size := 4 * uint64(positions)
	s.beginSubmission(4*uint64(in), In)
	s.candidates(len(blocks), tiles, rowBits, size)
	s.download(0, size)
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloaded(func(p []byte) {
		for i := range blocks {
			j := &blocks[i]
			j.r.Candidates = gpu.NewCandidates(j.positions)
			readWords(j.r.Candidates, p[4*j.first:])
		}
	})
}

// block writes a block, and its descriptor to head.
func (w *packer) block(head *packer, j *matchJob) {
	p := j.r.Params
	least := max(j.r.Limits.MinMatch, int(p.HashBytes))
	maxOffset := min(j.r.Limits.MaxOffset, math.MaxInt32)
	head.putWords(w.bytes(j.r.Src), uint32(len(j.r.Src)), uint32(j.first), uint32(j.positions))
	head.putWords(32-uint32(j.rowBits), j.mask, uint32(p.Depth), uint32(p.Nice))
	head.putWords(uint32(least), uint32(maxOffset), uint32(j.tile), uint32(j.tiles), 0, 0, 0, 0)
	w.putWords(0, 0)
}

// candidates records the kernels that find the best candidate of every position: keys, a radix sort
// of positions by key, and a look at the left neighbours of each position. The counts of the sort
// are in Out, which the last kernel fills.
func (s *slot) candidates(blocks, tiles int, rowBits uint8, size uint64) {
	const counts = Out
	keys, positions, newKeys, newPositions := Keys, Positions, NewKeys, NewPositions
	for _, b := range []Buffer{keys, positions, newKeys, newPositions, Out} {
		s.reserve(b, size)
	}
	passes, bits := sortPasses(rowBits)
	s.reserve(counts, 4*uint64(tiles+2*blocks)<<bits)
	s.dispatch("match_hash", tiles, whole(In), whole(keys), whole(positions))
	for i := range passes {
		params := digit(i, bits)
		s.dispatch("match_count", tiles, whole(In), whole(keys), whole(counts), params)
		s.dispatch("match_scan", blocks<<(bits-leastBits), whole(In), whole(counts), params)
		s.dispatch("match_base", blocks, whole(In), whole(counts), params)
		s.dispatch("match_scatter", tiles, whole(In), whole(keys), whole(positions),
			whole(newKeys), whole(newPositions), whole(counts), params)
		keys, positions, newKeys, newPositions = newKeys, newPositions, keys, positions
	}
	s.dispatch("match_best", tiles, whole(In), whole(keys), whole(positions), whole(Out))
}
