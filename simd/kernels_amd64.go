//go:build amd64 && !noasm

package simd

// Here assembly for amd64 is chosen, that for chained runs in chained_amd64.go. A function returns false if the portable twin is to do the work.

func decodeLanesKernel(g *DecodeGroup) bool {
	if current() == portable {
		return false
	}
	for {
		// With AVX-512 as well: longer vectors do not help one group, which waits for itself.
		done, used := decodeLanesAVX2(&g.States, (*[slots]uint32)(g.Table), g.Dst[:min(len(g.Dst), maxCallBytes)], g.Words)
		g.Dst, g.Words = g.Dst[done:], g.Words[used:]
		if done < maxCallBytes {
			return true
		}
	}
}

func decodeLanes2Kernel(a, b *DecodeGroup) bool {
	for {
		dstA, dstB := a.Dst[:min(len(a.Dst), maxCallBytes)], b.Dst[:min(len(b.Dst), maxCallBytes)]
		var done, usedA, usedB int
		switch current() {
		case avx512:
			done, usedA, usedB = decodeLanes2AVX512(&a.States, (*[slots]uint32)(a.Table), dstA, a.Words, &b.States, (*[slots]uint32)(b.Table), dstB, b.Words)
		case avx2:
			done, usedA, usedB = decodeLanes2AVX2(&a.States, (*[slots]uint32)(a.Table), dstA, a.Words, &b.States, (*[slots]uint32)(b.Table), dstB, b.Words)
		default:
			return false
		}
		a.Dst, a.Words = a.Dst[done:], a.Words[usedA:]
		b.Dst, b.Words = b.Dst[done:], b.Words[usedB:]
		if done < maxCallBytes {
			return true
		}
	}
}

func encodeLanesKernel(states *[Lanes]uint32, tab *EncodeTable, run, words []byte, p int) (at int, ok bool) {
	t := current()
	if t == portable {
		return 0, false
	}
	for {
		last := run[max(0, len(run)-maxCallBytes):]
		if t == avx512 {
			p = encodeLanesAVX512(states, &tab.vector, last, words, p)
		} else {
			p = encodeLanesAVX2(states, &tab.vector, last, words, p)
		}
		if run = run[:len(run)-len(last)]; len(run) == 0 {
			return p, true
		}
	}
}

func prefetchKernel(table *byte, size int, at []uint32, mask uint32) {
	if current() != portable {
		prefetchEntries(table, size, at, mask)
	}
}

// matchLenKernel takes equally long slices of at least matchStep bytes.
func matchLenKernel(a, b []byte) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	return matchLenAVX2(a, b), true
}

func markDisplacementsKernel(masks []uint64, p []byte) bool {
	if current() == portable {
		return false
	}
	for len(masks) > 0 {
		n := min(len(masks), maxCallBytes/64)
		markDisplacementsAVX2(masks[:n], p)
		masks, p = masks[n:], p[64*n:]
	}
	return true
}

// manyBytes is the number of bytes from which eight banks are worth being cleared and added up: with 512 bytes of text, on Zen 5, they are 13% faster than the
// portable four, with 8,192 bytes 14%, and 45% where runs are frequent.
const minHistogramBytes = 512

func histogramKernel(counts *[256]uint32, p []byte) bool {
	if current() == portable || len(p) < minHistogramBytes {
		return false
	}
	for len(p) >= 16 {
		var banks [8][256]uint32
		n := min(len(p)&^15, maxCallBytes)
		histogramAVX2(counts, &banks, p[:n])
		p = p[n:]
	}
	for _, c := range p {
		counts[c]++
	}
	return true
}

// manyLong looks at some sequences to tell whether so many matches have more than 32 bytes, an eighth, that a branch for them would often be foreseen wrongly. On Zen
// 5 executeLongAVX2 takes 2.2 ns for a sequence of nci, where 44% are long, and the other kernel 3.4; of dickens, where none is, 1.5 and 1.1 ns.
func manyLongMatches(seqs []rawSequence) bool {
	const sample, many = 16, 2
	if len(seqs) < 4*sample {
		return false
	}
	step, long := len(seqs)/sample, 0
	for i := 0; i < len(seqs); i += step {
		if seqs[i].MatchLen > 32 {
			long++
		}
	}
	return long >= many
}

func executeKernel(dst []byte, at int, lits []byte, seqs []rawSequence) (done, end, used int, ok bool) {
	if current() == portable {
		return 0, at, 0, false
	}
	if len(seqs) == 0 || uint(at) > uint(len(dst)) {
		return 0, at, 0, true
	}
	dst = dst[:min(len(dst), at+maxCallBytes)]
	seqs = seqs[:min(len(seqs), maxCallSequences)]
	end = at
	if manyLongMatches(seqs) {
		var size int
		size, end, used = executeLongAVX2(dst, at, lits, &seqs[0], len(seqs))
		if done = size / sequenceSize; done == len(seqs) {
			return done, end, used, true
		}
	}
	size, end, more := executeAVX2(dst, end, lits[used:], &seqs[done], len(seqs)-done)
	return done + size/sequenceSize, end, used + more, true
}

