package zstd

import "github.com/gopz/compress/lz77"

// unitSize is the distance between possible block boundaries, in bytes. With 8 KiB files become
// 0.03% smaller at more time; without splitting they become 0.5% larger.
const unitSize = 16 << 10

// shortMatch is the maximum length in bytes of a match that moves to the next block when the block
// is full. Longer matches are split. Ending a block so early costs less than another sequence.
const shortMatch = 4 << 10

// shortTail is the maximum number of literals behind the last sequence that belong to its unit.
// More of them may be of another kind and make a block of their own.
const shortTail = 128

// input is the content that is not encoded yet. A copy of it saves the position.
type input struct {
	src  []byte
	seqs []lz77.Sequence // without next
	next lz77.Sequence   // the rest of the next sequence
	// hasNext reports whether next is valid.
	hasNext bool
}

func newInput(src []byte, seqs []lz77.Sequence) input {
	in := input{src: src, seqs: seqs}
	in.advance()
	return in
}

// advance moves to the sequence behind next.
func (in *input) advance() {
	if in.hasNext = len(in.seqs) > 0; in.hasNext {
		in.next, in.seqs = in.seqs[0], in.seqs[1:]
	}
}

// takeUnit encodes a unit of at most room bytes and returns its size. The size is 0 if nothing is
// left, or if the next sequence has to begin a new block; the latter does not happen with room for
// a whole block.
func (e *Encoder) takeUnit(room int) int {
	in := &e.in
	room = min(room, len(in.src))
	target := min(room, unitSize)
	lit, match := int(in.next.LitLen), int(in.next.MatchLen)
	switch {
	case !in.hasNext:
		e.appendRun(target)
		return target
	case lit > target: // a literal run may end anywhere
		in.next.LitLen -= uint32(target)
		e.appendRun(target)
		return target
	case lit+match > room:
		return e.splitMatch(lit, match, room)
	}
	// Add whole sequences up to the wanted size.
	size, n := lit+match, 0
	for size < target && n < len(in.seqs) {
		q := &in.seqs[n]
		if q.LitLen > unitSize || size+int(q.LitLen)+int(q.MatchLen) > room {
			break
		}
		size += int(q.LitLen + q.MatchLen)
		n++
	}
	e.one[0] = in.next
	e.appendSeqs(e.one[:])
	e.appendSeqs(in.seqs[:n])
	in.seqs = in.seqs[n:]
	in.advance()
	// Few literals at the end of the content are no unit. Most small content is one unit then, for
	// which the encoder estimates nothing.
	if rest := len(in.src); !in.hasNext && rest <= shortTail && size+rest <= target {
		size += rest
		e.appendRun(rest)
	}
	return size
}

// splitMatch encodes the next sequence up to room bytes if the split costs less than ending the
// block.
func (e *Encoder) splitMatch(lit, match, room int) int {
	// The remainder begins with a literal. It costs less than it saves: behind an empty run the
	// last offset is not available as a repeat offset.
	n := min(room-lit, match-1-MinMatch)
	if match <= shortMatch || n < MinMatch {
		return 0
	}
	e.one[0] = lz77.Sequence{LitLen: uint32(lit), MatchLen: uint32(n), Offset: e.in.next.Offset}
	e.in.next.LitLen, e.in.next.MatchLen = 1, uint32(match-n-1)
	e.appendSeqs(e.one[:])
	return lit + n
}
