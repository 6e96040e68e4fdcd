package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// resolver turns eight tokens at a time into sequences. A round that needs something rare, or finds something wrong, is left as if it had not begun.
type tokenDecoder struct {
	seq           reg.GPVirtual // where the next sequences go
	tokens        reg.GPVirtual
	lits, matches reg.GPVirtual // the next long lengths
	limits        map[string]Mem
	lit, match    *field
	low, high     reg.VecVirtual // lengths of four sequences each, in pairs
	sums          reg.VecVirtual
}

// stream loads a parameter and puts the last place from which step bytes can be read into memory.
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

// begin jumps to "done" if there is no round more.
func (r *tokenDecoder) begin(p reg.GPVirtual, name string) {
	for _, s := range []struct {
		p    reg.GPVirtual
		name string
	}{{r.tokens, "tokens"}, {r.lits, "litLens"}, {r.matches, "matchLens"}, {p, name}} {
		CMPQ(s.p, r.limits[s.name])
		JGT(LabelRef("done")) // signed: without bytes the limit may be below 0
	}
}

// spread hands the next bytes at p to the bytes of a vector that the low 8 bits of set name, and 0 to the others.
func spread(p, set reg.GPVirtual) reg.VecVirtual {
	v, order := XMM(), XMM()
	VMOVQ(at(p, 0), v)
	table := GP64()
	LEAQ(spreadTable(), table)
	VMOVQ(Mem{Base: table, Index: set, Scale: 8}, order)
	VPSHUFB(order, v, v)
	return v
}

// field describes a length in a token: so many bits of it from bit shift on; if all are set a byte of p follows.
type field struct {
	shift, bits int
	least       uint32         // added to it
	leasts      reg.VecVirtual // of which added in place of that, by bits 6–7 of the token, if not nil
	p           reg.GPVirtual
	used        reg.GPVirtual // bytes of p
}

func (f *field) full() byte { return byte(1<<f.bits - 1) }

// of returns the bytes of the field in tok.
func (f *field) of(tok reg.VecVirtual) reg.VecVirtual {
	v := XMM()
	if f.shift > 0 {
		VPSRLW(U8(f.shift), tok, v)
		tok = v
	}
	VPAND(sameBytes(f.full()), tok, v)
	return v
}

// length returns the lengths as bytes and sets used. It adds bytes 255 to rare where a length does not fit, or may not.
func (f *field) length(tok, rare reg.VecVirtual) reg.VecVirtual {
	f.used = GP64()
	v, mask := f.of(tok), XMM()
	VPCMPEQB(sameBytes(f.full()), v, mask)
	VPMOVMSKB(mask, f.used.As32())
	sum := spread(f.p, f.used)
	POPCNTL(f.used.As32(), f.used.As32())
	VPADDUSB(v, sum, sum)
	switch {
	case f.leasts != nil:
		VPADDUSB(f.leastOf(tok), sum, sum)
	case f.least > 0:
		VPADDUSB(sameBytes(byte(f.least)), sum, sum)
	}
	VPCMPEQB(sameBytes(255), sum, mask)
	VPOR(mask, rare, rare)
	return sum
}

// leastOf returns which of leasts are added for tok.
func (f *field) leastOf(tok reg.VecVirtual) reg.VecVirtual {
	v := XMM()
	VPSRLW(U8(6), tok, v)
	VPAND(sameBytes(3), v, v)
	VPSHUFB(v, f.leasts, v)
	return v
}

// lengthBytes is what is read of a stream of lengths in a round: at most seven bytes, 255, four bytes, and eight more.
const lengthBytes = 20

