package zstd

import "github.com/gopz/compress/lz77"

// unitSize is about how much content is added to a block at a time, in bytes: blocks are cut between units. Smaller ones find changes
// of the statistics better and cost time: on dickens+mr+nci+xml and made-up data 8 KiB save another 0.03%, and units of a whole block lose 0.5%.
const unitSize = 16 << 10

// shortMatch is the length up to which a match that does not fit in a block is left to the next one instead of being cut in two, in bytes:
// a block that ends so much early costs less than another sequence.
const shortMatch = 4 << 10

// input is the content that is still to be coded. Copies of it are marks to return to.
type input struct {
	src  []byte
	seqs []lz77.Sequence // without next
	next lz77.Sequence   // what is left of the sequence that comes next
	// more is set while next is a sequence.
	more bool
}

func newInput(src []byte, seqs []lz77.Sequence) input {
	in := input{src: src, seqs: seqs}
	in.advance()
	return in
}

// advance makes the next sequence the one behind next.
func (in *input) advance() {
	if in.more = len(in.seqs) > 0; in.more {
		in.next, in.seqs = in.seqs[0], in.seqs[1:]
	}
}

// unit codes a unit of not more than room bytes and returns its size. It is 0 only if nothing is left, or if the next sequence is to begin the
// next block; with room for a whole block it is not.
func (e *Encoder) unit(room int) int {
	in := &e.in
	room = min(room, len(in.src))
	want := min(room, unitSize)
	lit, match := int(in.next.LitLen), int(in.next.MatchLen)
	switch {
	case !in.more:
		e.run(want)
		return want
	case lit > want: // a literal run may be cut anywhere
		in.next.LitLen -= uint32(want)
		e.run(want)
		return want
	case lit+match > room:
		return e.part(lit, match, room)
	}
	// As many whole sequences as reach the size wanted.
	size, n := lit+match, 0
	for size < want && n < len(in.seqs) {
		q := &in.seqs[n]
		if q.LitLen > unitSize || size+int(q.LitLen)+int(q.MatchLen) > room {
			break
		}
		size += int(q.LitLen + q.MatchLen)
		n++
	}
	e.one[0] = in.next
	e.sequences(e.one[:])
	e.sequences(in.seqs[:n])
	in.seqs = in.seqs[n:]
	in.advance()
	return size
}

// part codes a sequence as far as there is room, if it is worth cutting.
func (e *Encoder) part(lit, match, room int) int {
	// What is left for the next block begins with a literal, which costs less than what it saves: without one the last offset could not
	// be had as a repeat offset.
	n := min(room-lit, match-1-MinMatch)
	if match <= shortMatch || n < MinMatch {
		return 0
	}
	e.one[0] = lz77.Sequence{LitLen: uint32(lit), MatchLen: uint32(n), Offset: e.in.next.Offset}
	e.in.next.LitLen, e.in.next.MatchLen = 1, uint32(match-n-1)
	e.sequences(e.one[:])
	return lit + n
}
