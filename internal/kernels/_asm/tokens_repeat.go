package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// repeatDecoder has the registers of decodeTokensRepeatAVX2 besides those of a tokenDecoder.
type repeatDecoder struct {
	*tokenDecoder
	codes   reg.GPVirtual
	extra   Mem            // the base of extra
	bit     reg.GPVirtual  // number of the next bit of extra
	list    reg.VecVirtual // repeat offsets, in the upper half
	minLens reg.VecVirtual

	// These belong to one step.
	place        reg.GPVirtual  // address of the byte of extra with the first bit
	kind7, kind6 reg.GPVirtual  // bits 7 and 6 of the tokens
	news         reg.GPVirtual  // number of new offsets
	total        reg.GPVirtual  // bits of extra
	code, over   reg.VecVirtual // codes of the tokens, and 255 where one is above 99
}

// decodeTokensRepeatAVX2 computes four offsets at a time as a permutation of four new offsets and
// the list of repeat offsets. A table of the 256 kinds of four tokens has the permutations. So only
// the list, and positions in streams, pass from one step to the next.
func decodeTokensRepeatAVX2() {
	TEXT("decodeTokensRepeatAVX2", attr.NOSPLIT,
		"func(seqs "+seqType+", tokens, litLens, matchLens, codes, extra []byte, bit uint, "+
			"repeats *[4]uint32, minMatch uint32) "+
			"(done, usedLits, usedMatches, usedCodes int, nextBit uint, lits, produced uint64)")
	Pragma("noescape")
	Doc(append([]string{
		"decodeTokensRepeatAVX2 turns tokens with repeat offsets into sequences. It requires room for as",
		"many sequences as there are tokens. minMatch has a byte for each value of bits 6–7 of a token.",
	}, tokensDoc...)...)
	r := &repeatDecoder{tokenDecoder: newTokenDecoder()}
	r.prepare()

	Label("loop")
	r.begin(r.codes, "codes")
	r.place = GP64()
	MOVQ(r.bit, r.place)
	SHRQ(U8(3), r.place)
	ADDQ(r.extra, r.place)
	CMPQ(r.place, r.limits["extra"])
	JGT(LabelRef("done"))

	tok, rare := r.lengths(field{bits: 2}, field{shift: 2, bits: 4, minLens: r.minLens})
	r.kinds(tok)
	offset, next, kinds := r.offsets(r.newOffsets(r.widths()))

	small, wrong := YMM(), GP64()
	VMOVDQU(same(16), small)
	VPCMPGTD(offset, small, small)
	VMOVMSKPS(small, wrong.As32())
	VPMOVMSKB(r.over, kinds.As32())
	ORL(kinds.As32(), wrong.As32())
	r.check(wrong, rare)

	VMOVDQU(next, r.list)
	ADDQ(r.news, r.codes)
	ADDQ(r.total, r.bit)
	r.commit(offset)
	JMP(LabelRef("loop"))
	r.rare()
	r.finishRepeat()
}

func (r *repeatDecoder) prepare() {
	r.codes = r.stream("codes", 8)
	extra, err := Param("extra").Base().Resolve()
	if err != nil {
		panic(err)
	}
	r.extra = extra.Addr
	// The second four fields begin at bit 7 + 255 at most, even with invalid codes, and a step
	// reads 16 bytes there.
	r.stream("extra", 48)
	r.bit = GP64()
	Load(Param("bit"), r.bit)
	r.list = YMM()
	p := GP64()
	Load(Param("repeats"), p)
	VPXOR(r.list, r.list, r.list)
	VINSERTI128(U8(1), at(p, 0), r.list, r.list)

	r.minLens = XMM()
	v := GP32()
	Load(Param("minMatch"), v)
	VMOVD(v, r.minLens)
}

// kinds sets kind7, kind6, news and code. Both bits are set in a token with a new offset.
func (r *repeatDecoder) kinds(tok reg.VecVirtual) {
	Comment("bits 7 and 6 of the tokens: index in the list, or a new offset")
	r.kind7, r.kind6, r.news = GP64(), GP64(), GP64()
	VPMOVMSKB(tok, r.kind7.As32())
	VPADDB(tok, tok, tok)
	VPMOVMSKB(tok, r.kind6.As32())
	MOVL(r.kind7.As32(), r.news.As32())
	ANDL(r.kind6.As32(), r.news.As32())
	r.code = spread(r.codes, r.news)
	POPCNTL(r.news.As32(), r.news.As32())
}

// widths sets over and total. It returns eight bytes: the first bit of each field in extra,
// relative to bit.
func (r *repeatDecoder) widths() (widths reg.GPVirtual) {
	Comment("VPMAXUB with 100 does not change a code above 99")
	over, width := XMM(), XMM()
	r.over = over
	VPMAXUB(sameBytes(100), r.code, over)
	VPCMPEQB(r.code, over, over)
	VPSRLW(U8(2), r.code, width)
	VPAND(sameBytes(63), width, width)

	Comment("where each field begins: sums of the widths before it, at most 7 times 24")
	widths, total := GP64(), GP64()
	r.total = total
	VMOVQ(width, widths)
	MOVQ(widths, total)
	IMULQ(sameBytes(1), total)
	NEGQ(widths)
	ADDQ(total, widths)
	SHRQ(U8(56), total)
	return widths
}