// again does the same for a round with rare lengths, and returns dwords. A byte 255 stands for the number in the four bytes behind it. Two such numbers in a round, and
// one that is too small or above 65,535, are left to the twin.
func (f *field) again(tok reg.VecVirtual, name string) reg.VecVirtual {
	v, mask, order, more, ones := f.of(tok), XMM(), XMM(), XMM(), XMM()
	set, q, behind, place, number := GP64(), GP64(), GP64(), GP64(), GP64()
	VPCMPEQB(sameBytes(f.full()), v, mask)
	VPMOVMSKB(mask, set.As32())
	table := GP64()
	LEAQ(spreadTable(), table)
	VMOVQ(Mem{Base: table, Index: set, Scale: 8}, order)
	long, sum, part := YMM(), YMM(), YMM()
	VPXOR(long, long, long)
	MOVQ(at(f.p, 0), q)
	VMOVQ(q, more)
	VPCMPEQB(sameBytes(255), more, ones)
	VPSHUFB(order, more, more)
	VPCMPEQB(sameBytes(255), more, mask)
	VPMOVMSKB(mask, place.As32())
	TESTB(U8(255), place.As8()) // of shuffled bytes the upper eight are not to be looked at
	JEQ(LabelRef(name))
	VPMOVMSKB(ones, place.As32())
	TZCNTL(place.As32(), place.As32())
	MOVL(Mem{Base: f.p, Index: place, Scale: 1, Disp: 1}, number.As32())
	SUBL(U32(255), number.As32())
	CMPL(number.As32(), U32(65535-255))
	JHI(LabelRef("done"))
	Comment("take the four bytes out")
	MOVQ(Mem{Base: f.p, Index: place, Scale: 1, Disp: 5}, behind)
	SHLL(U8(3), place.As32())
	SHLXQ(place, behind, behind)
	SHLQ(U8(8), behind)
	ADDL(U8(8), place.As32())
	BZHIQ(place, q, q)
	ORQ(behind, q)
	VMOVQ(q, more)
	VPSHUFB(order, more, more)
	VPCMPEQB(sameBytes(255), more, ones)
	VPMOVMSKB(ones, place.As32())
	ANDL(U32(255), place.As32())
	BLSRL(place.As32(), place.As32())
	JNE(LabelRef("done"))
	VPMOVSXBD(ones, long)
	VMOVD(number.As32(), part.AsX())
	VPBROADCASTD(part.AsX(), part)
	VPAND(part, long, long)
	ADDQ(U8(4), f.used)
	Label(name)
	VPMOVZXBD(v, sum)
	VPADDD(long, sum, sum)
	VPMOVZXBD(more, part)
	VPADDD(part, sum, sum)
	switch {
	case f.leasts != nil:
		VPMOVZXBD(f.leastOf(tok), part)
		VPADDD(part, sum, sum)
	case f.least > 0:
		VPADDD(same(f.least), sum, sum)
	}
	return sum
}

// lengths sets low and high, and returns what is rare.
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

// write puts eight sequences in order: three vectors, in each of which the offsets have places of their own.
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

