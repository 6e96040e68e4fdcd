package host

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// Fused is all of a block in one submission; docs/exec-plans/active/fused.md says what each kernel does. What stands where is told in gpu/kernels/fused_begin.wgsl.

const (
	// A batch is what has room in a submission, 4 blocks of 4 MiB, for its blocks are walked through at the same time, and of several submissions each takes as long as the longest of its blocks.
	// Of small blocks it is entropyBatch, so that with Fused there are no more blocks in flight than without.
	fusedBytes = maxPositions
	// fusedRoom is more bytes of a buffer than a byte of content takes: candidates and marks take 4, and some words for each block.
	fusedExpansion = 8
	fusedBatch     = entropyBatch
	// fusedPays is the least block, in bytes, that Auto does so: none. It could pay most of all, for the host does a twentieth of what it would do without (17 to 23 times at level 5, 30 to 46 at level 6, blocks of 256 KiB), but then the device
	// has to be fast, which is STILL TO BE MEASURED on a GPU. On software Vulkan four blocks of 128 KiB of dickens at level 6 took 426 ms (1.2 MB/s), in stages 542 ms, and one processor 33 ms: better than the stages, and
	// no use (docs/exec-plans/active/fused.md).
	fusedMinAuto = math.MaxInt
	// fusedLeast is the least block, in bytes: smaller ones take a processor some microseconds.
	minFused = 4096

	fusedWords     = 32
	stateWords     = 1088
	planHeadWords  = 96
	seqWords       = 3
	markWords      = 4
	segmentWords   = 208
	segmentSymbols = 8192 // symbols
	segmentHead    = 58   // u32 of a segment's head at most: mode, length, 224 bytes of description
	headerWords    = 16
	logWords       = 2048
	tilePayload    = 640 // u32 of payload for each tile: more than a quarter beyond what is in it
	resultWords    = 4
	guessMargin    = 4 // the guess of what comes back is as much as last time and 1/4

	// turnsEach is how many turns of loops a byte may take in a parse. Files take 0.1 to 0.6, what internal/corpus makes up to 1.30: usualTurns, in tenths.
	turnsPerByte    = 4
	usualTurnTenths = 13
	// turnTime is how long a turn, which is a few dependent reads, takes on a slow GPU. A guess, STILL TO BE MEASURED; 1 µs may be the rule.
	turnTime = 5 * time.Microsecond
	// fusedTurns and softwareTurns are how many there are in a dispatch, on a GPU and on drivers that leave loops after softwareLoops. A GPU answers others as often as a dispatch ends: four
	// times a second with turns of 1 µs, and after 1.3 s with turnTime.
	fusedTurns    = 1 << 18
	softwareTurns = softwareLoops / 2
	// maxFused is the greatest block, in bytes: the greatest power of two that a slow GPU parses within gpu.DefaultTimeout, if it takes no more than usualTurns. One invocation walks through it, which takes
	// 27 s then. (Turns that nothing but made data take, turnsEach, would be 84 s, and the end of such a device; of one that takes 1 µs 17 s.) On drivers in software it takes
	// less than softwareLoops turns in all kernels but the parse, unless it is made not to.
	maxFused = 4 << 20
)

// fusedRooms are how many u32 of the buffers are taken.
type fusedUsage struct{ streams, seqs, state, plan, words, out uint32 }

// parseTime is how long a slow GPU parses a block of n bytes.
func slowParseTime(n int) time.Duration { return time.Duration(n) * usualTurnTenths / 10 * turnTime }

// add makes room for a block.
func (r *fusedUsage) add(n int, coded, tiles int) {
	slots := uint32(0)
	for k, m := range lzseq.Repeat.MaxSizes(n) {
		r.streams += words(m) + 1
		if k < coded {
			slots += uint32(m/segmentSymbols) + 1
		}
	}
	r.seqs += maxSeqs(n)
	r.state += stateWords
	r.plan += 8 + planHeadWords + slots*segmentWords + 4*maxSpans(slots) + headRoom(slots) + 4*maxPieces(slots)
	r.words += 2*encResultWords + codedWords(n)
	r.out += resultWords + tilePayload*uint32(tiles)
}

// largest is the size in bytes of the largest buffer.
func (r *fusedUsage) largest() uint64 {
	return 4 * uint64(max(r.streams, markWords*r.seqs, r.state, r.plan, r.words, r.out))
}

func maxSeqs(n int) uint32          { return uint32(n)/4 + 2 }
func maxSpans(slots uint32) uint32  { return slots + 1 }
func headRoom(slots uint32) uint32  { return (16 + slots*segmentHead + 3) &^ 3 }
func maxPieces(slots uint32) uint32 { return slots + 12 }

