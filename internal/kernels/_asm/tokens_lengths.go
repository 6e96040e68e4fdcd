package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// field is a length within a token. If all of its bits are set, a length from the stream at p
// follows.
type field struct {
	shift, bits int
	minLen      uint32         // added to each length
	minLens     reg.VecVirtual // if not nil: added in place of minLen, indexed by bits 6–7 of the token
	p           reg.GPVirtual  // stream
	used        reg.GPVirtual  // bytes of the stream that a step uses
}

// lengthBytes is the most bytes of a length stream that a step reads: seven bytes, 255 and four
// bytes, and eight more.
const lengthBytes = 20

// full returns the value with all bits set.
func (f *field) full() byte { return byte(1<<f.bits - 1) }

// of returns the field of each token in tok, as bytes.
func (f *field) of(tok reg.VecVirtual) reg.VecVirtual {
	v := XMM()
	if f.shift > 0 {
		VPSRLW(U8(f.shift), tok, v)
		tok = v
	}
	VPAND(sameBytes(f.full()), tok, v)
	return v
}

// length returns the lengths as bytes and sets used. It sets those bytes of rare to 255 whose
// length does not fit a byte, or may not.
func (f *field) length(tok, rare reg.VecVirtual) reg.VecVirtual {
	f.used = GP64()
	v, mask := f.of(tok), XMM()
	VPCMPEQB(sameBytes(f.full()), v, mask)
	VPMOVMSKB(mask, f.used.As32())
	sum := spread(f.p, f.used)
	POPCNTL(f.used.As32(), f.used.As32())
	VPADDUSB(v, sum, sum)
	switch {
	case f.minLens != nil:
		VPADDUSB(f.minLensOf(tok), sum, sum)
	case f.minLen > 0:
		VPADDUSB(sameBytes(byte(f.minLen)), sum, sum)
	}
	VPCMPEQB(sameBytes(255), sum, mask)
	VPOR(mask, rare, rare)
	return sum
}

// minLensOf returns the element of minLens for each token.
func (f *field) minLensOf(tok reg.VecVirtual) reg.VecVirtual {
	v := XMM()
	VPSRLW(U8(6), tok, v)
	VPAND(sameBytes(3), v, v)
	VPSHUFB(v, f.minLens, v)
	return v
}

// again does the work of length for a step with a length of more than a byte, and returns dwords.
// Such a length is a byte 255 and four bytes behind it. again leaves to the portable twin a step
// with two of them, and one that is below 255 or above 65,535: it jumps to "done".
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
	TESTB(U8(255), place.As8()) // the upper eight bytes of a shuffle mean nothing
	JEQ(LabelRef(name))
	VPMOVMSKB(ones, place.As32())
	TZCNTL(place.As32(), place.As32())
	MOVL(Mem{Base: f.p, Index: place, Scale: 1, Disp: 1}, number.As32())
	SUBL(U32(255), number.As32())
	CMPL(number.As32(), U32(65535-255))
	JHI(LabelRef("done"))
	Comment("take the four bytes out of the stream")
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
	case f.minLens != nil:
		VPMOVZXBD(f.minLensOf(tok), part)
		VPADDD(part, sum, sum)
	case f.minLen > 0:
		VPADDD(same(f.minLen), sum, sum)
	}
	return sum
}

// spread returns a vector in which the bytes named by the low 8 bits of set have the next bytes at
// p, in order, and the others 0.
func spread(p, set reg.GPVirtual) reg.VecVirtual {
	v, order := XMM(), XMM()
	VMOVQ(at(p, 0), v)
	table := GP64()
	LEAQ(spreadTable(), table)
	VMOVQ(Mem{Base: table, Index: set, Scale: 8}, order)
	VPSHUFB(order, v, v)
	return v
}

// spreadTable has, for each set of eight bytes, the shuffle that hands the next bytes to them in
// order, and 0 to the others.
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

// sameBytes returns a section with 16 bytes c.
func sameBytes(c byte) Mem {
	v := uint32(c) * 0x01010101
	return dwords("bytes"+string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15]), 16, v)
}
