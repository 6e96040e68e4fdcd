package host

import (
	"math"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/lzseq"
)

// recordFused packs blocks and records all kernels of their submission.
func (s *slot) recordFused(blocks []matchJob, positions, tiles int, used *fusedUsage) error {
	n := len(blocks)
	rowBits, longest, groups, parts := uint8(0), 0, 0, 0
	in := headerWords + n*(blockWords+fusedWords) + tiles + logWords
	for i := range blocks {
		size := len(blocks[i].r.Src)
		in += int(words(size)) + 2
		rowBits = max(rowBits, blocks[i].rowBits)
		longest = max(longest, longestSegment(size))
		groups += int(blockGroups(size))
		parts += parseSegments(size)
	}
	in += parts
	up, err := s.upload(4 * uint64(in))
	if err != nil {
		return err
	}
	turns, maxLoops := uint32(fusedTurns), uint32(math.MaxUint32)
	if s.d.maxLoops > 0 {
		turns, maxLoops = softwareTurns, uint32(s.d.maxLoops)
	}
	fusedAt := uint32(headerWords + n*blockWords)
	tilesAt := fusedAt + uint32(n*fusedWords)
	partsAt := tilesAt + uint32(tiles)
	logAt := partsAt + uint32(parts)
	// index in the plan, behind the descriptors of lane groups
	segments := uint32(headWords + encGroupWords*groups)
	head := packer{p: up}
	head.putWords(uint32(n), uint32(tiles), uint32(positions), headerWords, tilesAt, fusedAt, logAt, turns)
	head.putWords(maxLoops, uint32(tiles), segments, uint32(groups), partsAt, uint32(parts), 0, 0)
	logs, values := packer{p: up, at: logAt}, rans.LogTable()
	logs.putWords(values[:]...)
	w := packer{p: up, at: logAt + logWords}
	table, partTable := packer{p: up, at: tilesAt}, packer{p: up, at: partsAt}
	for i := range blocks {
		j := &blocks[i]
		w.block(&head, j)
		for range j.tiles {
			table.putWords(uint32(i))
		}
		for range parseSegments(len(j.r.Src)) {
			partTable.putWords(uint32(i))
		}
	}
	packFused(&packer{p: up, at: fusedAt}, blocks, segments, uint32(groups))

	s.beginSubmission(4*uint64(in), In)
	s.candidates(n, tiles, rowBits, 4*uint64(positions))
	s.fusedKernels(n, tiles, parts, groups, used)
	for i := range s.sub.Kernels {
		if k := &s.sub.Kernels[i]; k.Kernel == "fused_parse" {
			k.Times += turnsPerByte * longest / int(turns)
			k.Long = true
		}
	}
	return nil
}

// fusedKernels records the kernels behind those that find candidates, for n blocks whose parses
// have that many segments.
func (s *slot) fusedKernels(n, tiles, segments, groups int, used *fusedUsage) {
	// Buffers that finding candidates no longer needs.
	const streams, seqs, plan, marks, code = Keys, Positions, NewKeys, NewPositions, NewPositions
	// And those for sequences of segments, before they have streams and plan.
	const localSeqs, localMarks = streams, plan
	for _, r := range []BufferSize{
		{streams, uint64(max(used.streams, seqWords*used.seqs))},
		{seqs, seqWords * uint64(used.seqs)},
		{marks, markWords * uint64(used.seqs)},
		{State, uint64(used.state)},
		{plan, uint64(max(used.plan, markWords*used.seqs))},
		{code, uint64(used.words)},
		{Out, uint64(used.out)},
	} {
		s.reserve(r.Buffer, 4*r.Size)
	}
	s.dispatch("fused_begin", segments, whole(In), whole(State))
	s.dispatch("fused_parse", segments,
		whole(In), whole(Out), whole(localSeqs), whole(localMarks), whole(State))
	s.dispatch("fused_join", n, whole(In), whole(localSeqs), whole(localMarks), whole(State))
	s.dispatch("fused_place", segments,
		whole(In), whole(localSeqs), whole(localMarks), whole(State), whole(seqs), whole(marks))
	s.dispatch("fused_code", tiles, whole(In), whole(seqs), whole(marks), whole(State), whole(streams))
	s.dispatch("fused_cut", 6*n, whole(In), whole(streams), whole(State), whole(plan))
	s.dispatch("fused_frame", n, whole(In), whole(State), whole(plan))
	s.dispatch("rans_encode", groups, whole(plan), whole(streams), whole(code))
	s.dispatch("fused_pieces", n, whole(In), whole(State), whole(code), whole(plan))
	s.dispatch("fused_payload", tiles, whole(In), whole(plan), whole(code), whole(streams), whole(Out))
}

// packFused writes the descriptors of blocks: it gives each block its part of the buffers. segments
// is the index of the first segment in the plan, and groups the number of lane groups.
func packFused(desc *packer, blocks []matchJob, segments, groups uint32) {
	total := uint32(0)
	for i := range blocks {
		_, k := maxSegments(blocks[i].r)
		total += k
	}
	at := fusedUsage{plan: segments + total*segmentWords, words: groups * encResultWords}
	segment, group, part := uint32(0), uint32(0), uint32(0)
	for i := range blocks {
		r := blocks[i].r
		size := len(r.Src)
		for _, m := range lzseq.Repeat.MaxSizes(size) {
			desc.putWords(at.streams)
			at.streams += words(m) + 1
		}
		desc.putWords(at.streams, at.seqs, maxSeqs(size))
		at.seqs += maxSeqs(size)
		desc.putWords(uint32(r.Layout.ID), uint32(6-r.Layout.Stored), uint32(r.Limits.Repeats))
		desc.putWords(uint32(r.Limits.MinMatch), uint32(r.Params.Lazy), at.state)
		at.state += blockState(size)
		each, all := maxSegments(r)
		for _, k := range each {
			desc.putWords(segment)
			segment += k
		}
		desc.putWords(segment)
		g := blockGroups(size)
		head := at.plan + planHeadWords + g*planGroupWords
		spans := head + headRoom(all)
		pieces := spans + 4*maxSpans(all, g)
		desc.putWords(head, headRoom(all), spans, maxSpans(all, g), at.words, at.words+codedWords(size))
		desc.putWords(pieces, maxPieces(all, g), at.plan, tilePayload*uint32(blocks[i].tiles))
		parts := uint32(parseSegments(size))
		desc.putWords(group, g, part, parts)
		group, part = group+g, part+parts
		at.plan, at.words = pieces+4*maxPieces(all, g), at.words+codedWords(size)
	}
}

// maxSegments returns how many segments each stream may have, and their sum.
func maxSegments(r *gpu.Request) (each [6]uint32, all uint32) {
	for k, m := range lzseq.Repeat.MaxSizes(len(r.Src)) {
		if k < 6-r.Layout.Stored {
			each[k] = uint32(m/segmentSymbols) + 1
			all += each[k]
		}
	}
	return each, all
}
