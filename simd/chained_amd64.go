//go:build amd64 && !noasm

package simd

import "github.com/klauspost/cpuid/v2"

// permutesBytes says that there are permutations of the bytes of two wide vectors, which some processors of the highest tier lack.
var permutesBytes = cpuid.CPU.Supports(cpuid.AVX512VBMI)

// chainedAtOnce is how many rounds are done in one call: the runtime cannot interrupt an assembly function.
const chainedAtOnce = atOnce / CtxRound

// rawLanes is how the assembly knows CtxLanes.
type rawLanes = struct {
	States       [32]uint32
	Last, Order2 [32]byte
}

func decodeChainedVector(g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte) (rounds, used int, ok bool) {
	t := current()
	if t == portable {
		return 0, 0, false
	}
	for {
		part := marks[rounds:min(len(marks), rounds+chainedAtOnce)]
		if len(part) == 0 {
			return rounds, used, true
		}
		n, w := 0, 0
		if out := &buf[rounds*CtxRound]; t == avx512 && permutesBytes {
			n, w = decodeChainedVBMI((*rawLanes)(g), words[used:], half&1, (*[slots]uint32)(&tab.Tables[0]), &tab.Order1, &tab.Order2, &tab.TableOf, &part[0], out, len(part))
		} else {
			n, w = decodeChainedAVX2((*rawLanes)(g), words[used:], half&1, (*[slots]uint32)(&tab.Tables[0]), &tab.ways, &tab.bases, &part[0], out, len(part))
		}
		rounds += n
		used += w
		if n < len(part) {
			return rounds, used, true
		}
	}
}

// decodeChained2Vector does nothing where there is no kernel for two groups: those for one have as much to do as the processor can.
func decodeChained2Vector(g *[2]CtxLanes, tab *CtxTable, marks []uint64, buf []byte, words [2][]byte) (rounds int, used [2]int) {
	if current() != avx512 || !permutesBytes {
		return 0, used
	}
	for {
		part := marks[rounds:min(len(marks), rounds+chainedAtOnce)]
		if len(part) == 0 {
			return rounds, used
		}
		n, a, b := decodeChained2VBMI((*rawLanes)(&g[0]), words[0][used[0]:], (*rawLanes)(&g[1]), words[1][used[1]:],
			(*[slots]uint32)(&tab.Tables[0]), &tab.Order1, &tab.Order2, &tab.TableOf, &part[0], &buf[rounds*CtxRound], len(part))
		rounds += n
		used[0] += a
		used[1] += b
		if n < len(part) {
			return rounds, used
		}
	}
}

func scatterVector(dst []byte, at *[Lanes]int, buf []byte, rounds int) (done int) {
	// The kernel goes to all pieces by turns, and the cache has no room for that many lines whose addresses end alike.
	if alike := uint(at[1]-at[0]+32)%4096 < 64; alike || current() == portable || rounds < scatterRounds {
		return 0
	}
	scatterAVX2(&dst[0], at, &buf[0], rounds/scatterRounds)
	return rounds &^ (scatterRounds - 1)
}

// scatterRounds is the number of rounds that the kernel does at a time.
const scatterRounds = 8
