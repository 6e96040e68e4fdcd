// Command multihash writes the assembly of package kernels that finds matches with several hash
// tables, and its Go declarations. internal/kernels/_asm/check.sh runs it.
//
// The kernels must find exactly the matches of their portable twins in
// internal/kernels/multihash.go.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of internal/kernels/multihash.go.
const (
	tables      = 5
	batch       = 32
	lengthShift = 27
	word1       = 0x9E3779B185EBCA87
	word2       = 0xC2B2AE3D27D4EB4F
	word3       = 0x165667B19E3779F9
	word4       = 0x27D4EB2F165667C5
)

// multiType is the type MultiHash of package kernels; the constants are offsets of its fields.
const multiType = "*struct{At, hashedFrom, batchFrom, batchEnd int; " +
	"Nice, MinMatch, MinOffset, MaxOffset, MaxOffset3 int; Skip, Reach, Before, Offset int; " +
	"Tables [5][]uint32; Lengths [5]int; First int; Multiples [16]uint8; tagMask uint32; " +
	"entries [160]uint32; hashes [5][32]uint64}"

const (
	mhAt         = 0
	mhBatchFrom  = 16
	mhNice       = 32
	mhMinMatch   = 40
	mhMinOffset  = 48
	mhMaxOffset  = 56
	mhMaxOffset3 = 64
	mhSkip       = 72
	mhReach      = 80
	mhBefore     = 88
	mhOffset     = 96
	mhFirst      = 264
	mhMultiples  = 272
	mhEntries    = 292
)

func main() {
	ConstraintExpr("amd64,!noasm")
	hash(8)
	hash(16)
	hash(32)
	exchange()
	search()
	Generate()
}

// param returns the memory operand of a parameter.
func param(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// hash emits a kernel that hashes up to words bytes of each position of a batch.
func hash(words int) {
	name := map[int]string{8: "hashMulti8AVX2", 16: "hashMulti16AVX2", 32: "hashMulti32AVX2"}[words]
	TEXT(name, attr.NOSPLIT,
		"func(hashes *[32]uint64, src *byte, left uint64, table *uint32, shift uint64)")
	Pragma("noescape")
	Doc(name+" sets hashes to those of 32 positions and prefetches their entries of table. The last",
		"word is shifted by left.")
	hashes, src, left, table, shift := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("hashes"), hashes)
	Load(Param("src"), src)
	Load(Param("left"), left)
	Load(Param("table"), table)
	Load(Param("shift"), shift)
	var primes []reg.GPVirtual
	for _, p := range []uint64{word1, word2, word3, word4}[:words/8] {
		m := GP64()
		MOVQ(U64(p), m)
		primes = append(primes, m)
	}
	i := GP64()
	XORL(i.As32(), i.As32())
	Label("loop")
	sum := GP64()
	for k, m := range primes {
		v := GP64()
		MOVQ(Mem{Base: src, Index: i, Scale: 1, Disp: 8 * k}, v)
		if k == len(primes)-1 && words <= 16 {
			SHLXQ(left, v, v)
		}
		IMULQ(m, v)
		if k == 0 {
			sum = v
		} else {
			ADDQ(v, sum)
		}
	}
	MOVQ(sum, Mem{Base: hashes, Index: i, Scale: 8})
	SHRXQ(shift, sum, sum)
	PREFETCHT0(Mem{Base: table, Index: sum, Scale: 4})
	INCL(i.As32())
	CMPL(i.As32(), U8(batch))
	JNE(LabelRef("loop"))
	RET()
}

// exchange emits exchangeMultiAVX2.
func exchange() {
	TEXT("exchangeMultiAVX2", attr.NOSPLIT, "func(table *uint32, shift uint64, hashes *[32]uint64, "+
		"entries *uint32, src *byte, at uint32, tagMask uint32)")
	Pragma("noescape")
	Doc("exchangeMultiAVX2 puts the 32 positions from at on into table. It sets every fifth of entries to",
		"what stood in their places, or to the position, and prefetches src there.")
	table, shift, hashes, entries, src, at, mask, left :=
		GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("table"), table)
	Load(Param("shift"), shift)
	Load(Param("hashes"), hashes)
	Load(Param("entries"), entries)
	Load(Param("src"), src)
	Load(Param("at"), at.As32())
	Load(Param("tagMask"), mask.As32())
	MOVL(U32(batch), left.As32())
	Label("loop")
	place, tag, entry := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: hashes}, tag)
	SHRXQ(shift, tag, place)
	SHRQ(U8(12), tag)
	ANDL(mask.As32(), tag.As32())
	slot := Mem{Base: table, Index: place, Scale: 4}
	MOVL(slot, entry.As32())
	XORL(tag.As32(), entry.As32())
	CMPL(entry.As32(), at.As32())
	CMOVLHI(at.As32(), entry.As32())
	PREFETCHT0(Mem{Base: src, Index: entry, Scale: 1})
	MOVL(entry.As32(), Mem{Base: entries})
	ORL(at.As32(), tag.As32())
	MOVL(tag.As32(), slot)
	ADDQ(I8(8), hashes)
	ADDQ(I8(4*tables), entries)
	INCL(at.As32())
	DECL(left.As32())
	JNE(LabelRef("loop"))
	RET()
}