func decodeTokensRepeatKernel(seqs []rawSequence, tokens, litLens, matchLens, codes, extra []byte, bit *uint, repeats, least *[4]uint32) (r TokenProgress, ok bool) {
	if current() == portable {
		return r, false
	}
	n := min(len(seqs), len(tokens), maxCallSequences)
	if n == 0 || *bit > 8*uint(len(extra)) {
		return r, true
	}
	r.Done, r.UsedLits, r.UsedMatches, r.UsedOffsets, *bit, r.Lits, r.Produced = decodeTokensRepeatAVX2(&seqs[0], tokens[:n], litLens, matchLens, codes, extra,
		*bit, repeats, least[0]|least[1]<<8|least[2]<<16|least[3]<<24)
	return r, true
}

func decodeTokensPlainKernel(seqs []rawSequence, tokens, litLens, matchLens, offsets []byte) (r TokenProgress, ok bool) {
	if current() == portable {
		return r, false
	}
	n := min(len(seqs), len(tokens), maxCallSequences)
	if n == 0 {
		return r, true
	}
	r.Done, r.UsedLits, r.UsedMatches, r.Lits, r.Produced = decodeTokensPlainAVX2(&seqs[0], tokens[:n], litLens, matchLens, offsets)
	r.UsedOffsets = 2 * r.Done
	return r, true
}

// manyFolded is the number of bytes from which folding pays: below it the kernel's beginning and end take as long as the instruction for CRC32C does.
const minFoldBytes = 1024

// crc32cKernel returns what is left of p.
func crc32cKernel(sum uint32, p []byte) (uint32, []byte) {
	if len(p) < minFoldBytes || current() != avx512 || !hasVPCLMULQDQ {
		return sum, p
	}
	for len(p) >= 256 {
		n := min(len(p)&^255, maxCallBytes)
		sum = ^crc32cAVX512(^sum, p[:n])
		p = p[n:]
	}
	return sum, p
}

// buildDecodeTableKernel returns how many entries it has written, and the first symbol that it has not.
func buildDecodeTableKernel(t *DecodeTable, freqs *[256]uint16) (done, sym int) {
	if current() == portable {
		return 0, 0
	}
	return buildDecodeTableAVX2((*[slots]uint32)(t), freqs)
}

func parseSingleKernel(p *SingleParse, src []byte, table []uint32, seqs []rawSequence) (n int, ok bool) {
	if current() == portable {
		return 0, false
	}
	if p.At < 1 || p.Anchor < 0 || p.Anchor > p.At || p.Repeat < 1 || p.End > len(src)-16 || p.SkipLog > 63 || p.Shift > 63 || uint64(len(table)) <= ^uint64(0)>>p.Shift {
		panic("simd: impossible parse")
	}
	if len(seqs) == 0 {
		return 0, true
	}
	// What stops here enters the same positions as what goes on: only the end of the parse makes a difference.
	size := parseSingleAVX2((*rawSingle)(p), src, &table[0], &seqs[0], min(len(seqs), maxCallSequences), min(p.End, p.At+maxCallBytes))
	return size / sequenceSize, true
}

func hasDouble() bool { return current() != portable }

func parseDoubleKernel(p *DoubleParse, src []byte, long, short []uint32, seqs []rawSequence) (n int) {
	p.check(src, long, short)
	if len(seqs) == 0 {
		return 0
	}
	size := parseDoubleAVX2((*rawDouble)(p), src, &long[0], &short[0], &seqs[0], min(len(seqs), maxCallSequences), min(p.End, len(src)-DoubleSlack, p.At+maxCallBytes))
	return size / sequenceSize
}

func parseDoubleLazyKernel(p *DoubleParse, src []byte, long, short []uint32, costs *[256]uint8, seqs []rawSequence, costsValid int) (n int) {
	p.check(src, long, short)
	if len(seqs) == 0 {
		return 0
	}
	size := parseDoubleLazyAVX2((*rawDouble)(p), src, &long[0], &short[0], costs, &seqs[0], min(len(seqs), maxCallSequences), min(max(costsValid, 0), maxCallSequences), min(p.End, p.At+maxCallBytes))
	return size / sequenceSize
}

// check panics if what a kernel is to do could lead it out of the slices.
func (p *DoubleParse) check(src []byte, long, short []uint32) {
	if best == portable || p.At < 1 || p.Anchor < 0 || p.Anchor > p.At || p.Repeats[0] < 1 || p.Repeats[1] < 1 || p.End > len(src)-16 || p.SkipLog > 63 || p.ShortShift > 63 || p.LongShift > 63 ||
		uint64(len(long)) <= ^uint64(0)>>p.LongShift || uint64(len(short)) <= ^uint64(0)>>p.ShortShift || p.MinMatch < 3 || p.MinMatch > 32 || p.MaxOffset < 32 ||
		p.CheckRepeat != 0 && (p.Anchor != p.At || p.PendingLen != 0) || uint(p.PendingLen) > 7 || p.PendingLen > 0 && (p.PendingLen > len(src)-p.At || p.PendingOffset < 1 || p.PendingOffset > p.At || uint(p.NextInsert) > uint(p.At+2)) {
		panic("simd: impossible parse")
	}
}

