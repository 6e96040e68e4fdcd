package simd

import (
	"encoding/binary"
	"math/bits"
)

// MultiRows has four hash tables, by hashes of 3, 4, 6 and 10 bytes. Each entry is a row: the last 2,
// 4, 8 or 2 positions with that hash, the latest first. It serves a window of 32 KiB: rows hold the low
// 16 bits of positions. Older positions may look like later ones, which does no harm, since the
// content at a position decides.
//
// Search looks at all 16 positions of the four rows at once, without a branch. The kernel compares
// 8 bytes at each, and finds the first position for each length of a match by maxima over the
// positions before. Where matches of 8 bytes end is left to the caller, as this takes a branch that
// is hard to predict.
//
// A row is one word, or two, so that insertion is a shift.
type MultiRows struct {
	rows3, rows10 []uint32
	rows4         []uint64
	rows6         [][2]uint64
	shift         uint8 // 64 − log2 of the number of rows of each table
}

// RowMatches are the matches of a position that Search finds, with the positions of its rows by 3,
// 4, 6 and 10 bytes, in that order. Fields of entries with neither a bit in Longer nor one in Full mean
// nothing.
type RowMatches struct {
	// Back are the distances, as negative numbers.
	Back [rowEntries]int16
	// Lengths are how many of the next 8 bytes match.
	Lengths [rowEntries]uint8
	// Longer has a bit for each length that is at least the shortest match and greater than all
	// lengths before it.
	Longer uint16
	// Full has a bit for each match of 8 bytes.
	Full uint16
	_    [12]byte
}

const (
	rowEntries  = 16 // of the four rows together
	rowWindow   = 1 << 15
	rowContent  = 8                  // bytes compared at a position
	rowSlack    = 16                 // bytes that follow each position
	multiRowMul = 0x9E3779B185EBCA87 // of hashes; the second word of 10 bytes has wordMul
	wordMul     = 0xC2B2AE3D27D4EB4F
)

// MultiRowsMemory returns the memory in bytes of tables with 1<<log rows.
func MultiRowsMemory(log uint8) int { return 4<<log + 8<<log + 16<<log + 4<<log }

// Reset empties the tables. Each has 1<<log rows; log is 2 to 20. It reuses memory.
func (t *MultiRows) Reset(log uint8) {
	if log < 2 || log > 20 {
		panic("simd: MultiRows.Reset out of range")
	}
	if n := 1 << log; cap(t.rows4) < n {
		t.rows3, t.rows4 = make([]uint32, n), make([]uint64, n)
		t.rows6, t.rows10 = make([][2]uint64, n), make([]uint32, n)
	} else {
		t.rows3, t.rows4, t.rows6, t.rows10 = t.rows3[:n], t.rows4[:n], t.rows6[:n], t.rows10[:n]
		clear(t.rows3)
		clear(t.rows4)
		clear(t.rows6)
		clear(t.rows10)
	}
	t.shift = 64 - log
}

// insert inserts position i and returns what was in its rows: four words of four entries.
func (t *MultiRows) insert(src []byte, i int) (e [rowEntries / 4]uint64) {
	p := src[i : i+rowSlack : i+rowSlack]
	v, w := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
	s := t.shift & 63
	r3, r4 := &t.rows3[v<<40*multiRowMul>>s], &t.rows4[v<<32*multiRowMul>>s]
	r6, r10 := &t.rows6[v<<16*multiRowMul>>s], &t.rows10[(v*multiRowMul+w<<48*wordMul)>>s]
	e[0], e[1] = uint64(*r3)|*r4<<32, *r4>>32|r6[0]<<32
	e[2], e[3] = r6[0]>>32|r6[1]<<32, r6[1]>>32|uint64(*r10)<<32
	at := uint16(i)
	*r3, *r4, *r10 = *r3<<16|uint32(at), *r4<<16|uint64(at), *r10<<16|uint32(at)
	r6[0], r6[1] = r6[0]<<16|uint64(at), r6[1]<<16|r6[0]>>48
	return e
}

// Insert inserts the positions [i, end) of src without a search. At least 16 bytes follow each.
func (t *MultiRows) Insert(src []byte, i, end int) {
	for ; i < end; i++ {
		t.insert(src, i)
	}
}

// Search inserts the positions of src from i on and searches them. It fills out. At least 16 bytes
// follow each position. Matches are of at least minMatch bytes, 1 … 8, and reach back at most
// maxOffset bytes, 1 … 1<<15.
func (t *MultiRows) Search(src []byte, i, minMatch, maxOffset int, out []RowMatches) {
	if i < 0 || i+len(out)+rowSlack-1 > len(src) || uint(minMatch-1) >= rowContent ||
		uint(maxOffset-1) >= rowWindow {
		panic("simd: MultiRows.Search out of range")
	}
	if len(out) == 0 {
		return
	}
	if i == 0 { // the kernel needs a byte in front
		t.searchPortable(src, 0, minMatch, maxOffset, &out[0])
		i, out = 1, out[1:]
	}
	n := searchRowsKernel(t, src, i, minMatch, maxOffset, out)
	for k := range out[n:] {
		t.searchPortable(src, i+n+k, minMatch, maxOffset, &out[n+k])
	}
}

// searchPortable is Search for one position.
func (t *MultiRows) searchPortable(src []byte, i, minMatch, maxOffset int, m *RowMatches) {
	entries := t.insert(src, i)
	v := binary.LittleEndian.Uint64(src[i:])
	reach := uint(min(i, maxOffset))
	longer, full := uint16(0), uint16(0)
	unequal := ^uint64(0) >> (64 - 8*uint(minMatch)) // bytes that a longer match needs
	for j := range m.Back {
		d := uint(uint16(i - int(entries[j/4]>>(16*(j%4)))))
		if d-1 >= reach {
			continue
		}
		c := i - int(d)
		x := binary.LittleEndian.Uint64(src[c:c+8:c+8]) ^ v
		if x&unequal != 0 {
			continue
		}
		n := bits.TrailingZeros64(x) >> 3
		m.Back[j], m.Lengths[j] = int16(-int(d)), uint8(n)
		if n < rowContent || full == 0 {
			longer |= 1 << j
		}
		full |= uint16(n) >> 3 << j
		unequal = 1<<(8*min(uint(n), 7)+8) - 1
	}
	m.Longer, m.Full = longer, full
}
