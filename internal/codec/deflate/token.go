package deflate

import (
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
)

// token is a run of literals and a match in Deflate's terms, or a run alone:
//
//	bits  0–4    offset slot
//	bits  5–19   offset less one
//	bits 20–28   length; 0 is no match
//	bits 29–     number of literals
type token uint64

const (
	tokenOffset = 5
	tokenLength = 20
	tokenRun    = 29
)

// maxRun is the maximum number of literals of a token. Longer runs become several tokens, so that a
// block may begin inside of them.
const maxRun = unitSymbols

// literalsToken returns a token without a match.
func literalsToken(run int) token { return token(run)<<tokenRun | noSlot }

func matchToken(run, length, offset uint32) token {
	d := offset - 1
	return token(slotOf(d)) | token(d)<<tokenOffset |
		token(length)<<tokenLength | token(run)<<tokenRun
}

// checkpointSequences is the number of sequences between checkpoints.
const checkpointSequences = 1 << 16

// slack is the number of bytes behind the literals that may be read and overwritten.
const slack = 16

// tokenize sets e.tokens to the tokens of content and sequences, and e.lits to the concatenated
// literals with slack behind them.
func (e *Encoder) tokenize(content []byte, seqs []lz77.Sequence) {
	e.lits = sized(e.lits, len(content)+slack)
	e.tokens = sized(e.tokens, maxTokens(len(content), len(seqs)))
	lits, tokens := e.lits, e.tokens
	at, lit, n := 0, 0, 0
	for i := range seqs {
		if i%checkpointSequences == checkpointSequences-1 {
			e.checkpoint()
		}
		s := &seqs[i]
		run, length := int(s.LitLen), s.MatchLen
		if run <= slack && at+slack <= len(content) {
			*(*[slack]byte)(lits[lit : lit+slack : lit+slack]) =
				*(*[slack]byte)(content[at : at+slack : at+slack])
		} else {
			pieces.Copy(lits[lit:], content[at:at+run], e.Checkpoint)
		}
		lit += run
		at += run + int(length)
		if s.Offset-1 >= MaxOffset || length < MinMatch || at > len(content) {
			panic("deflate: sequences do not fit the content")
		}
		for ; run > maxRun; run -= maxRun {
			tokens[n] = literalsToken(maxRun)
			n++
		}
		for length > MaxMatch {
			// The remainder must be long enough for a match.
			part := min(MaxMatch, length-MinMatch)
			tokens[n] = matchToken(uint32(run), part, s.Offset)
			n++
			length -= part
			run = 0
		}
		tokens[n] = matchToken(uint32(run), length, s.Offset)
		n++
	}
	pieces.Copy(lits[lit:], content[at:], e.Checkpoint)
	lit += len(content) - at
	for run := len(content) - at; run > 0; run -= maxRun {
		tokens[n] = literalsToken(min(run, maxRun))
		n++
	}
	clear(lits[lit : lit+slack])
	e.lits, e.tokens = lits[:lit+slack], tokens[:n]
}

// maxTokens bounds the number of tokens for content of size bytes with seqs sequences, whose long
// matches and runs are split.
func maxTokens(size, seqs int) int { return seqs + size/(MaxMatch-MinMatch) + size/maxRun + 1 }

// sized returns a slice of n elements in the memory of s if that suffices.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, room(n))
	}
	return s[:n]
}

// room returns the capacity to allocate for n elements. Sizes vary from piece to piece; an eighth
// more avoids repeated growth.
func room(n int) int { return n + n/8 }
