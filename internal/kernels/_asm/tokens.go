package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tokenDecoder has the parts that both kernels for decoding tokens share. They turn eight tokens a
// step into sequences. A step that meets a rare length, or something invalid, is left as if it had
// not begun: it changes state in commit only.
type tokenDecoder struct {
	seq           reg.GPVirtual // next sequences
	tokens        reg.GPVirtual
	lits, matches reg.GPVirtual  // next bytes of the length streams
	limits        map[string]Mem // of each stream, the last position at which a step may begin
	lit, match    *field
	low, high     reg.VecVirtual // lengths of four sequences each: literal run, match, literal run …
	sums          reg.VecVirtual // sums of low and high
}

// tokensDoc is the end of the comment of each kernel.
var tokensDoc = []string{
	"It stops before a step that it leaves to the portable twin: one with two lengths of 255 or more in",
	"a stream, a length above 65,535, an invalid offset, or too few bytes in a stream.",
}

// stream loads a parameter and stores the last position from which step bytes can be read as its
// limit.
func (r *tokenDecoder) stream(name string, step int) reg.GPVirtual {
	p, end := GP64(), GP64()
	Load(Param(name).Base(), p)
	Load(Param(name).Len(), end)
	LEAQ(Mem{Base: p, Index: end, Scale: 1, Disp: -step}, end)
	m := AllocLocal(8)
	MOVQ(end, m)
	r.limits[name] = m
	return p
}

func newTokenDecoder() *tokenDecoder {
	r := &tokenDecoder{limits: map[string]Mem{}}
	r.lits = r.stream("litLens", lengthBytes)
	r.matches = r.stream("matchLens", lengthBytes)
	r.tokens = r.stream("tokens", 8)
	r.seq = GP64()
	Load(Param("seqs"), r.seq)
	r.sums = YMM()
	VPXOR(r.sums, r.sums, r.sums)
	return r
}

// begin jumps to "done" if a stream has too few bytes for a step. p is the position in another
// stream, with the given name.
func (r *tokenDecoder) begin(p reg.GPVirtual, name string) {
	for _, s := range []struct {
		p    reg.GPVirtual
		name string
	}{{r.tokens, "tokens"}, {r.lits, "litLens"}, {r.matches, "matchLens"}, {p, name}} {
		CMPQ(s.p, r.limits[s.name])
		JGT(LabelRef("done")) // signed: without bytes the limit may be below 0
	}
}

// lengths computes low and high. It returns the tokens, and 255 in the bytes of rare whose length
// does not fit a byte.
func (r *tokenDecoder) lengths(lit, match field) (tok, rare reg.VecVirtual) {
	tok, rare = XMM(), XMM()
	VMOVQ(at(r.tokens, 0), tok)
	VPXOR(rare, rare, rare)
	lit.p, match.p = r.lits, r.matches
	r.lit, r.match = &lit, &match
	pairs := r.lit.length(tok, rare)
	VPUNPCKLBW(r.match.length(tok, rare), pairs, pairs)
	r.low, r.high = YMM(), YMM()
	VPMOVZXBD(pairs, r.low)
	VPSRLDQ(U8(8), pairs, pairs)
	VPMOVZXBD(pairs, r.high)
	return tok, rare
}

// check jumps to "done" if one of the low eight bits of wrong is set, and to "rare" if rare has a
// byte 255.
func (r *tokenDecoder) check(wrong reg.GPVirtual, rare reg.VecVirtual) {
	TESTB(U8(255), wrong.As8())
	JNZ(LabelRef("done"))
	VMOVQ(rare, wrong) // the upper eight bytes of a shuffle mean nothing
	TESTQ(wrong, wrong)
	JNE(LabelRef("rare"))
	Label("ready")
}

// rare emits the code that reads the lengths of a step once more, with one of more than a byte in
// each stream.
func (r *tokenDecoder) rare() {
	Label("rare")
	tok, low, high := XMM(), YMM(), YMM()
	VMOVQ(at(r.tokens, 0), tok)
	lit := r.lit.again(tok, "lits")
	match := r.match.again(tok, "matches")
	VPUNPCKLDQ(match, lit, low)
	VPUNPCKHDQ(match, lit, high)
	VPERM2I128(U8(0x20), high, low, r.low)
	VPERM2I128(U8(0x31), high, low, r.high)
	JMP(LabelRef("ready"))
}

