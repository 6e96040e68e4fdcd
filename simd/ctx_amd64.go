//go:build amd64 && !noasm

package simd

import "github.com/klauspost/cpuid/v2"

// permutesBytes says that there are permutations of the bytes of two wide vectors, which some processors of the highest tier lack.
var hasVBMI = cpuid.CPU.Supports(cpuid.AVX512VBMI)

// maxCallRounds is how many rounds are done in one call: the runtime cannot interrupt an assembly function.
const maxCallRounds = maxCallBytes / CtxRound

// rawLanes is how the assembly knows CtxLanes.
type rawCtxLanes = struct {
	States       [32]uint32
	Last, Order2 [32]byte
}

func decodeCtxKernel(g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte) (rounds, used int, ok bool) {
	t := current()
	if t == portable {
		return 0, 0, false
	}
	for {
		part := marks[rounds:min(len(marks), rounds+maxCallRounds)]
		if len(part) == 0 {
			return rounds, used, true
		}
		n, w := 0, 0
		if out := &buf[rounds*CtxRound]; t == avx512 && hasVBMI {
			n, w = decodeCtxVBMI((*rawCtxLanes)(g), words[used:], half&1, (*[slots]uint32)(&tab.Tables[0]), &tab.Order1, &tab.Order2, &tab.TableOf, &part[0], out, len(part))
		} else {
			n, w = decodeCtxAVX2((*rawCtxLanes)(g), words[used:], half&1, (*[slots]uint32)(&tab.Tables[0]), &tab.ways, &tab.bases, &part[0], out, len(part))
		}
		rounds += n
		used += w
		if n < len(part) {
			return rounds, used, true
		}
	}
}

// decodeCtx2Kernel does nothing where there is no kernel for two groups: those for one have as much to do as the processor can.
func decodeCtx2Kernel(g *[2]CtxLanes, tab *CtxTable, marks []uint64, buf []byte, words [2][]byte) (rounds int, used [2]int) {
	if current() != avx512 || !hasVBMI {
		return 0, used
	}
	for {
		part := marks[rounds:min(len(marks), rounds+maxCallRounds)]
		if len(part) == 0 {
			return rounds, used
		}
		n, a, b := decodeCtx2VBMI((*rawCtxLanes)(&g[0]), words[0][used[0]:], (*rawCtxLanes)(&g[1]), words[1][used[1]:],
			(*[slots]uint32)(&tab.Tables[0]), &tab.Order1, &tab.Order2, &tab.TableOf, &part[0], &buf[rounds*CtxRound], len(part))
		rounds += n
		used[0] += a
		used[1] += b
		if n < len(part) {
			return rounds, used
		}
	}
}

func deinterleaveKernel(dst []byte, at *[Lanes]int, buf []byte, rounds int) (done int) {
	// The kernel goes to all pieces by turns, and the cache has no room for that many lines whose addresses end alike.
	if alike := uint(at[1]-at[0]+32)%4096 < 64; alike || current() == portable || rounds < squareRounds {
		return 0
	}
	deinterleaveAVX2(&dst[0], at, &buf[0], rounds/squareRounds)
	return rounds &^ (squareRounds - 1)
}

// scatterRounds is the number of rounds that the kernel does at a time.
const squareRounds = 8
