package deflate

import (
	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/lz77"
)

// Encoder codes content. The zero value is ready; it keeps its scratch memory from call to call, see Memory. It is not safe for concurrent use.
type Encoder struct {
	writer  writer
	held    []byte // content to be stored, which may grow
	tokens  []token
	lits    []byte
	units   []unit
	builder huffman.Builder
	lengths lengths
	sides   [2]lengths // of a boundary; see refine
	gains   gains
	header  header
	codes   codes
}

// Memory returns the bytes of scratch that an Encoder needs for content of up to size bytes with up to so many sequences.
func Memory(size, seqs int) int {
	const (
		itself   = 64 << 10 // the Encoder, and what describes codes
		unitSize = 1344
	)
	return itself + unitSize*room(min(maxUnits, size/unitSymbols+1)) + room(size+slack) + 8*room(maxTokens(size, seqs))
}

// Append codes content and appends the result to dst. Each sequence stands for so many literals and a match of MinMatch bytes or
// more, at an offset of 1 … MaxOffset bytes; what is left of the content after the last one is literals. Matches may
// reach back to what was coded before, and are believed: only their lengths and offsets matter here. Sequences that do not fit make it panic.
//
// What is appended are whole bytes. If final is set, its last block is the last of the Deflate stream; otherwise it ends with an
// empty stored block, whose last four bytes are 00 00 FF FF, and any number of other pieces may follow.
func (e *Encoder) Append(dst, content []byte, seqs []lz77.Sequence, final bool) []byte {
	e.tokenize(content, seqs)
	w := &e.writer
	*w = writer{bitio.Writer{Out: dst}}
	e.held = nil
	e.units = sized(e.units, min(maxUnits, (len(e.lits)-slack+len(e.tokens))/unitSymbols+1))
	rest := span{e.tokens, e.lits, content} // what is not written yet
	cut := rest                             // what is in no unit yet
	for n := 0; len(rest.tokens) > 0; {
		for n < len(e.units) && len(cut.tokens) > 0 {
			e.units[n].fill(&cut)
			n++
		}
		units := e.units[:n]
		split(units)
		e.refine(units, &rest)
		// The last block may go on in what there was no room for.
		i, more := 0, len(cut.tokens) > 0
		for i < n && !(more && units[i].next == n) {
			e.block(&units[i], &rest, final && units[i].next == n)
			i = units[i].next
		}
		if n = 0; more {
			units[0] = units[i]
			n = 1
		}
	}
	switch {
	case len(e.held) > 0:
		e.store(final)
	case final && len(content) == 0:
		w.begin(typeFixed, true)
		c := fixed.codes.litLen[endOfBlock]
		w.Put(c.Bits(), c.Len())
	}
	if !final {
		w.stored(nil, false)
	}
	w.Align()
	dst, w.Out = w.Out, nil // it is the caller's
	return dst
}

// block writes a block of u's tokens, which are in front of s, or holds their content back so that it is stored together with what follows.
func (e *Encoder) block(u *unit, s *span, last bool) {
	w := &e.writer
	content := s.content[:u.content]
	e.lengths.best(&e.builder, &u.hist)
	e.header.plan(&e.builder, &e.lengths)
	own := 3 + e.header.bits + e.lengths.bits(&u.hist)
	common := 3 + fixed.lengths.bits(&u.hist)
	least := min(own, common)
	if storedBits(len(content)) <= least {
		if len(e.held) == 0 {
			e.held = content
		} else {
			e.held = e.held[:len(e.held)+len(content)]
		}
	} else {
		e.store(false)
		w.Room(least)
		codes := &fixed.codes
		if own < common {
			codes = &e.codes
			codes.assign(&e.lengths)
			w.begin(typeDynamic, last)
			e.header.write(w)
		} else {
			w.begin(typeFixed, last)
		}
		w.tokens(s.tokens[:u.tokens], s.lits, codes)
		end := codes.litLen[endOfBlock]
		w.Put(end.Bits(), end.Len())
	}
	s.tokens, s.lits, s.content = s.tokens[u.tokens:], s.lits[u.lits:], s.content[u.content:]
}

// storedBits is the size of n bytes in stored blocks. What fills up the byte that the first begins in is taken to be half of it.
func storedBits(n int) int {
	blocks := max(1, (n+maxStored-1)/maxStored)
	return 8*n + blocks*(3+5+32) - 1
}

// store writes what is held back.
func (e *Encoder) store(last bool) {
	if len(e.held) > 0 {
		e.writer.Room(storedBits(len(e.held)))
		e.writer.stored(e.held, last)
		e.held = nil
	}
}
