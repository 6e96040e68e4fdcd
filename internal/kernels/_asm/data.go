package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of package kernels. A difference between the two fails its tests.
const (
	lanes      = 32
	roundBytes = 2 * lanes
	wordSlack  = 8
	probBits   = 11
	slots      = 1 << probBits
	lower      = 1 << 15

	maxCtxTables = 32

	// fields of an entry of DecodeTable
	freqShift = 8
	slotShift = freqShift + probBits

	// fields of the upper half of an entry of EncodeTable.vector
	divShift = 16
	encShift = 32 - probBits
)

// sections has the read-only data sections by name. Several assembly functions may use one.
var sections = map[string]Mem{}

// constant returns the section with content p, and makes it on the first call. len(p) must be a
// multiple of 8.
func constant(name string, p []byte) Mem {
	if m, ok := sections[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < len(p); i += 8 {
		v := uint64(0)
		for k := range 8 {
			v |= uint64(p[i+k]) << (8 * k)
		}
		DATA(i, U64(v))
	}
	sections[name] = m
	return m
}

// dwords returns a section of size bytes that repeats the given numbers.
func dwords(name string, size int, values ...uint32) Mem {
	var p []byte
	for i := range size / 4 {
		v := values[i%len(values)]
		p = append(p, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return constant(name, p)
}

// same returns a section with eight times v, an operand for 32-byte vectors.
func same(v uint32) Mem { return dwords(fmt.Sprintf("same%d", v), 32, v) }

// broadcast returns a 64-byte register with v in each dword.
func broadcast(v uint32) reg.VecVirtual {
	r, z := GP32(), ZMM()
	MOVL(U32(v), r)
	VPBROADCASTD(r, z)
	return z
}

// at returns the memory operand base + disp.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