// commit writes the sequences of a step and advances.
func (r *tokenDecoder) commit(offset reg.VecVirtual) {
	ADDQ(r.lit.used, r.lits)
	ADDQ(r.match.used, r.matches)
	VPADDD(r.low, r.sums, r.sums)
	VPADDD(r.high, r.sums, r.sums)
	r.write(offset)
	ADDQ(I8(8), r.tokens)
	ADDQ(I8(8*seqBytes), r.seq)
}

// write stores eight sequences as three vectors. The offsets have other places in each of them, so
// one permutation of offset serves all three.
func (r *tokenDecoder) write(offset reg.VecVirtual) {
	middle, order := YMM(), YMM()
	permute := func(name string, v reg.VecVirtual, places ...uint32) {
		VMOVDQU(dwords(name, 32, places...), order)
		VPERMD(v, order, v)
	}
	VPBLENDD(U8(0xf0), r.low, r.high, middle)
	permute("offsetPlaces", offset, 2, 5, 0, 3, 6, 1, 4, 7)
	permute("lowPlaces", r.low, 0, 1, 0, 2, 3, 0, 4, 5)
	permute("middlePlaces", middle, 0, 6, 7, 0, 0, 1, 0, 2)
	permute("highPlaces", r.high, 3, 0, 4, 5, 0, 6, 7, 0)
	VPBLENDD(U8(0x24), offset, r.low, r.low)
	VPBLENDD(U8(0x49), offset, middle, middle)
	VPBLENDD(U8(0x92), offset, r.high, r.high)
	VMOVDQU(r.low, at(r.seq, 0))
	VMOVDQU(middle, at(r.seq, 32))
	VMOVDQU(r.high, at(r.seq, 64))
}

// finish stores the results that both kernels have.
func (r *tokenDecoder) finish() {
	Label("done")
	p := GP64()
	for _, s := range []struct {
		p           reg.GPVirtual
		name, count string
	}{
		{r.tokens, "tokens", "done"},
		{r.lits, "litLens", "usedLits"},
		{r.matches, "matchLens", "usedMatches"},
	} {
		Load(Param(s.name).Base(), p)
		SUBQ(p, s.p)
		Store(s.p, Return(s.count))
	}
	Comment("literal runs in even dwords, matches in odd ones")
	x, y, lits, all := r.sums.AsX(), XMM(), GP64(), GP64()
	VEXTRACTI128(U8(1), r.sums, y)
	VPADDD(y, x, x)
	VPSHUFD(U8(0x0e), x, y)
	VPADDD(y, x, x)
	VMOVD(x, lits.As32())
	Store(lits, Return("lits"))
	VPEXTRD(U8(1), x, all.As32())
	ADDQ(lits, all)
	Store(all, Return("produced"))
}

// decodeTokensPlainAVX2 passes nothing from one step to the next but positions in the streams.
func decodeTokensPlainAVX2() {
	TEXT("decodeTokensPlainAVX2", attr.NOSPLIT,
		"func(seqs "+seqType+", tokens, litLens, matchLens, offsets []byte) "+
			"(done, usedLits, usedMatches int, lits, produced uint64)")
	Pragma("noescape")
	Doc(append([]string{
		"decodeTokensPlainAVX2 turns tokens with offsets of 16 bits into sequences. It requires room for as",
		"many sequences as there are tokens.",
	}, tokensDoc...)...)
	r := newTokenDecoder()
	offsets := r.stream("offsets", 16)

	Label("loop")
	r.begin(offsets, "offsets")
	_, rare := r.lengths(field{bits: 4}, field{shift: 4, bits: 4, minLen: 5})
	offset, small, wrong := YMM(), YMM(), GP64()
	VPMOVZXWD(at(offsets, 0), offset)
	VMOVDQU(same(16), small)
	VPCMPGTD(offset, small, small)
	VMOVMSKPS(small, wrong.As32())
	r.check(wrong, rare)
	ADDQ(I8(16), offsets)
	r.commit(offset)
	JMP(LabelRef("loop"))
	r.rare()

	r.finish()
	VZEROUPPER()
	RET()
}
