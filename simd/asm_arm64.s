//go:build arm64 && !noasm

// This file is written by hand: avo, which generates the assembly for amd64, knows no other processor.
// It keeps to plain loads and stores of 16 and 32 bytes. It is tested under qemu, and has not been
// timed on a processor.

#include "textflag.h"

// func matchLenNEON(a, b []byte) (n int)
//
// It compares 32 bytes a step. The last step begins 32 bytes before the end.
//
// R0 a, R1 b, R2 their length, R3 the beginning of the last step, R4 the position.
TEXT ·matchLenNEON(SB), NOSPLIT, $0-56
	MOVD a_base+0(FP), R0
	MOVD a_len+8(FP), R2
	MOVD b_base+24(FP), R1
	SUB  $32, R2, R3
	MOVD ZR, R4

loop:
	ADD   R4, R0, R5
	ADD   R4, R1, R6
	FLDPQ (R5), (F0, F1)
	FLDPQ (R6), (F2, F3)
	VCMEQ V0.D2, V2.D2, V0.D2
	VCMEQ V1.D2, V3.D2, V1.D2
	VAND  V0.B16, V1.B16, V0.B16
	VMOV  V0.D[0], R7
	VMOV  V0.D[1], R8
	AND   R7, R8, R7
	CMN   $1, R7
	BNE   unlike
	ADD   $32, R4
	CMP   R3, R4
	BLE   loop
	CMP   R2, R4
	BEQ   done
	MOVD  R3, R4
	B     loop

unlike:
	// One of four words differs.
	LDP  (R5), (R7, R8)
	LDP  (R6), (R9, R10)
	EOR  R7, R9
	CBNZ R9, found
	ADD  $8, R4
	EOR  R8, R10, R9
	CBNZ R9, found
	ADD  $8, R4
	LDP  16(R5), (R7, R8)
	LDP  16(R6), (R9, R10)
	EOR  R7, R9
	CBNZ R9, found
	ADD  $8, R4
	EOR  R8, R10, R9

found:
	RBIT R9, R9
	CLZ  R9, R9
	ADD  R9>>3, R4

done:
	MOVD R4, n+48(FP)
	RET
