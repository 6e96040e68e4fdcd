package host

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// matchJob is a request of Stage0 in a submission.
type matchJob struct {
	r         *gpu.Request
	first     int // number of its first position
	positions int
	tile      int // its first one
	tiles     int
	rowBits   uint8
	mask      uint32
}

// See the kernels.
const (
	tileSize   = 2048
	blockWords = 16
	digitBits  = 4
	digits     = 1 << digitBits
)

// matchSize is a bound for the largest buffer that a block of size bytes needs.
func matchSize(size int) uint64 {
	return max(4*uint64(size)+4096, uint64(size+size/tileSize*4+4096))
}

// ShiftBytes are the lowest bits of digits, each where a binding may begin.
func ShiftBytes() []byte {
	p := make([]byte, shiftStep*maxPasses)
	for i := range maxPasses {
		binary.LittleEndian.PutUint32(p[shiftStep*i:], uint32(lz77.RowTagBits+digitBits*i))
	}
	return p
}

const (
	shiftStep = 256 // no device wants more
	maxPasses = (32 - lz77.RowTagBits + digitBits - 1) / digitBits
)

// match does a batch of Stage0, in as many submissions as there is room for.
func (s *slot) runMatch(batch []*gpu.Request) error {
	for len(batch) > 0 {
		s.blocks = s.blocks[:0]
		first, tile := 0, 0
		n := 0
		for ; n < len(batch); n++ {
			r := batch[n]
			r.Err, r.Candidates = nil, nil
			j := matchJob{r: r, first: first, tile: tile, positions: max(0, len(r.Src)-lz77.CandidateTail)}
			if j.positions == 0 || len(r.Src) < r.Window+lz77.CandidateTail {
				r.Seqs = r.Seqs[:0]
				continue
			}
			j.tiles = (j.positions + tileSize - 1) / tileSize
			j.rowBits, j.mask = r.Params.RowHashParams(len(r.Src))
			if first > 0 && (first+j.positions > maxPositions || matchSize(first+j.positions) > s.d.maxBuffer) {
				break
			}
			first, tile = first+j.positions, tile+j.tiles
			s.blocks = append(s.blocks, j)
		}
		if len(s.blocks) > 0 {
			if err := s.submitMatch(s.blocks, first, tile); err != nil {
				return err
			}
			clear(s.blocks)
		}
		batch = batch[n:]
	}
	return nil
}

// matchBlocks finds the candidates of some blocks.
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
	head.put(uint32(len(blocks)), uint32(tiles), uint32(positions), 8, tilesAt, 0, 0, 0)
	table := packer{p: up, at: tilesAt}
	w := packer{p: up, at: tilesAt + uint32(tiles)}
	for i := range blocks {
		j := &blocks[i]
		w.block(&head, j)
		for range j.tiles {
			table.put(uint32(i))
		}
	}
	size := 4 * uint64(positions)
	s.begin(4*uint64(in), In)
	s.candidates(len(blocks), tiles, rowBits, size)
	s.download(0, size)
	if err := s.submit(); err != nil {
		return err
	}
	return s.q.Downloaded(func(p []byte) {
		for i := range blocks {
			j := &blocks[i]
			j.r.Candidates = gpu.NewCandidates(j.positions)
			readWords(j.r.Candidates, p[4*j.first:])
		}
	})
}

// block packs a block, and its descriptor into head.
func (w *packer) block(head *packer, j *matchJob) {
	p := j.r.Params
	least := max(j.r.Limits.MinMatch, int(p.HashBytes))
	head.put(w.bytes(j.r.Src), uint32(len(j.r.Src)), uint32(j.first), uint32(j.positions), 32-uint32(j.rowBits),
		j.mask, uint32(p.Depth), uint32(p.Nice), uint32(least), uint32(min(j.r.Limits.MaxOffset, math.MaxInt32)), uint32(j.tile), uint32(j.tiles), 0, 0, 0, 0)
	w.put(0, 0)
}

// candidates has the best candidates of all positions found.
func (s *slot) candidates(blocks, tiles int, rowBits uint8, size uint64) {
	keys, positions, newKeys, newPositions := Keys, Positions, NewKeys, NewPositions
	for _, b := range []Buffer{keys, positions, newKeys, newPositions, Out} {
		s.reserve(b, size)
	}
	s.reserve(Counts, 4*digits*uint64(tiles))
	s.dispatch("match_hash", tiles, whole(In), whole(keys), whole(positions))
	for i := range (int(rowBits) + digitBits - 1) / digitBits {
		shift := Binding{Shifts, uint64(shiftStep * i), shiftStep}
		s.dispatch("match_count", tiles, whole(In), whole(keys), whole(Counts), shift)
		s.dispatch("match_scan", blocks, whole(In), whole(Counts))
		s.dispatch("match_scatter", tiles, whole(In), whole(keys), whole(positions), whole(newKeys), whole(newPositions), whole(Counts), shift)
		keys, positions, newKeys, newPositions = newKeys, newPositions, keys, positions
	}
	s.dispatch("match_best", tiles, whole(In), whole(keys), whole(positions), whole(Out))
}
