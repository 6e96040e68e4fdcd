//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

// rawTree is the form in which the assembly knows a Tree.
type rawTree = struct {
	At, Hashed, swept int

	Nice, Depth, MinMatch, Reach, Reach3 int

	Shift                   uint64
	Heads, Heads3, Children []uint16
	Codes                   []uint8
	roots, nears            [treeBatch]uint16
}

func hashTreeKernel(t *Tree, src []byte, end int) bool {
	if cpu.Current() == cpu.Portable || t.Hashed >= end {
		return false
	}
	hashTreeAVX2((*rawTree)(t), &src[0], end)
	return true
}

func sweepTreeKernel(table []uint16, now uint16) bool {
	const step = 16 // entries
	if cpu.Current() == cpu.Portable || len(table)%step != 0 {
		return false
	}
	for len(table) > 0 {
		n := min(len(table), maxCallBytes/2)
		sweepTreeAVX2(table[:n], now)
		table = table[n:]
	}
	return true
}

// searchTreeKernel handles up to a batch of positions: in the worst case a few hundred µs.
func searchTreeKernel(
	t *Tree, src []byte, end int, cands []uint64, n int, first []uint32, most int,
) (_ int, found, ok bool) {
	if cpu.Current() == cpu.Portable {
		return n, false, false
	}
	var to *uint32
	if first != nil {
		to = &first[:end-t.At][0]
	}
	n, found = searchTreeAVX2((*rawTree)(t), &src[0], end, &cands[0], n, to, most)
	return n, found, true
}
