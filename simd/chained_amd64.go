//go:build amd64 && !noasm

package simd

import "github.com/klauspost/cpuid/v2"

// permutesBytes says that there are permutations of the bytes of two wide vectors, which some processors of the highest tier lack.
var permutesBytes = cpuid.CPU.Supports(cpuid.AVX512VBMI)

func decodeChainedVector(g *ChainLanes, tab *ChainTable, buf, words []byte) (done, used int, ok bool) {
	t := current()
	if t == portable {
		return 0, 0, false
	}
	for {
		n, w := 0, 0
		part := buf[done:min(len(buf), done+atOnce)]
		if t == avx512 && permutesBytes {
			n, w = decodeChainedVBMI(&g.States, &g.Last, &g.Second, (*[slots]uint32)(&tab.Tables[0]), &tab.First, &tab.Second, &tab.Class, part, words[used:])
		} else {
			n, w = decodeChainedAVX2(&g.States, &g.Last, &g.Second, (*[slots]uint32)(&tab.Tables[0]), &tab.ways, &tab.bases, part, words[used:])
		}
		done += n
		used += w
		if n < atOnce {
			return done, used, true
		}
	}
}