// fusedCoded is the room for words: one for each coded symbol, of which there are up to 4/3 of the block's bytes.
func codedWords(n int) uint32 { return words(2*(n+n/3)) + 16 }

// fusedSize is a bound for the largest buffer that a block of n bytes needs.
func fusedSize(n int) uint64 {
	r := fusedUsage{plan: headWords}
	r.add(n, 5, n/tileSize+1)
	return max(r.largest(), matchSize(n)+4*(headerWords+fusedWords+logWords))
}

// fused does a batch of Fused.
func (s *slot) runFused(batch []*gpu.Request) error {
	for len(batch) > 0 {
		s.blocks = s.blocks[:0]
		first, tile, n := 0, 0, 0
		used := fusedUsage{plan: headWords}
		for ; n < len(batch); n++ {
			r := batch[n]
			if r.Err = nil; !s.d.acceptsFused(r) {
				r.Err = ErrTooLarge
				continue
			}
			j := matchJob{r: r, first: first, tile: tile, positions: len(r.Src) - lz77.CandidateTail}
			j.tiles = (j.positions + tileSize - 1) / tileSize
			j.rowBits, j.mask = r.Params.RowHashParams(len(r.Src))
			more := used
			more.add(len(r.Src), 6-r.Layout.Stored, j.tiles)
			if first > 0 && (first+j.positions > maxPositions || max(more.largest(), matchSize(first+j.positions)+4*logWords+4096) > s.d.maxBuffer) {
				break
			}
			used, first, tile = more, first+j.positions, tile+j.tiles
			s.blocks = append(s.blocks, j)
		}
		if len(s.blocks) > 0 {
			if err := s.submitFused(s.blocks, first, tile, &used); err != nil {
				return err
			}
			clear(s.blocks)
		}
		batch = batch[n:]
	}
	return nil
}

// fuses reports whether the device can do a request of Fused.
func (d *Device) acceptsFused(r *gpu.Request) bool {
	return r.Params != nil && r.Layout != nil && r.Params.Lazy <= 2 && r.Params.Finder == lz77.RowHash && r.Params.Nice <= lz77.MaxCandidateNice && r.Params.Depth <= 64 && r.Window == 0 &&
		len(r.Src) >= minFused && max(len(r.Src), r.Size) <= maxFused && fusedSize(max(len(r.Src), r.Size)) <= d.maxBuffer
}

