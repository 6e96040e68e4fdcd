package deflate

import (
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/lz77"
)

// Encoder encodes content as Deflate blocks. The zero value is ready to use and keeps its scratch
// memory between calls; see [Memory]. An Encoder must not be used concurrently.
type Encoder struct {
	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine: after at most 256 Ki symbols or 2 MiB of content, which take less than about 5 ms.
	// It may block. It may panic to abandon the content; the Encoder can then be used again, and
	// refers to content and dst until then. The result does not depend on it.
	Checkpoint func()

	writer  writer
	stored  []byte // content waiting for a stored block
	tokens  []token
	lits    []byte
	units   []unit
	builder huffman.Builder
	lengths lengths
	sides   [2]lengths // codes left and right of a boundary; see refine
	gains   gains
	header  header
	codes   codes
}

// Memory returns the scratch memory in bytes of an Encoder for content of up to size bytes with up
// to seqs sequences.
func Memory(size, seqs int) int {
	const (
		itself   = 80 << 10 // the Encoder itself and the description of codes
		unitSize = 1344
	)
	units := min(maxUnits, size/unitSymbols+1)
	return itself + unitSize*room(units) + room(size+slack) + 8*room(maxTokens(size, seqs))
}

// Append encodes content and appends the result to dst. Each sequence stands for LitLen literals
// and a match of at least MinMatch bytes at an offset of 1 to MaxOffset bytes; the rest of content
// are literals. Matches may reach back to content encoded before. Append does not verify matches,
// but panics if lengths or offsets are out of range.
//
// The result consists of whole bytes. If final is true it ends the Deflate stream. Otherwise it
// ends with an empty stored block, whose last four bytes are 00 00 FF FF, and further pieces may
// follow.
func (e *Encoder) Append(dst, content []byte, seqs []lz77.Sequence, final bool) []byte {
	e.tokenize(content, seqs)
	w := &e.writer
	*w = writer{bitio.Writer{Out: dst}}
	e.stored = nil
	e.units = sized(e.units, min(maxUnits, (len(e.lits)-slack+len(e.tokens))/unitSymbols+1))
	rest := span{e.tokens, e.lits, content} // not written yet
	cut := rest                             // in no unit yet
	for n := 0; len(rest.tokens) > 0; {
		for n < len(e.units) && len(cut.tokens) > 0 {
			e.units[n].takeTokens(&cut)
			n++
			if n%checkpointUnits == 0 {
				e.checkpoint()
			}
		}
		units := e.units[:n]
		mergeUnits(units, e.Checkpoint)
		e.checkpoint()
		e.refine(units, &rest)
		e.checkpoint()
		// The last block may continue in the tokens that had no room.
		i, more := 0, len(cut.tokens) > 0
		for i < n && !(more && units[i].next == n) {
			e.block(&units[i], &rest, final && units[i].next == n)
			i = units[i].next
		}
		n = 0
		if more {
			units[0] = units[i]
			n = 1
		}
	}
	switch {
	case len(e.stored) > 0:
		e.flushStored(final)
	case final && len(content) == 0:
		w.beginBlock(typeFixed, true)
		c := fixed().codes.litLen[endOfBlock]
		w.Put(c.Bits(), c.Len())
	}
	return e.endPiece(final)
}

// fixedSymbols is the number of symbols up to which AppendShort writes a block with the fixed
// codes. So few symbols hardly ever save what the description of dynamic codes takes, about 100
// bits.
const fixedSymbols = 24

// AppendShort is Append for content of a few hundred bytes, at least one. It considers dynamic
// codes only if there are many symbols.
func (e *Encoder) AppendShort(dst, content []byte, seqs []lz77.Sequence, final bool) []byte {
	e.tokenize(content, seqs)
	lits := len(e.lits) - slack
	if lits+len(e.tokens) > fixedSymbols {
		return e.Append(dst, content, seqs, final)
	}
	w := &e.writer
	*w = writer{bitio.Writer{Out: dst}}
	if size := 3 + e.fixedBits(); storedBits(len(content)) <= size {
		w.stored(content, final, nil)
	} else {
		w.Room(size)
		w.beginBlock(typeFixed, final)
		w.block(e.tokens, e.lits, &fixed().codes, nil)
	}
	return e.endPiece(final)
}

// fixedBits returns the size of all tokens with the fixed codes in bits.
func (e *Encoder) fixedBits() (bits int) {
	c := &fixed().codes
	for _, b := range e.lits[:len(e.lits)-slack] {
		bits += int(c.litLen[b].Len())
	}
	for _, t := range e.tokens {
		if length := t >> tokenLength & 511; length != 0 {
			slot := t % offsetSymbols
			bits += int(c.length[length].Len()+c.offset[slot].Len()) + int(offsetExtra[slot])
		}
	}
	return bits + int(c.litLen[endOfBlock].Len())
}

// endPiece ends a piece and returns the output.
func (e *Encoder) endPiece(final bool) []byte {
	w := &e.writer
	if final {
		w.Align()
	} else {
		w.stored(nil, false, nil)
	}
	dst := w.Out
	w.Out = nil // drop the reference to the caller's memory
	return dst
}

func (e *Encoder) checkpoint() {
	if e.Checkpoint != nil {
		e.Checkpoint()
	}
}

// block writes u as a block, or postpones it if storing is smallest, so that adjacent stored blocks
// merge. The tokens of u are at the front of s.
func (e *Encoder) block(u *unit, s *span, last bool) {
	w := &e.writer
	content := s.content[:u.content]
	e.lengths.build(&e.builder, &u.hist)
	e.header.plan(&e.builder, &e.lengths)
	dynamicBits := 3 + e.header.bits + e.lengths.bits(&u.hist)
	fixedBits := 3 + fixed().lengths.bits(&u.hist)
	size := min(dynamicBits, fixedBits)
	if storedBits(len(content)) <= size {
		if len(e.stored) == 0 {
			e.stored = content
		} else {
			e.stored = e.stored[:len(e.stored)+len(content)]
		}
	} else {
		e.flushStored(false)
		w.Room(size)
		codes := &fixed().codes
		if dynamicBits < fixedBits {
			codes = &e.codes
			codes.assign(&e.lengths)
			w.beginBlock(typeDynamic, last)
			e.header.write(w)
		} else {
			w.beginBlock(typeFixed, last)
		}
		w.block(s.tokens[:u.tokens], s.lits, codes, e.Checkpoint)
		e.checkpoint()
	}
	s.tokens, s.lits, s.content = s.tokens[u.tokens:], s.lits[u.lits:], s.content[u.content:]
}

// storedBits returns the size of n bytes in stored blocks, in bits. It assumes half a byte of
// padding before the first one.
func storedBits(n int) int {
	blocks := max(1, (n+maxStored-1)/maxStored)
	return 8*n + blocks*(3+5+32) - 1
}

// flushStored writes the content that waits for a stored block.
func (e *Encoder) flushStored(last bool) {
	if len(e.stored) > 0 {
		e.writer.Room(storedBits(len(e.stored)))
		e.writer.stored(e.stored, last, e.Checkpoint)
		e.stored = nil
	}
}
