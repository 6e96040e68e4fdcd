//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

func decodeTokensRepeatKernel(
	seqs []rawSequence, tokens, litLens, matchLens, codes, extra []byte,
	bit *uint, repeats, minMatch *[4]uint32,
) (r TokenProgress, ok bool) {
	if cpu.Current() == cpu.Portable {
		return r, false
	}
	n := min(len(seqs), len(tokens), maxCallSequences)
	if n == 0 || *bit > 8*uint(len(extra)) {
		return r, true
	}
	minBytes := minMatch[0] | minMatch[1]<<8 | minMatch[2]<<16 | minMatch[3]<<24
	r.Done, r.UsedLits, r.UsedMatches, r.UsedOffsets, *bit, r.Lits, r.Produced =
		decodeTokensRepeatAVX2(&seqs[0], tokens[:n], litLens, matchLens, codes, extra,
			*bit, repeats, minBytes)
	return r, true
}

func decodeTokensPlainKernel(
	seqs []rawSequence, tokens, litLens, matchLens, offsets []byte,
) (r TokenProgress, ok bool) {
	if cpu.Current() == cpu.Portable {
		return r, false
	}
	n := min(len(seqs), len(tokens), maxCallSequences)
	if n == 0 {
		return r, true
	}
	r.Done, r.UsedLits, r.UsedMatches, r.Lits, r.Produced =
		decodeTokensPlainAVX2(&seqs[0], tokens[:n], litLens, matchLens, offsets)
	r.UsedOffsets = 2 * r.Done
	return r, true
}

func encodeOffsetsKernel(
	tokens, codes, extra []byte, seqs []rawSequence, st *OffsetState,
) (usedCodes, usedExtra int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, 0, false
	}
	for len(seqs) > 0 {
		n := min(len(seqs), maxCallSequences)
		c, e := encodeOffsetsAVX2((*struct {
			Acc, Have uint64
			Repeats   [4]uint32
		})(st), tokens[:n], &codes[usedCodes], extra[usedExtra:], &seqs[0])
		// The base of a nil slice is 0: the kernel's check for 8 bytes wraps around and passes.
		if e < 0 || len(extra) == 0 {
			panic("kernels: no room for the offsets")
		}
		usedCodes, usedExtra = usedCodes+c, usedExtra+e
		tokens, seqs = tokens[n:], seqs[n:]
	}
	return usedCodes, usedExtra, true
}

func encodeLengthsKernel(
	tokens, lits, matches []byte, seqs []rawSequence,
) (done, usedLits, usedMatches int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, 0, 0, false
	}
	if len(seqs) == 0 {
		return 0, 0, 0, true
	}
	tokens = tokens[:min(len(tokens), maxCallSequences)]
	done, usedLits, usedMatches = encodeLengthsAVX2(tokens, &lits[0], &matches[0], &seqs[0])
	return done, usedLits, usedMatches, true
}

func markRunStartsKernel(
	bits []uint64, at uint64, tokens, litLens []byte,
) (done, used int, end uint64, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, 0, at, false
	}
	if at/64 >= uint64(len(bits)) {
		return 0, 0, at, true
	}
	tokens = tokens[:min(len(tokens), maxCallBytes)]
	if len(litLens) >= MarkStep {
		done, used, at = markRunStartsAVX2(bits, at, tokens, litLens)
		tokens, litLens = tokens[done:], litLens[used:]
	}
	if len(litLens) < MarkStep && len(tokens) >= MarkStep && at/64 < uint64(len(bits)) {
		// The kernel always reads MarkStep lengths. Pad the last ones with 255, a length that the
		// kernel does not accept.
		last := [2 * MarkStep]byte{}
		for i := copy(last[:], litLens); i < len(last); i++ {
			last[i] = 255
		}
		more, lens, next := markRunStartsAVX2(bits, at, tokens, last[:])
		done, used, at = done+more, used+lens, next
	}
	return done, used, at, true
}