// maxCallPositions is the most positions that a function in assembly enters into rows in one call: some 50 µs, but where matches are very long.
const maxCallPositions = 1 << 12

func hasRowHash(depth int) bool {
	return current() != portable && (depth == 8 || depth == 16 || depth == 32)
}

func hasCandidates() bool { return current() != portable }

// check panics if what a kernel is to do could lead it out of src or the costs.
func (p *RowHashParse) check(src []byte) {
	if best == portable || p.NextInsert < 0 || p.At < p.NextInsert-p.PendingLen || p.Anchor < 0 || p.Anchor > p.At || p.End > len(src)-16 ||
		uint(p.PendingLen) > 7 || p.PendingLen > len(src)-p.At || p.PendingLen > 0 && (p.PendingOffset < 1 || p.PendingOffset > p.At || p.NextInsert < p.At) || p.Repeats[0] < 1 || p.Repeats[1] < 1 || p.Repeats[2] < 1 ||
		uint(p.Lazy) > 2 || p.Nice < 5 || uint(p.MinRowMatch-4) > 1<<RowHashBits || p.MaxOffset < 32 {
		panic("simd: impossible parse")
	}
}

func parseRowHashKernel(p *RowHashParse, src []byte, rows []uint32, costs *[256]uint8, seqs []rawSequence, costsValid int) int {
	p.check(src)
	if p.Depth != 8 && p.Depth != 16 && p.Depth != 32 || p.Shift < 1 || p.Shift > 31 || uint64(len(rows)) < uint64(p.Depth)<<(32-p.Shift) ||
		p.Base > 1<<RowHashBits || p.Base+uint64(len(src)) >= 1<<RowHashBits {
		panic("simd: impossible parse")
	}
	return p.run(p.Depth, src, &rows[0], costs, seqs, costsValid)
}

func parseCandidatesKernel(p *RowHashParse, src []byte, candidates []uint32, costs *[256]uint8, seqs []rawSequence, costsValid int) int {
	p.check(src)
	if p.At >= p.End {
		return 0
	}
	if len(candidates) < p.End {
		panic("simd: impossible parse")
	}
	return p.run(0, src, &candidates[0], costs, seqs, costsValid)
}

// run calls the function in assembly for rows of that depth, 0 for given candidates, until the parse is at its end, or there is no room, or it has to learn.
func (p *RowHashParse) run(depth int, src []byte, candidates *uint32, costs *[256]uint8, seqs []rawSequence, costsValid int) (n int) {
	for p.At < p.End && n < len(seqs) {
		room, costsValid := min(len(seqs)-n, maxCallSequences), min(max(costsValid-n, 0), maxCallSequences)
		from := p.NextInsert // up to there positions are in rows
		if depth == 0 {
			from = p.At
		}
		p.callEnd = min(p.End, from+maxCallPositions)
		var size int
		switch depth {
		case 0:
			size = parseCandidatesAVX2((*rawRowHash)(p), src, candidates, costs, &seqs[n], room, costsValid)
		case 8:
			size = parseRowHash8AVX2((*rawRowHash)(p), src, candidates, costs, &seqs[n], room, costsValid)
		case 16:
			size = parseRowHash16AVX2((*rawRowHash)(p), src, candidates, costs, &seqs[n], room, costsValid)
		case 32:
			size = parseRowHash32AVX2((*rawRowHash)(p), src, candidates, costs, &seqs[n], room, costsValid)
		}
		if n += size / sequenceSize; p.PendingLen > 0 {
			break
		}
	}
	return n
}

func encodeOffsetsKernel(tokens, codes, extra []byte, seqs []rawSequence, initial uint32) (usedCodes, usedExtra int, ok bool) {
	if current() == portable {
		return 0, 0, false
	}
	st := offsetState{Repeats: [4]uint32{initial, initial, initial}}
	for len(seqs) > 0 {
		n := min(len(seqs), maxCallSequences)
		c, e := encodeOffsetsAVX2((*struct {
			Acc, Have uint64
			Repeats   [4]uint32
		})(&st), tokens[:n], &codes[usedCodes], extra[usedExtra:], &seqs[0])
		if e < 0 || len(extra) == 0 { // a nil slice is at 0, and nothing below that
			panic("simd: no room for the offsets")
		}
		usedCodes, usedExtra = usedCodes+c, usedExtra+e
		tokens, seqs = tokens[n:], seqs[n:]
	}
	if st.Have > 0 {
		extra[usedExtra] = byte(st.Acc)
		usedExtra++
	}
	return usedCodes, usedExtra, true
}

func encodeLengthsKernel(tokens, lits, matches []byte, seqs []rawSequence) (done, usedLits, usedMatches int, ok bool) {
	if current() == portable {
		return 0, 0, 0, false
	}
	if len(seqs) == 0 {
		return 0, 0, 0, true
	}
	done, usedLits, usedMatches = encodeLengthsAVX2(tokens[:min(len(tokens), maxCallSequences)], &lits[0], &matches[0], &seqs[0])
	return done, usedLits, usedMatches, true
}
