package zstd

import (
	"math/bits"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// body is the encoded part of a block, and of the unit behind it, before entropy coding.
type body struct {
	lits []byte
	// The codes of each sequence and the extra bits in the order of the format, those of the
	// literal run lowest.
	codes     [kinds][]uint8
	extra     []uint64
	extraBits []uint8
	// run is the number of literals behind the last sequence.
	run uint32
}

// appendRun moves n bytes from the input to the body as literals that belong to no sequence yet.
func (e *Encoder) appendRun(n int) {
	lits := e.in.src[:n]
	e.in.src = e.in.src[n:]
	e.body.lits = append(e.body.lits, lits...)
	e.body.run += uint32(n)
	simd.Histogram(&e.nextUnit.lits, lits)
}

// appendSeqs moves sequences and their literals from the input to the body. They must fit in the
// block.
func (e *Encoder) appendSeqs(seqs []lz77.Sequence) {
	if len(seqs) == 0 {
		return
	}
	e.takeLiterals(seqs)
	e.appendCodes(seqs)
}

// takeLiterals appends the literals of sequences and advances the input behind them.
func (e *Encoder) takeLiterals(seqs []lz77.Sequence) {
	from := len(e.body.lits)
	lits := resize(e.body.lits, MaxBlock+lz77.Slack)[:from]
	e.body.lits, e.in.src = lz77.AppendLiterals(lits, e.in.src, seqs, nil)
	simd.Histogram(&e.nextUnit.lits, e.body.lits[from:])
}

// appendCodes appends the codes of sequences, with repeat offsets as RFC 8878, section 3.1.1.5
// specifies.
func (e *Encoder) appendCodes(seqs []lz77.Sequence) {
	b := &e.body
	at := len(b.extra)
	b.grow(at + len(seqs))
	lits := b.codes[litLens][at:][:len(seqs)]
	offs := b.codes[offsets][at:][:len(seqs)]
	matches := b.codes[matchLens][at:][:len(seqs)]
	extra, extraBits := b.extra[at:][:len(seqs)], b.extraBits[at:][:len(seqs)]
	litCount, offCount := &e.nextUnit.codes[litLens], &e.nextUnit.codes[offsets]
	matchCount := &e.nextUnit.codes[matchLens]
	r0, r1, r2 := e.repeats[0], e.repeats[1], e.repeats[2]
	run := b.run
	//pz:nobce
	for i := range seqs {
		q := &seqs[i]
		lit := q.LitLen + run
		run = 0
		// 1 for an empty literal run, which shifts the meaning of repeat offsets by one
		empty := uint32(0)
		if lit == 0 {
			empty = 1
		}
		var value uint32
		switch off := q.Offset; {
		case off == r0 && empty == 0:
			value = 1
		case off == r1:
			value = 2 - empty
			r0, r1 = r1, r0
		case off == r2:
			value = 3 - empty
			r0, r1, r2 = r2, r0, r1
		default:
			value = off + 3
			if empty != 0 && off == r0-1 {
				value = 3
			}
			r0, r1, r2 = off, r0, r1
		}
		lc, mc := litCode(lit), matchCode(q.MatchLen-MinMatch)
		oc := uint(bits.Len32(value)) - 1
		ln, mn := uint(lc>>8), uint(mc>>8)
		x := uint64(lit)&(1<<(ln&31)-1) | uint64((q.MatchLen-MinMatch)&(1<<(mn&31)-1))<<(ln&31) |
			uint64(value&(1<<(oc&31)-1))<<((ln+mn)&63)
		lits[i], offs[i], matches[i] = uint8(lc), uint8(oc), uint8(mc)
		extra[i], extraBits[i] = x, uint8(ln+mn+oc)
		litCount[uint8(lc)%codeSpace]++
		offCount[oc%codeSpace]++
		matchCount[uint8(mc)%codeSpace]++
	}
	b.run = run
	e.repeats = [3]uint32{r0, r1, r2}
}

// grow sets the number of sequences to n.
func (b *body) grow(n int) {
	for i := range b.codes {
		b.codes[i] = resize(b.codes[i], n)
	}
	b.extra, b.extraBits = resize(b.extra, n), resize(b.extraBits, n)
}

// cut is a position in a body.
type cut struct{ lits, seqs int }

func (b *body) size() cut { return cut{len(b.lits), len(b.extra)} }

// truncate empties the body.
func (b *body) truncate() {
	b.lits, b.run = b.lits[:0], 0
	b.grow(0)
}

// drop removes what is before c.
func (b *body) drop(c cut) {
	b.lits = b.lits[:copy(b.lits, b.lits[c.lits:])]
	for i := range b.codes {
		b.codes[i] = b.codes[i][:copy(b.codes[i], b.codes[i][c.seqs:])]
	}
	b.extra = b.extra[:copy(b.extra, b.extra[c.seqs:])]
	b.extraBits = b.extraBits[:copy(b.extraBits, b.extraBits[c.seqs:])]
}

// resize returns p with n elements and keeps the old ones.
func resize[T any](p []T, n int) []T {
	if cap(p) < n {
		p = append(make([]T, 0, n+n/4), p...)
	}
	return p[:n]
}