// newOffsets returns the new offsets of eight tokens, whose fields begin where widths says.
func (r *repeatDecoder) newOffsets(widths reg.GPVirtual) reg.VecVirtual {
	starts, shift, first, second := XMM(), YMM(), GP64(), GP64()
	VMOVQ(widths, starts)
	VPMOVZXBD(starts, shift)
	MOVL(r.bit.As32(), first.As32())
	ANDL(U8(7), first.As32())
	from := YMM()
	VMOVD(first.As32(), from.AsX())
	VPBROADCASTD(from.AsX(), from)
	VPADDD(from, shift, shift)
	VPSRLD(U8(3), shift, from)
	VPAND(same(7), shift, shift)

	Comment("four fields lie in 13 bytes: one load for each four, and a shuffle to their bytes")
	SHRQ(U8(32), widths)
	MOVBLZX(widths.As8(), second.As32())
	ADDL(first.As32(), second.As32())
	SHRL(U8(3), second.As32())
	v, all, begin := YMM(), YMM(), YMM()
	VPSHUFD(U8(0), from, begin)
	VPSUBD(begin, from, from)
	VPSHUFB(dwords("eachDword", 32, 0x00000000, 0x04040404, 0x08080808, 0x0c0c0c0c), from, from)
	VPADDB(same(0x03020100), from, from)
	VMOVDQU(at(r.place, 0), v.AsX())
	VINSERTI128(U8(1), Mem{Base: r.place, Index: second, Scale: 1}, v, v)
	VPSHUFB(from, v, v)
	VPSRLVD(shift, v, v)
	wide, mask, low := YMM(), YMM(), YMM()
	VPMOVZXBD(r.code, low)
	VPSRLD(U8(2), low, wide)
	VPCMPEQD(all, all, all)
	VPSLLVD(wide, all, mask) // -2^e
	VPANDN(v, mask, v)
	VPXOR(all, mask, mask) // 2^e - 1
	VPADDD(mask, v, v)
	VPSLLD(U8(2), v, v)
	VPAND(same(3), low, low)
	VPOR(low, v, v)
	return v
}

// offsets returns the offsets of eight tokens with the new offsets v, the next list, and a scratch
// register.
func (r *repeatDecoder) offsets(v reg.VecVirtual) (offset, next reg.VecVirtual, kinds reg.GPVirtual) {
	Comment("four at a time, with the list in the upper half")
	kinds, other := GP64(), GP64()
	table := GP64()
	LEAQ(repeatTable(), table)
	order, four := YMM(), YMM()
	kind7, kind6 := r.kind7, r.kind6
	MOVL(kind7.As32(), kinds.As32())
	ANDL(U8(15), kinds.As32())
	MOVL(kind6.As32(), other.As32())
	ANDL(U8(15), other.As32())
	SHLL(U8(4), other.As32())
	ORL(other.As32(), kinds.As32())
	VPMOVZXBD(Mem{Base: table, Index: kinds, Scale: 8}, order)
	VPBLENDD(U8(0xf0), r.list, v, four)
	VPERMD(four, order, four)
	ANDL(U32(0xf0), kind6.As32())
	SHRL(U8(4), kind7.As32())
	ORL(kind6.As32(), kind7.As32())
	VPMOVZXBD(Mem{Base: table, Index: kind7, Scale: 8}, order)
	next = YMM()
	VEXTRACTI128(U8(1), v, v.AsX())
	VPBLENDD(U8(0xf0), four, v, next)
	VPERMD(next, order, next)
	offset = YMM()
	VINSERTI128(U8(1), next.AsX(), four, offset)
	return offset, next, kinds
}

func (r *repeatDecoder) finishRepeat() {
	r.finish()
	Store(r.bit, Return("nextBit"))
	p := GP64()
	Load(Param("codes").Base(), p)
	SUBQ(p, r.codes)
	Store(r.codes, Return("usedCodes"))
	Load(Param("repeats"), p)
	VEXTRACTI128(U8(1), r.list, at(p, 0))
	VZEROUPPER()
	RET()
}

// repeatTable has eight bytes for each four tokens, whose bits 7 are bits 0–3 of the index and
// whose bits 6 are bits 4–7. They index a vector of four new offsets, the list and an unused place.
// The first four are the places of the offsets, the others of the next list.
func repeatTable() Mem {
	var p []byte
	for kinds := range 256 {
		list := []byte{4, 5, 6}
		for i := range 4 {
			kind := kinds>>i&1<<1 | kinds>>(4+i)&1
			offset := byte(i)
			if kind < 3 {
				offset = list[kind]
				list = append(list[:kind:kind], list[kind+1:]...)
			}
			list = append([]byte{offset}, list[:2]...)
			p = append(p, offset)
		}
		p = append(append(p, list...), 7)
	}
	return constant("repeats", p)
}
