package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"
)

// cpuid emits a function that returns what the processor says about itself.
func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)")
	Load(Param("leaf"), EAX)
	Load(Param("subleaf"), ECX)
	CPUID()
	Store(EAX, Return("eax"))
	Store(EBX, Return("ebx"))
	Store(ECX, Return("ecx"))
	Store(EDX, Return("edx"))
	RET()
}

// xgetbv emits a function that returns which registers the operating system saves.
func xgetbv() {
	TEXT("xgetbv", NOSPLIT, "func() (saved uint32)")
	XORL(ECX, ECX)
	XGETBV()
	Store(EAX, Return("saved"))
	RET()
}
