package interp

import "math/bits"

// instr is an instruction. d, a and b are registers unless the op says otherwise.
type instr struct {
	op      op
	d, a, b uint16
}

type op uint16

const (
	opMove op = iota // d = a
	opAdd
	opSub
	opMul
	opAnd
	opOr
	opXor
	opShl // amounts modulo 32
	opShr
	opEq
	opNe
	opLess
	opLessEq
	opJump     // to d
	opZero     // to d if a is 0
	opNotZero  // to d if a is not 0
	opJumpNe   // to d if a != b
	opJumpEq   // to d if a == b
	opJumpGeq  // to d if a >= b
	opJumpMore // to d if a > b
	opCall     // to d; register a = the next instruction
	opReturn   // to the instruction in register a

	opSar // from here on: method alu
	opLessS
	opLessEqS
	opDiv
	opMod
	opNot
	opCom
	opNeg
	opMin
	opMax
	opMinS
	opMaxS
	opOnes
	opLead
	opTrail
	opPick // d = a if b is not 0

	opAddIndex // from here on: method access; sums and products of indices must not wrap
	opSubIndex
	opMulIndex
	opLoadLocal // d = array b [ a ]
	opStoreLocal
	opLoadShared
	opStoreShared
	opAtomicLoad
	opAtomicStore
	opAtomicAdd
	opAtomicOr
	opLoadBuffer // d = binding b [ a ]
	opStoreBuffer
	opBarrier
	opEnd
)

// conditional reports whether the op jumps or not, depending on registers.
func (o op) conditional() bool { return o >= opZero && o <= opJumpMore }

// asWord returns a bool as registers hold it.
func asWord(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// alu runs an instruction that only registers take part in.
func alu(in instr, r []uint32) {
	a, b := r[in.a], r[in.b]
	switch in.op {
	case opSar:
		r[in.d] = uint32(int32(a) >> (b & 31))
	case opLessS:
		r[in.d] = asWord(int32(a) < int32(b))
	case opLessEqS:
		r[in.d] = asWord(int32(a) <= int32(b))
	case opDiv:
		r[in.d] = a / b // the parser has proved that b is above 0
	case opMod:
		r[in.d] = a % b
	case opNot:
		r[in.d] = a ^ 1
	case opCom:
		r[in.d] = ^a
	case opNeg:
		r[in.d] = -a
	case opMin:
		r[in.d] = min(a, b)
	case opMax:
		r[in.d] = max(a, b)
	case opMinS:
		r[in.d] = uint32(min(int32(a), int32(b)))
	case opMaxS:
		r[in.d] = uint32(max(int32(a), int32(b)))
	case opOnes:
		r[in.d] = uint32(bits.OnesCount32(a))
	case opLead:
		r[in.d] = uint32(bits.Len32(a)) - 1
	case opTrail:
		r[in.d] = uint32(bits.TrailingZeros32(a))
	case opPick:
		if b != 0 {
			r[in.d] = a
		}
	}
}
