package zstd

import (
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// body is the encoded part of a block, and of the unit behind it, before entropy coding.
type body struct {
	lits []byte
	seqs []kernels.SequenceCode
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
	at := len(b.seqs)
	b.seqs = resize(b.seqs, at+len(seqs))
	dst := b.seqs[at:]
	if b.run > 0 {
		e.one[0] = seqs[0]
		e.one[0].LitLen += b.run
		b.run = 0
		e.sequenceCodes(dst[:1], e.one[:])
		dst, seqs = dst[1:], seqs[1:]
	}
	if !kernels.SequenceCodes(dst, &e.nextUnit.codes, &e.repeats, &lengthCodes, seqs) {
		e.sequenceCodes(dst, seqs)
	}
}

// sequenceCodes sets dst to the codes of sequences. It is the portable twin of
// kernels.SequenceCodes.
func (e *Encoder) sequenceCodes(dst []kernels.SequenceCode, seqs []lz77.Sequence) {
	dst = dst[:len(seqs)]
	counts := &e.nextUnit.codes
	r0, r1, r2 := e.repeats[0], e.repeats[1], e.repeats[2]
	//pz:nobce
	for i := range seqs {
		q := &seqs[i]
		lit := q.LitLen
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
		match := q.MatchLen - MinMatch
		lc, ln := litCode(lit)
		mc, mn := matchCode(match)
		oc := uint8(bits.Len32(value)) - 1
		c := &dst[i]
		c.Extra = uint64(lit)&(1<<(ln&31)-1) | uint64(match&(1<<(mn&31)-1))<<(ln&31) |
			uint64(value&(1<<(oc&31)-1))<<((ln+mn)&63)
		c.Codes = [kinds]uint8{litLens: lc, offsets: oc, matchLens: mc}
		c.ExtraBits = ln + mn + oc
		counts[litLens][lc%codeSpace]++
		counts[offsets][oc%codeSpace]++
		counts[matchLens][mc%codeSpace]++
	}
	e.repeats = [3]uint32{r0, r1, r2}
}

// cut is a position in a body.
type cut struct{ lits, seqs int }

func (b *body) size() cut { return cut{len(b.lits), len(b.seqs)} }

// truncate empties the body.
func (b *body) truncate() {
	b.lits, b.seqs, b.run = b.lits[:0], b.seqs[:0], 0
}

// drop removes what is before c.
func (b *body) drop(c cut) {
	b.lits = b.lits[:copy(b.lits, b.lits[c.lits:])]
	b.seqs = b.seqs[:copy(b.seqs, b.seqs[c.seqs:])]
}

// resize returns p with n elements and keeps the old ones.
func resize[T any](p []T, n int) []T {
	if cap(p) < n {
		p = append(make([]T, 0, n+n/4), p...)
	}
	return p[:n]
}