// finish stores what both layouts return.
func (r *tokenDecoder) finish() {
	Label("done")
	p := GP64()
	for _, s := range []struct {
		p           reg.GPVirtual
		name, count string
	}{{r.tokens, "tokens", "done"}, {r.lits, "litLens", "usedLits"}, {r.matches, "matchLens", "usedMatches"}} {
		Load(Param(s.name).Base(), p)
		SUBQ(p, s.p)
		Store(s.p, Return(s.count))
	}
	Comment("literals in even places, matches in odd ones")
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

const tokensDoc = "The kernel stops before what it leaves to its twin: two lengths of 255 or more in a round, or one above 65,535, an offset that is not allowed, streams with few bytes left."

// decodeTokensRepeatAVX2: the offsets of four sequences at a time are a permutation of four new ones and the list, which a table of the 256 kinds of
// four tokens gives. So nothing but the place in Extra and the list goes from one round to the next.
func decodeTokensRepeatAVX2() {
	TEXT("decodeTokensRepeatAVX2", attr.NOSPLIT, "func(seqs "+seqType+", tokens, litLens, matchLens, codes, extra []byte, bit uint, repeats *[4]uint32, least uint32) (done, usedLits, usedMatches, usedCodes int, nextBit uint, lits, produced uint64)")
	Pragma("noescape")
	Doc("decodeTokensRepeatAVX2 turns tokens with repeat offsets into as many sequences, which must have room. Least has a byte for each of bits 6–7.", tokensDoc)
	r := newTokenDecoder()
	codes := r.stream("codes", 8)
	extra, err := Param("extra").Base().Resolve()
	if err != nil {
		panic(err)
	}
	r.stream("extra", 48) // the second four fields begin at bit 7 + 255 at most, even if codes are wrong, and 16 bytes are read there
	bit := GP64()
	Load(Param("bit"), bit)
	list := YMM() // in the upper half
	{
		p := GP64()
		Load(Param("repeats"), p)
		VPXOR(list, list, list)
		VINSERTI128(U8(1), at(p, 0), list, list)
	}

	leasts := XMM()
	{
		v := GP32()
		Load(Param("least"), v)
		VMOVD(v, leasts)
	}

	Label("loop")
	r.begin(codes, "codes")
	place := GP64()
	MOVQ(bit, place)
	SHRQ(U8(3), place)
	ADDQ(extra.Addr, place)
	CMPQ(place, r.limits["extra"])
	JGT(LabelRef("done"))

	tok, rare := r.lengths(field{bits: 2}, field{shift: 2, bits: 4, leasts: leasts})

	Comment("bits 7 and 6 of the tokens: which place of the list, or a new offset")
	kind7, kind6, news := GP64(), GP64(), GP64()
	VPMOVMSKB(tok, kind7.As32())
	VPADDB(tok, tok, tok)
	VPMOVMSKB(tok, kind6.As32())
	MOVL(kind7.As32(), news.As32())
	ANDL(kind6.As32(), news.As32())
	code := spread(codes, news)
	POPCNTL(news.As32(), news.As32())

	Comment("a code above 99 is one that VPMAXUB with 100 does not change")
	over, width := XMM(), XMM()
	VPMAXUB(sameBytes(100), code, over)
	VPCMPEQB(code, over, over)
	VPSRLW(U8(2), code, width)
	VPAND(sameBytes(63), width, width)

	Comment("where each field begins: sums of the widths of those before, at most 7 times 24")
	widths, total := GP64(), GP64()
	VMOVQ(width, widths)
	MOVQ(widths, total)
	IMULQ(sameBytes(1), total)
	NEGQ(widths)
	ADDQ(total, widths)
	SHRQ(U8(56), total)
	starts, shift, first, second := XMM(), YMM(), GP64(), GP64()
	VMOVQ(widths, starts)
	VPMOVZXBD(starts, shift)
	MOVL(bit.As32(), first.As32())
	ANDL(U8(7), first.As32())
	from := YMM()
	VMOVD(first.As32(), from.AsX())
	VPBROADCASTD(from.AsX(), from)
	VPADDD(from, shift, shift)
	VPSRLD(U8(3), shift, from)
	VPAND(same(7), shift, shift)

	Comment("four fields lie in 13 bytes: one load for each four, and their bytes from there")
	SHRQ(U8(32), widths)
	MOVBLZX(widths.As8(), second.As32())
	ADDL(first.As32(), second.As32())
	SHRL(U8(3), second.As32())
	v, all, begin := YMM(), YMM(), YMM()
	VPSHUFD(U8(0), from, begin)
	VPSUBD(begin, from, from)
	VPSHUFB(dwords("eachDword", 32, 0x00000000, 0x04040404, 0x08080808, 0x0c0c0c0c), from, from)
	VPADDB(same(0x03020100), from, from)
	VMOVDQU(at(place, 0), v.AsX())
	VINSERTI128(U8(1), Mem{Base: place, Index: second, Scale: 1}, v, v)
	VPSHUFB(from, v, v)
	VPSRLVD(shift, v, v)
	wide, mask, low := YMM(), YMM(), YMM()
	VPMOVZXBD(code, low)
	VPSRLD(U8(2), low, wide)
	VPCMPEQD(all, all, all)
	VPSLLVD(wide, all, mask) // -2^e
	VPANDN(v, mask, v)
	VPXOR(all, mask, mask) // 2^e - 1
	VPADDD(mask, v, v)
	VPSLLD(U8(2), v, v)
	VPAND(same(3), low, low)
	VPOR(low, v, v)

	Comment("four at a time, with the list behind them")
	kinds, other := GP64(), GP64()
	table := GP64()
	LEAQ(repeatTable(), table)
	order, four := YMM(), YMM()
	MOVL(kind7.As32(), kinds.As32())
	ANDL(U8(15), kinds.As32())
	MOVL(kind6.As32(), other.As32())
	ANDL(U8(15), other.As32())
	SHLL(U8(4), other.As32())
	ORL(other.As32(), kinds.As32())
	VPMOVZXBD(Mem{Base: table, Index: kinds, Scale: 8}, order)
	VPBLENDD(U8(0xf0), list, v, four)
	VPERMD(four, order, four)
	ANDL(U32(0xf0), kind6.As32())
	SHRL(U8(4), kind7.As32())
	ORL(kind6.As32(), kind7.As32())
	VPMOVZXBD(Mem{Base: table, Index: kind7, Scale: 8}, order)
	next := YMM()
	VEXTRACTI128(U8(1), v, v.AsX())
	VPBLENDD(U8(0xf0), four, v, next)
	VPERMD(next, order, next)
	offset := YMM()
	VINSERTI128(U8(1), next.AsX(), four, offset)

	small, wrong := YMM(), GP64()
	VMOVDQU(same(16), small)
	VPCMPGTD(offset, small, small)
	VMOVMSKPS(small, wrong.As32())
	VPMOVMSKB(over, kinds.As32())
	ORL(kinds.As32(), wrong.As32())
	r.check(wrong, rare)

	VMOVDQU(next, list)
	ADDQ(news, codes)
	ADDQ(total, bit)
	r.commit(offset)
	JMP(LabelRef("loop"))
	r.rare()

	r.finish()
	Store(bit, Return("nextBit"))
	p := GP64()
	Load(Param("codes").Base(), p)
	SUBQ(p, codes)
	Store(codes, Return("usedCodes"))
	Load(Param("repeats"), p)
	VEXTRACTI128(U8(1), list, at(p, 0))
	VZEROUPPER()
	RET()
}

// check jumps to "done" if one of the low bits of wrong is set; where rare has bytes 255, lengths are read once more.
func (r *tokenDecoder) check(wrong reg.GPVirtual, rare reg.VecVirtual) {
	TESTB(U8(255), wrong.As8())
	JNZ(LabelRef("done"))
	VMOVQ(rare, wrong) // of shuffled bytes the upper eight are not to be looked at
	TESTQ(wrong, wrong)
	JNE(LabelRef("rare"))
	Label("ready")
}

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

func (r *tokenDecoder) commit(offset reg.VecVirtual) {
	ADDQ(r.lit.used, r.lits)
	ADDQ(r.match.used, r.matches)
	VPADDD(r.low, r.sums, r.sums)
	VPADDD(r.high, r.sums, r.sums)
	r.write(offset)
	ADDQ(I8(8), r.tokens)
	ADDQ(I8(8*seqBytes), r.seq)
}

// decodeTokensPlainAVX2 has nothing that goes from one round to the next but the places in the streams.
func decodeTokensPlainAVX2() {
	TEXT("decodeTokensPlainAVX2", attr.NOSPLIT, "func(seqs "+seqType+", tokens, litLens, matchLens, offsets []byte) (done, usedLits, usedMatches int, lits, produced uint64)")
	Pragma("noescape")
	Doc("decodeTokensPlainAVX2 turns tokens with offsets of 16 bits into as many sequences, which must have room.", tokensDoc)
	r := newTokenDecoder()
	offsets := r.stream("offsets", 16)

	Label("loop")
	r.begin(offsets, "offsets")
	_, rare := r.lengths(field{bits: 4}, field{shift: 4, bits: 4, least: 5})
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

// sameBytes is 16 times c.
func sameBytes(c byte) Mem {
	v := uint32(c) * 0x01010101
	return dwords("bytes"+string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15]), 16, v)
}

// spreadTable has for each set of eight bytes the shuffle that hands the next ones to them, in order, and 0 to the others.
func spreadTable() Mem {
	var p []byte
	for set := range 256 {
		next := byte(0)
		for i := range 8 {
			if set>>i&1 == 0 {
				p = append(p, 0x80)
			} else {
				p = append(p, next)
				next++
			}
		}
	}
	return constant("spread", p)
}

// repeatTable has for each four tokens, with bit 7 of each in bits 0–3 of the index and bit 6 in bits 4–7, the places in (four new offsets, the list, a place that is
// not used) of the four offsets and of the next list.
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
