package lzseq

import (
	"github.com/gopz/compress/internal/kernels"
)

// Marks sets bit i of bits, least significant bit first, for each literal i that begins a literal
// run: the first literal behind each match and that of the block. There are n literals, and all
// bits must be 0. Marks reads Tokens and LitLens of layouts Repeat and Dense. It returns a
// CorruptError if they do not agree with n. It may set bits from n on.
func (s *Streams) Marks(bits []uint64, n int) error {
	if n == 0 {
		bits = nil
	}
	m := runMarker{bits: bits, tokens: s.Tokens, lits: s.LitLens}
	// The kernel stops at tokens with long runs. The number of tokens decoded without it doubles
	// while it stops at once, so that many long runs do not cost a call each.
	next := len(m.tokens) - checkpointTokens
	for scalar := kernels.MarkStep; len(m.tokens) > 0; scalar = min(2*scalar, maxScalarTokens) {
		if len(m.tokens) < next {
			next = len(m.tokens) - checkpointTokens
			s.checkpoint()
		}
		done, used, end, ok := kernels.MarkRunStarts(m.bits, m.at, m.tokens, m.lits)
		m.tokens, m.lits, m.at = m.tokens[done:], m.lits[used:], end
		if done > 0 {
			scalar = kernels.MarkStep
		}
		if !ok || m.at>>6 >= uint64(len(bits)) {
			scalar = checkpointTokens
		}
		if !m.mark(min(scalar, len(m.tokens))) {
			return CorruptError("literal run without a length")
		}
	}
	if m.at > uint64(n) {
		return CorruptError("literal runs too long")
	}
	if m.at < uint64(n) {
		bits[m.at>>6] |= 1 << (m.at & 63)
	}
	return nil
}

// checkpointTokens is the number of tokens between checkpoints of Marks.
const checkpointTokens = 1 << 18

// maxScalarTokens limits the number of tokens decoded without the kernel before the next try.
const maxScalarTokens = 1024

// runMarker is the state of Marks.
type runMarker struct {
	bits         []uint64
	tokens, lits []byte
	at           uint64 // index of the literal where the next run begins
}

// mark marks the runs of the next n tokens as far as there are bits. It returns false if a length
// is missing.
func (m *runMarker) mark(n int) bool {
	bits, lits, long, at := m.bits, m.lits, 0, m.at
	// Most words hold several runs, so their bits are collected before they are stored.
	word, here := at>>6, uint64(0)
	for _, t := range m.tokens[:n] {
		if at>>6 != word {
			if word < uint64(len(bits)) {
				bits[word] |= here
			}
			word, here = at>>6, 0
		}
		here |= 1 << (at & 63)
		// Long runs are hard to predict, so the common path has no branch for them.
		run := uint64(t & repeatLitEscape)
		escape := (run + 1) >> 2
		if uint(long) >= uint(len(lits)) {
			if escape != 0 {
				return false
			}
			at += run
			continue
		}
		k := uint64(lits[long]) & -escape
		if k == 255 {
			more, ok := length(lits, &long)
			if !ok {
				return false
			}
			at += run + uint64(more)
			continue
		}
		at += run + k
		long += int(escape)
	}
	if word < uint64(len(bits)) {
		bits[word] |= here
	}
	m.tokens, m.lits, m.at = m.tokens[n:], lits[long:], at
	return true
}
