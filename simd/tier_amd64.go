//go:build amd64 && !noasm

package simd

const (
	avx2   = portable + 1 + iota // 32-byte vectors
	avx512                       // 64-byte vectors: AVX-512 F, BW, DQ, VL
)

var tierNames = [...]string{"portable", "avx2", "avx512"}

// features are what kernels need of a processor.
type features struct {
	avx2   bool // all of the tier avx2
	avx512 bool // all of the tier avx512
	// Some processors of the tier avx512 lack these instructions.
	vpclmulqdq bool // carry-less multiplication of wide vectors, and the CRC32 instruction
	vbmi       bool // permutations of the bytes of two wide vectors
}

// detected has the features of this one. To ask takes up to 0.1 ms on a virtual machine: the
// hypervisor answers each question.
var detected = ask()

// Bits of the answers of CPUID, by leaf and register, and of XGETBV.
const (
	osSaves = 1<<26 | 1<<27 | 1<<28 // 1, ECX: XSAVE, OSXSAVE and AVX
	sse42   = 1 << 20
	popcnt  = 1 << 23

	avx2Bits = 1<<3 | 1<<5 | 1<<8            // 7, EBX: BMI1, AVX2 and BMI2
	wideBits = 1<<16 | 1<<17 | 1<<30 | 1<<31 // F, DQ, BW and VL

	vbmiBit       = 1 << 1 // 7, ECX
	vpclmulqdqBit = 1 << 10

	lzcntBit = 1 << 5 // 0x80000001, ECX

	saves256 = 1<<1 | 1<<2
	saves512 = saves256 | 1<<5 | 1<<6 | 1<<7
)

// ask asks the processor, and which registers the operating system saves. macOS saves wide ones only
// from a thread's first use of them on, and does not say so before. There the tier is avx2.
func ask() (f features) {
	const basic, extended = 0, 1 << 31
	most, _, _, _ := cpuid(basic, 0)
	mostExtended, _, _, _ := cpuid(extended, 0)
	if most < 7 || mostExtended < extended+1 {
		return f
	}
	_, _, c1, _ := cpuid(1, 0)
	if c1&osSaves != osSaves {
		return f
	}
	saved := xgetbv()
	_, b7, c7, _ := cpuid(7, 0)
	_, _, lzcnt, _ := cpuid(extended+1, 0)
	f.avx2 = saved&saves256 == saves256 && b7&avx2Bits == avx2Bits &&
		c1&popcnt != 0 && lzcnt&lzcntBit != 0
	f.avx512 = f.avx2 && saved&saves512 == saves512 && b7&wideBits == wideBits
	f.vpclmulqdq = f.avx512 && c7&vpclmulqdqBit != 0 && c1&sse42 != 0
	f.vbmi = f.avx512 && c7&vbmiBit != 0
	return f
}

func detect() tier {
	switch {
	case detected.avx512:
		return avx512
	case detected.avx2:
		return avx2
	}
	return portable
}

var hasVPCLMULQDQ, hasVBMI = detected.vpclmulqdq, detected.vbmi
