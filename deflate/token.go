package deflate

import "github.com/gopz/compress/lz77"

// token is a run of literals and a match as Deflate can code it, or no match:
//
//	bits  0–4    offset slot
//	bits  5–19   offset less one
//	bits 20–28   length; 0 is no match
//	bits 29–     literals
type token uint64

const (
	tokenOffset = 5
	tokenLength = 20
	tokenRun    = 29
)

// maxRun is the most literals of a token: longer runs are several tokens, so that a block may begin inside of them.
const maxRun = unitSymbols

// literalsToken is a token without a match.
func literalsToken(run int) token { return token(run)<<tokenRun | noSlot }

func matchToken(run, length, offset uint32) token {
	d := offset - 1
	return token(slotOf(d)) | token(d)<<tokenOffset | token(length)<<tokenLength | token(run)<<tokenRun
}

// slack is the number of bytes behind the literals that may be read and overwritten.
const slack = 16

// tokenize turns content and sequences into tokens, and literals one after the other with slack behind them.
func (e *Encoder) tokenize(content []byte, seqs []lz77.Sequence) {
	e.lits = sized(e.lits, len(content)+slack)
	e.tokens = sized(e.tokens, maxTokens(len(content), len(seqs)))
	lits, tokens := e.lits, e.tokens
	at, lit, n := 0, 0, 0
	for i := range seqs {
		s := &seqs[i]
		run, length := int(s.LitLen), s.MatchLen
		if run <= slack && at+slack <= len(content) {
			*(*[slack]byte)(lits[lit : lit+slack : lit+slack]) = *(*[slack]byte)(content[at : at+slack : at+slack])
		} else {
			copy(lits[lit:], content[at:at+run])
		}
		lit += run
		at += run + int(length)
		if s.Offset-1 >= MaxOffset || length < MinMatch || at > len(content) {
			panic("deflate: sequences do not fit")
		}
		for ; run > maxRun; run -= maxRun {
			tokens[n] = literalsToken(maxRun)
			n++
		}
		for length > MaxMatch {
			// What is left must be a match as well.
			part := min(MaxMatch, length-MinMatch)
			tokens[n] = matchToken(uint32(run), part, s.Offset)
			n++
			length -= part
			run = 0
		}
		tokens[n] = matchToken(uint32(run), length, s.Offset)
		n++
	}
	lit += copy(lits[lit:], content[at:])
	for run := len(content) - at; run > 0; run -= maxRun {
		tokens[n] = literalsToken(min(run, maxRun))
		n++
	}
	clear(lits[lit : lit+slack])
	e.lits, e.tokens = lits[:lit+slack], tokens[:n]
}

// maxTokens is how many tokens content of that size with so many sequences may become: matches and runs are split.
func maxTokens(size, seqs int) int { return seqs + size/(MaxMatch-MinMatch) + size/maxRun + 1 }

// sized returns a slice of n elements, in the memory of s if that suffices.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, room(n))
	}
	return s[:n]
}

// room is the memory taken for n elements. Sizes vary from piece to piece: some more saves growing again and again.
func room(n int) int { return n + n/8 }
