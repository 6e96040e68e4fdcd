package lzseq

import "github.com/gopz/compress/simd"

// Marks sets, in bits that are all 0, one for each of n literals and the least significant one first, those of the literals where a literal run begins: what is right behind a
// match, and the first. Tokens and LitLens of the layouts Repeat and Dense tell; an error, a CorruptError, says that they do not fit the number of literals. Bits behind
// the last literal may be set.
func (s *Streams) Marks(bits []uint64, n int) error {
	if n == 0 {
		bits = nil
	}
	m := runMarks{bits: bits, tokens: s.Tokens, lits: s.LitLens}
	// The kernel leaves tokens with many literals. Where they are frequent so are calls for nothing, so that more and more of them are taken without it.
	for few := simd.MarkStep; len(m.tokens) > 0; few = min(2*few, mostFew) {
		done, used, end, ok := simd.MarkRunStarts(m.bits, m.at, m.tokens, m.lits)
		m.tokens, m.lits, m.at = m.tokens[done:], m.lits[used:], end
		if done > 0 {
			few = simd.MarkStep
		}
		if !ok || m.at>>6 >= uint64(len(bits)) {
			few = len(m.tokens)
		}
		if !m.set(min(few, len(m.tokens))) {
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

// mostFew is the most tokens that are taken without the kernel before it is asked again: runs that are long everywhere take as long as without one.
const mostFew = 1024

// runMarks is how far marking has come.
type runMarks struct {
	bits         []uint64
	tokens, lits []byte
	at           uint64 // the literal where the next run begins
}

// set goes over the next n tokens, and marks their runs as far as there are bits. It returns false if one is without its length.
func (m *runMarks) set(n int) bool {
	bits, lits, long, at := m.bits, m.lits, 0, m.at
	// The bits of a word are put together before they are stored: there are several runs to most words.
	word, here := at>>6, uint64(0)
	for _, t := range m.tokens[:n] {
		if at>>6 != word {
			if word < uint64(len(bits)) {
				bits[word] |= here
			}
			word, here = at>>6, 0
		}
		here |= 1 << (at & 63)
		// Which run is a long one is hard to predict: there is no branch for most of them.
		run := uint64(t & repeatLit)
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