// fuse does some blocks in one submission, and one more to fetch what is left if there is more than was guessed.
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
	guess := min(table+(all*s.ratio>>16+4*uint64(len(blocks))+15)&^15, 4*uint64(used.out))
	s.download(0, guess)
	if err := s.submit(); err != nil {
		return err
	}
	total := uint64(0)
	err := s.q.Downloaded(func(p []byte) {
		if total = payloadsSize(blocks, p, 4*uint64(used.out)); total <= guess {
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
	s.begin(0, In)
	s.download(0, min((total+15)&^15, 4*uint64(used.out)))
	if err := s.submit(); err != nil {
		return err
	}
	return s.q.Downloaded(func(p []byte) { copyPayloads(blocks, p) })
}

// payloads returns how many bytes of the output hold payloads, with the table of their sizes. If they are more than limit something is wrong with all of them.
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

// takePayloads copies the payloads.
func copyPayloads(blocks []matchJob, p []byte) {
	at := 4 * resultWords * uint64(len(blocks))
	for i := range blocks {
		r := blocks[i].r
		size := uint64(binary.LittleEndian.Uint32(p[4*resultWords*i:]))
		switch {
		case r.Err != nil:
		case size == 0:
			r.Err = errUnfinished
		case at+size > uint64(len(p)): // the table is not what it was when it came alone
			r.Err = errResult
		default:
			r.Dst = append(r.Dst[:0], p[at:at+size]...)
			at += (size + 3) &^ 3
		}
	}
}

// recordFused records all kernels of a submission.
func (s *slot) recordFused(blocks []matchJob, positions, tiles int, used *fusedUsage) error {
	n := len(blocks)
	in := headerWords + n*(blockWords+fusedWords) + tiles + logWords
	rowBits, longest := uint8(0), 0
	for i := range blocks {
		in += int(words(len(blocks[i].r.Src))) + 2
		rowBits = max(rowBits, blocks[i].rowBits)
		longest = max(longest, len(blocks[i].r.Src))
	}
	up, err := s.upload(4 * uint64(in))
	if err != nil {
		return err
	}
	turns, most := uint32(fusedTurns), uint32(math.MaxUint32)
	if s.d.maxLoops > 0 {
		turns, most = softwareTurns, uint32(s.d.maxLoops)
	}
	fusedAt := uint32(headerWords + n*blockWords)
	tilesAt := fusedAt + uint32(n*fusedWords)
	logAt := tilesAt + uint32(tiles)
	segments := uint32(headWords + 8*n) // in the plan, behind the descriptors of groups
	head := packer{p: up}
	head.put(uint32(n), uint32(tiles), uint32(positions), headerWords, tilesAt, fusedAt, logAt, turns, most, uint32(tiles), segments, 0, 0, 0, 0, 0)
	logs, values := packer{p: up, at: logAt}, rans.LogTable()
	logs.put(values[:]...)
	w := packer{p: up, at: logAt + logWords}
	table := packer{p: up, at: tilesAt}
	for i := range blocks {
		j := &blocks[i]
		w.block(&head, j)
		for range j.tiles {
			table.put(uint32(i))
		}
	}
	s.packFused(&packer{p: up, at: fusedAt}, blocks, segments)

	size := 4 * uint64(positions)
	s.begin(4*uint64(in), In)
	s.candidates(n, tiles, rowBits, size)
	// What finding candidates has been through with.
	const streams, seqs, plan, marks, code = Keys, Positions, NewKeys, NewPositions, NewPositions
	for _, r := range []BufferSize{{streams, uint64(used.streams)}, {seqs, seqWords * uint64(used.seqs)}, {marks, markWords * uint64(used.seqs)}, {Counts, uint64(used.state)}, {plan, uint64(used.plan)}, {code, uint64(used.words)}, {Out, uint64(used.out)}} {
		s.reserve(r.Buffer, 4*r.Size)
	}
	s.dispatch("fused_begin", n, whole(In), whole(Counts))
	s.dispatch("fused_parse", n, whole(In), whole(Out), whole(seqs), whole(marks), whole(Counts))
	s.sub.Kernels[len(s.sub.Kernels)-1].Times += 1 + turnsPerByte*longest/int(turns)
	s.dispatch("fused_code", tiles, whole(In), whole(seqs), whole(marks), whole(Counts), whole(streams))
	s.dispatch("fused_cut", 6*n, whole(In), whole(streams), whole(Counts), whole(plan))
	s.dispatch("fused_frame", n, whole(In), whole(Counts), whole(plan))
	s.dispatch("rans_encode", 2*n, whole(plan), whole(streams), whole(code))
	s.dispatch("fused_pieces", n, whole(In), whole(Counts), whole(code), whole(plan))
	s.dispatch("fused_payload", tiles, whole(In), whole(plan), whole(code), whole(streams), whole(Out))
	return nil
}

// layOut writes the descriptors of Fused: it gives each block its rooms.
func (s *slot) packFused(desc *packer, blocks []matchJob, segments uint32) {
	n := uint32(len(blocks))
	slots := uint32(0)
	for i := range blocks {
		_, k := maxSegments(blocks[i].r)
		slots += k
	}
	at := fusedUsage{plan: segments + slots*segmentWords, words: 2 * n * encResultWords}
	place := uint32(0)
	for i := range blocks {
		r := blocks[i].r
		size := len(r.Src)
		for _, m := range lzseq.Repeat.MaxSizes(size) {
			desc.put(at.streams)
			at.streams += words(m) + 1
		}
		desc.put(at.streams, at.seqs, maxSeqs(size))
		at.seqs += maxSeqs(size)
		desc.put(uint32(r.Layout.ID), uint32(6-r.Layout.Stored), uint32(r.Limits.Repeats), uint32(r.Limits.MinMatch), uint32(r.Params.Lazy), at.state)
		at.state += stateWords
		each, all := maxSegments(r)
		for _, k := range each {
			desc.put(place)
			place += k
		}
		desc.put(place)
		head, parts, pieces := at.plan+planHeadWords, at.plan+planHeadWords+headRoom(all), at.plan+planHeadWords+headRoom(all)+4*maxSpans(all)
		desc.put(head, headRoom(all), parts, maxSpans(all), at.words, at.words+codedWords(size), pieces, maxPieces(all), at.plan, tilePayload*uint32(blocks[i].tiles))
		at.plan, at.words = pieces+4*maxPieces(all), at.words+codedWords(size)
	}
}

// fusedSlots is how many segments each stream may have, and all of them.
func maxSegments(r *gpu.Request) (each [6]uint32, all uint32) {
	for k, m := range lzseq.Repeat.MaxSizes(len(r.Src)) {
		if k < 6-r.Layout.Stored {
			each[k] = uint32(m/segmentSymbols) + 1
			all += each[k]
		}
	}
	return each, all
}
