//go:build amd64 && !noasm

package kernels

import (
	"unsafe"

	"github.com/gopz/compress/internal/cpu"
)

// maxCallRounds is the most rounds that one call of an assembly function decodes.
const maxCallRounds = maxCallBytes / CtxRound

// rawCtxLanes is the form in which the assembly knows CtxLanes.
type rawCtxLanes = struct {
	States       [32]uint32
	Last, Order2 [32]byte
}

func decodeCtxKernel(
	g *CtxLanes, half int, tab *CtxTable, marks []uint64, buf, words []byte,
) (rounds, used int, ok bool) {
	t := cpu.Current()
	if t == cpu.Portable {
		return 0, 0, false
	}
	tables := (*[slots]uint32)(&tab.Tables[0])
	for {
		part := marks[rounds:min(len(marks), rounds+maxCallRounds)]
		if len(part) == 0 {
			return rounds, used, true
		}
		n, w := 0, 0
		out := &buf[rounds*CtxRound]
		if t == cpu.AVX512 && cpu.HasVBMI {
			n, w = decodeCtxVBMI((*rawCtxLanes)(g), words[used:], half&1,
				tables, &tab.Order1, &tab.Order2, &tab.TableOf, &part[0], out, len(part))
		} else {
			n, w = decodeCtxAVX2((*rawCtxLanes)(g), words[used:], half&1,
				tables, &tab.maps, &part[0], out, len(part))
		}
		rounds += n
		used += w
		if n < len(part) {
			return rounds, used, true
		}
	}
}

func decodeCtx2Kernel(
	g *[2]CtxLanes, tab *CtxTable, marks []uint64, buf []byte, words [2][]byte,
) (rounds int, used [2]int) {
	t := cpu.Current()
	if t == cpu.Portable {
		return 0, used
	}
	tables := (*[slots]uint32)(&tab.Tables[0])
	for {
		part := marks[rounds:min(len(marks), rounds+maxCallRounds)]
		if len(part) == 0 {
			return rounds, used
		}
		var n, a, b int
		if t == cpu.AVX512 && cpu.HasVBMI {
			n, a, b = decodeCtx2VBMI(
				(*rawCtxLanes)(&g[0]), words[0][used[0]:], (*rawCtxLanes)(&g[1]), words[1][used[1]:],
				tables, &tab.Order1, &tab.Order2, &tab.TableOf,
				&part[0], &buf[rounds*CtxRound], len(part))
		} else {
			n, a, b = decodeCtx2AVX2(
				(*rawCtxLanes)(&g[0]), words[0][used[0]:], (*rawCtxLanes)(&g[1]), words[1][used[1]:],
				tables, &tab.maps,
				&part[0], &buf[rounds*CtxRound], len(part))
		}
		rounds += n
		used[0] += a
		used[1] += b
		if n < len(part) {
			return rounds, used
		}
	}
}

// maxCallEncodeRounds is the most rounds that one call of the assembly codes, in about 50 µs.
const maxCallEncodeRounds = 1 << 10

func encodeCtxKernel(
	states *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable, symbols, tableOf []byte,
	begin *[Lanes]int, from, to int, words []byte, p int,
) (at int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	for to > from {
		n := min(to-from, maxCallEncodeRounds)
		p = encodeCtxAVX2(states, &tabs[0].vector, &symbols[to-1], &tableOf[to-1], begin, n, words, p)
		to -= n
	}
	return p, true
}

// deinterleaveKernel returns the number of rounds that it has moved.
//
// The kernel writes to all pieces in turn. It leaves the work to the twin if neighbouring pieces
// lie about a multiple of 4 KiB apart: their lines then compete for one set of the cache.
func deinterleaveKernel(dst []byte, at *[Lanes]int, buf []byte, rounds int) (done int) {
	alike := uint(at[1]-at[0]+32)%4096 < 64
	if alike || cpu.Current() == cpu.Portable || rounds < squareRounds {
		return 0
	}
	deinterleaveAVX2(&dst[0], at, &buf[0], rounds/squareRounds)
	return rounds &^ (squareRounds - 1)
}

// squareRounds is the number of rounds that the kernel moves in a step.
const squareRounds = 8

// maxCallContexts is the most contexts that one call of the assembly assigns, in about 50 µs.
const maxCallContexts = 256

func cheapestTablesKernel(
	tables []uint8, ends []uint32, symbols []uint8, counts []uint16, prices *CtxPrices,
) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	begin := 0
	for len(tables) > 0 {
		n := min(len(tables), maxCallContexts)
		cheapestTablesAVX2(&tables[0], &ends[0], n, begin,
			unsafe.SliceData(symbols), unsafe.SliceData(counts), (*[256][8]uint64)(prices))
		begin = int(ends[n-1])
		tables, ends = tables[n:], ends[n:]
	}
	return true
}

func nonZeroKernel(set *[4]uint64, counts *[256]uint32) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	nonZeroAVX2(set, counts)
	return true
}
