//go:build arm64 && !noasm

// This file is written by hand: avo, which generates the assembly for amd64, knows no other processor.
// It keeps to plain loads and stores of 16 and 32 bytes. It is tested under qemu, and has not been
// timed on a processor.

#include "textflag.h"

// func executeNEON(dst []byte, at int, lits []byte, seqs *struct{ LitLen, MatchLen, Offset uint32 },
//	n int) (bytes, end, used int)
//
// It copies 16 literals and 32 bytes of match for each sequence, regardless of its lengths. Most
// are shorter, and the branch for longer ones is predicted well. Matches go 16 bytes at a time,
// load and store, which is correct for every offset from 16 on.
//
// R0 dst, R1 its length less the slack, R2 the position in it; R4 the next literal, R5 the end of the
// literals less the slack; R6 the next sequence, R7 the end of the sequences.
TEXT ·executeNEON(SB), NOSPLIT, $0-96
	MOVD dst_base+0(FP), R0
	MOVD dst_len+8(FP), R1
	SUB  $32, R1
	MOVD at+24(FP), R2
	MOVD lits_base+32(FP), R4
	MOVD lits_len+40(FP), R5
	ADD  R4, R5
	SUB  $32, R5
	MOVD seqs+56(FP), R6
	MOVD n+64(FP), R7
	ADD  R7<<1, R7, R7
	ADD  R7<<2, R6, R7

loop:
	CMP   R7, R6
	BEQ   done
	MOVWU (R6), R8  // literal run
	MOVWU 4(R6), R9 // match length
	MOVWU 8(R6), R10 // offset

	// Signed comparisons: with less than the slack the limits are below 0.
	ADD   R8, R4, R11  // end of the literals
	CMP   R5, R11
	BGT   done
	ADD   R8, R2, R12  // beginning of the match
	ADD   R9, R12, R13 // its end
	CMP   R1, R13
	BGT   done
	SUBS  R10, R12, R14 // source of the match
	BMI   done
	ADD   R2, R0, R15
	FMOVQ (R4), F0
	FMOVQ F0, (R15)
	CMP   $16, R8
	BHI   literals

match:
	ADD   R12, R0, R15
	ADD   R14, R0, R14
	FMOVQ (R14), F0
	FMOVQ F0, (R15)
	FMOVQ 16(R14), F1
	FMOVQ F1, 16(R15)
	MOVD  R11, R4
	MOVD  R13, R2
	ADD   $12, R6
	CMP   $32, R9
	BLS   loop
	ADD   R13, R0, R13

more:
	ADD   $32, R14
	ADD   $32, R15
	FMOVQ (R14), F0
	FMOVQ F0, (R15)
	FMOVQ 16(R14), F1
	FMOVQ F1, 16(R15)
	ADD   $32, R15, R19
	CMP   R13, R19
	BLT   more
	B     loop

literals:
	ADD   $16, R4
	ADD   $16, R15

run:
	FLDPQ (R4), (F0, F1)
	FSTPQ (F0, F1), (R15)
	ADD   $32, R4
	ADD   $32, R15
	CMP   R11, R4
	BLT   run
	B     match

done:
	MOVD seqs+56(FP), R7
	SUB  R7, R6
	MOVD R6, bytes+72(FP)
	MOVD R2, end+80(FP)
	MOVD lits_base+32(FP), R7
	SUB  R7, R4
	MOVD R4, used+88(FP)
	RET
