package deflate

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/pieces"
)

// writer writes the parts of Deflate blocks.
type writer struct{ bitio.Writer }

// Block types (RFC 1951, section 3.2.3).
const (
	typeStored  = 0
	typeFixed   = 1
	typeDynamic = 2
)

// beginBlock writes the head of a block.
func (w *writer) beginBlock(kind uint64, last bool) {
	if last {
		w.Put(kind<<1|1, 3)
	} else {
		w.Put(kind<<1, 3)
	}
}

// stored writes content as one or more stored blocks (RFC 1951, section 3.2.4).
func (w *writer) stored(content []byte, last bool, checkpoint func()) {
	for next := len(content) - pieces.Size; ; {
		if len(content) < next && checkpoint != nil {
			next -= pieces.Size
			checkpoint()
		}
		part := content[:min(len(content), maxStored)]
		content = content[len(part):]
		w.beginBlock(typeStored, last && len(content) == 0)
		w.Align()
		w.Out = binary.LittleEndian.AppendUint32(w.Out, uint32(len(part))|^uint32(len(part))<<16)
		w.Out = append(w.Out, part...)
		if len(content) == 0 {
			return
		}
	}
}

// checkpointTokens is the number of tokens between checkpoints of a block.
const checkpointTokens = 1 << 15

// block writes tokens and an end of block, with the given codes. See tokens. It calls checkpoint,
// unless that is nil, after some tokens.
func (w *writer) block(tokens []token, lits []byte, codes *codes, checkpoint func()) {
	for ; len(tokens) > checkpointTokens; tokens = tokens[checkpointTokens:] {
		lits = lits[w.tokens(tokens[:checkpointTokens], lits, codes):]
		if checkpoint != nil {
			checkpoint()
		}
	}
	w.tokens(tokens, lits, codes)
	end := codes.litLen[endOfBlock]
	w.Put(end.Bits(), end.Len())
}

// tokens writes the symbols of tokens, whose literals are at the front of lits. Out must have room
// for them, and lits slack behind the literals. It returns the number of literals.
//
// A store takes the codes of one match, at most 48 bits, or of three literals, at most 45, and
// fewer than 8 pending bits. They fit in 64 bits. See huffman.Code.
func (w *writer) tokens(tokens []token, lits []byte, codes *codes) int {
	out := w.Out[len(w.Out):cap(w.Out)]
	at, lit := 0, 0
	n := uint64(w.N)
	acc := w.Acc << ((64 - n) & 63)
	for _, t := range tokens {
		run := int64(t >> tokenRun)
		for ; run > 3; run -= 3 {
			v := binary.LittleEndian.Uint32(lits[lit : lit+4 : lit+4])
			lit += 3
			c0 := uint64(codes.litLen[byte(v)])
			c1 := uint64(codes.litLen[byte(v>>8)])
			c2 := uint64(codes.litLen[byte(v>>16)])
			acc = acc>>(c0&63) | c0
			acc = acc>>(c1&63) | c1
			acc = acc>>(c2&63) | c2
			n = (n + c0 + c1 + c2) & 0xff
			binary.LittleEndian.PutUint64(out[at:at+8:at+8], acc>>((64-n)&63))
			at += int(n >> 3)
			n &= 7
		}
		// The number of remaining literals, 0 to 3, is hard to predict. Absent ones become codes of
		// no bits.
		v := binary.LittleEndian.Uint32(lits[lit : lit+4 : lit+4])
		lit += int(run)
		c0 := uint64(codes.litLen[byte(v)]) & uint64((0-run)>>63)
		c1 := uint64(codes.litLen[byte(v>>8)]) & uint64((1-run)>>63)
		c2 := uint64(codes.litLen[byte(v>>16)]) & uint64((2-run)>>63)
		acc = acc>>(c0&63) | c0
		acc = acc>>(c1&63) | c1
		acc = acc>>(c2&63) | c2
		n = (n + c0 + c1 + c2) & 0xff
		binary.LittleEndian.PutUint64(out[at:at+8:at+8], acc>>((64-n)&63))
		at += int(n >> 3)
		n &= 7

		// A token without a match has codes of no bits.
		slot := t % offsetSymbols
		c0 = uint64(codes.length[t>>tokenLength&511])
		c1 = uint64(codes.offset[slot])
		extra := uint64(offsetExtra[slot])
		acc = acc>>(c0&63) | c0
		acc = acc>>(c1&63) | c1
		acc = acc>>(extra&63) | uint64(t>>tokenOffset)<<((63-extra)&63)<<1
		n = (n + c0 + c1 + extra) & 0xff
		binary.LittleEndian.PutUint64(out[at:at+8:at+8], acc>>((64-n)&63))
		at += int(n >> 3)
		n &= 7
	}
	w.Out = w.Out[:len(w.Out)+at]
	w.N = uint(n)
	w.Acc = acc >> 1 >> (63 - n)
	return lit
}
