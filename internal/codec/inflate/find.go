package inflate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
)

// # Search for blocks
//
// The header of a dynamic block passes four tests. Each one is dearer than the one before, and
// leaves little to the next. Of random places remain:
//
//	11%        BFINAL is 0, BTYPE is 2, HLIT and HDIST are at most 29
//	0.044%     the lengths of the precode use all of its codewords
//	5·10⁻¹⁰    the lengths of the other codes decode, and use all of their codewords
//
// The first test is done for 48 places at a time, with shifts of a 64-bit word. The second one adds
// up what the lengths take of the precode's space: a table has the sums for four lengths. The third
// one decodes codeword lengths, and gives up as soon as they take more space than there is. Random
// lengths do so after a dozen symbols. See M. Knespel and H. Brunst, "Rapidgzip", HPDC 2023
// (arXiv 2308.08955), section 3.4.

const (
	findPiece = 4 << 10 // FindBlock looks for both kinds of places in so many bytes by turns
	findStep  = 6       // bytes that the first test takes at a time

	// findSlack is how many bytes the tests may read from the first of a step on: up to the last
	// place of the step, a header of the greatest size, and a whole word.
	findSlack = findStep + (3+14+3*precodeSymbols+(maxLiterals+maxOffsets)*(precodeBits+7)+7)/8 + 8
)

// syncMarker is LEN and NLEN of an empty stored block.
var syncMarker = []byte{0, 0, 0xff, 0xff}

// FindBlock returns the first bit of src, counted from its front, where a Deflate block seems to
// begin, or −1 if there is none. The lowest bit of a byte comes first. from is the first bit that
// FindBlock considers, and to the one behind the last. The header may reach behind to.
//
// There are two kinds of such places. One is a byte boundary behind LEN and NLEN of an empty stored
// block, which flushes leave, whatever follows it. The other is the valid header of a dynamic block
// that is not the last of its stream. All of it is in src. It has an end-of-block codeword. The
// precode and both codes are complete, but there may be no offset, or a single one with a codeword
// of one bit. Static blocks, stored blocks and last blocks are not found; see FindStored.
//
// A place may be wrong: FindBlock does not decode the block. In random bytes it finds about four
// wrong places per gigabyte. It takes time in proportion to the bits that it considers. It
// allocates nothing, and several goroutines may call it at once.
func FindBlock(src []byte, from, to int64) (bit int64) {
	from, to = max(from, 0), min(to, 8*int64(len(src)))
	for from < to {
		end := min(from+8*findPiece, to)
		marker := findMarker(src, from, end)
		if marker >= 0 {
			end = marker
		}
		if bit := findDynamic(src, from, end); bit >= 0 {
			return bit
		}
		if marker >= 0 {
			return marker
		}
		from = end
	}
	return -1
}

// FindFlush is FindBlock for the first kind of places only.
func FindFlush(src []byte, from, to int64) (bit int64) {
	return findMarker(src, max(from, 0), min(to, 8*int64(len(src))))
}

// findMarker returns the first bit in [from, to) that is a byte boundary behind a marker, or −1.
func findMarker(src []byte, from, to int64) (bit int64) {
	first, end := int((from+7)>>3), int((to+7)>>3)
	start := max(first-len(syncMarker), 0)
	if first >= end {
		return -1
	}
	i := bytes.Index(src[start:end-1], syncMarker)
	if i < 0 {
		return -1
	}
	return 8 * int64(start+i+len(syncMarker))
}

// findDynamic returns the first bit in [from, to) where the header of a dynamic block begins, or
// −1.
func findDynamic(src []byte, from, to int64) (bit int64) {
	at, end := int(from>>3), int((to+7)>>3)
	skip := uint(from & 7)
	if whole := min(end, len(src)-findSlack+1); at < whole {
		place, bits := scan(src, at, whole, skip)
		if bits >= 0 {
			return inRange(8*int64(place)+int64(bits), to)
		}
		at, skip = place, 0
	}
	if at >= end {
		return -1
	}
	// A header that reaches into the zeros behind the end of src does not count.
	var tail [2 * findSlack]byte
	size := copy(tail[:], src[at:])
	for place := 0; place < end-at; {
		next, bits := scan(tail[:], place, end-at, skip)
		if bits < 0 {
			break
		}
		skip = uint(bits) + 1
		place = next + int(skip>>3)
		skip &= 7
		if n, _ := headerSize(tail[:], 8*next+bits); 8*next+bits+n <= 8*size {
			return inRange(8*int64(at+next)+int64(bits), to)
		}
	}
	return -1
}

// inRange returns bit if it is before to, else −1.
func inRange(bit, to int64) int64 {
	if bit < to {
		return bit
	}
	return -1
}

// scan looks for the header of a dynamic block in steps from byte at on that begin before byte end.
// It passes over the first skip bits. It returns the byte where the step begins with the header,
// and the header's bit in it. Without a header it returns the byte where the next step would begin,
// and −1. src has at least findSlack bytes behind the beginning of each step.
func scan(src []byte, at, end int, skip uint) (place, bit int) {
	spaces := precodeSpace()
	for ; at < end; at += findStep {
		w := binary.LittleEndian.Uint64(src[at:])
		places := dynamicPlaces(w) >> skip << skip
		skip = 0
		for ; places != 0; places &= places - 1 {
			i := uint(bits.TrailingZeros64(places))
			precode := binary.LittleEndian.Uint64(src[at+int((i+17)>>3):]) >> ((i + 17) & 7)
			precode &= precodeMask[w>>((i+13)&63)&15]
			space := uint(spaces[precode&4095]) +
				uint(spaces[precode>>12&4095]) +
				uint(spaces[precode>>24&4095]) +
				uint(spaces[precode>>36&4095]) +
				uint(spaces[precode>>48&4095])
			if space != 1<<precodeBits {
				continue
			}
			if _, ok := headerSize(src, 8*at+int(i)); ok {
				return at, int(i)
			}
		}
	}
	return at, -1
}

// dynamicPlaces returns the bits of w, of the first 48, that a dynamic block may begin at: BFINAL
// is 0, BTYPE is 2, and HLIT and HDIST are at most 29.
func dynamicPlaces(w uint64) uint64 {
	pairs := w & (w >> 1)
	fours := pairs & (pairs >> 2)
	return ^w & ^(w >> 1) & (w >> 2) & ^(fours >> 4) & ^(fours >> 9) & (1<<(8*findStep) - 1)
}

// precodeMask has the bits of the precode's lengths for each HCLEN.
var precodeMask = [16]uint64{
	1<<12 - 1, 1<<15 - 1, 1<<18 - 1, 1<<21 - 1, 1<<24 - 1, 1<<27 - 1, 1<<30 - 1, 1<<33 - 1,
	1<<36 - 1, 1<<39 - 1, 1<<42 - 1, 1<<45 - 1, 1<<48 - 1, 1<<51 - 1, 1<<54 - 1, 1<<57 - 1,
}

// precodeSpace is the space that four lengths of a precode take, in units of its smallest codeword.
// There are 128 of them. An entry is at most 255.
var precodeSpace = sync.OnceValue(func() *[1 << 12]uint8 {
	t := new([1 << 12]uint8)
	for i := range t {
		space := 0
		for v := i; v > 0; v >>= 3 {
			if n := v & 7; n > 0 {
				space += 1 << (precodeBits - n)
			}
		}
		t[i] = uint8(min(space, 255))
	}
	return t
})

// precodePlace is where the header has the length of a symbol of the precode, in bits.
var precodePlace = [precodeSymbols]uint8{
	9, 51, 45, 39, 33, 27, 21, 15, 12, 18, 24, 30, 36, 42, 48, 54, 0, 3, 6,
}

// headerSize returns the size of the header of a dynamic block in bits. ok means that it is valid.
// The header begins at a bit of src, and the precode is known to use all of its codewords.
func headerSize(src []byte, bit int) (size int, ok bool) {
	w := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
	literals, total := int(w>>3&31)+257, int(w>>3&31)+257+int(w>>8&31)+1
	precodes := int(w>>13&15) + 4
	at := bit + 17
	var table [1 << precodeBits]uint8
	fillPrecode(&table,
		binary.LittleEndian.Uint64(src[at>>3:])>>(at&7)&precodeMask[precodes-4])
	at += 3 * precodes
	end, ok := scanLengths(src, at, &table, literals, total)
	return end - bit, ok
}

// fillPrecode fills a table for a complete precode. lengths has the lengths as the header has them.
// An entry is a symbol, and in the lowest three bits the bits of its codeword.
func fillPrecode(table *[1 << precodeBits]uint8, lengths uint64) {
	// Eight counters in a word: how many lengths there are of each kind.
	var counts uint64
	for v, i := lengths, 0; i < precodeSymbols; i++ {
		counts += 1 << (8 * (v & 7))
		v >>= 3
	}
	next := counts * 0x0101010101010101 << 8
	var sorted [32]uint8
	for symbol, place := range precodePlace {
		n := 8 * (lengths >> (place & 63) & 7)
		sorted[next>>n&31] = uint8(symbol)
		next += 1 << n
	}
	i, word := counts&255, uint(0)
	for n := uint(1); n <= precodeBits; n++ {
		half := 1 << (n - 1)
		copy(table[half:2*half], table[:half])
		for k := counts >> (8 * n) & 255; k > 0; k-- {
			table[word&(1<<precodeBits-1)] = sorted[i&31]<<3 | uint8(n)
			word = nextWord(word, n)
			i++
		}
	}
}

// repeats has the extra bits of precode symbols 16 to 18 and the least number of repeats.
var repeats = [4]struct{ extra, least uint8 }{{2, 3}, {3, 3}, {7, 11}}

const codeSpace = 1 << maxBits // of a code, in units of its smallest codeword

// lengthSpace is the space that a codeword of each length takes.
var lengthSpace = [16]int{
	1: codeSpace >> 1, codeSpace >> 2, codeSpace >> 3, codeSpace >> 4, codeSpace >> 5,
	codeSpace >> 6, codeSpace >> 7, codeSpace >> 8, codeSpace >> 9, codeSpace >> 10,
	codeSpace >> 11, codeSpace >> 12, codeSpace >> 13, codeSpace >> 14, codeSpace >> 15,
}

// scanLengths goes through total codeword lengths from a bit of src on. The first of them are for
// literals and lengths. It returns the bit behind them. ok means that both codes are valid.
func scanLengths(
	src []byte, at int, precode *[1 << precodeBits]uint8, literals, total int,
) (end int, ok bool) {
	var buf uint64
	count, have := uint(0), 0
	length := uint(0)   // last one
	space, used := 0, 0 // taken by the codewords so far, and their number
	limit := literals   // where a code ends: first this one, then the other
	for have < total {
		if count < precodeBits+7 {
			buf, count = binary.LittleEndian.Uint64(src[at>>3:])>>(at&7), 57
		}
		e := precode[buf&(1<<precodeBits-1)]
		n, symbol, repeat := uint(e&7), uint(e>>3), 1
		if symbol < 16 {
			length = symbol
		} else {
			if symbol > 16 {
				length = 0
			} else if have == 0 {
				return at, false
			}
			r := repeats[symbol&3]
			repeat = int(buf>>n&(1<<r.extra-1)) + int(r.least)
			n += uint(r.extra)
		}
		buf >>= n
		count -= n
		at += int(n)
		if have <= endOfBlock && have+repeat > endOfBlock && length == 0 {
			return at, false
		}
		have += repeat
		each := lengthSpace[length&15]
		space += repeat * each
		if each > 0 {
			used += repeat
		}
		if have >= limit {
			more := have - limit
			if limit == total || space-more*each != codeSpace {
				break
			}
			space, used, limit = more*each, 0, total
			if each > 0 {
				used = more
			}
		}
		if space > codeSpace {
			return at, false
		}
	}
	single := used == 0 || used == 1 && space == codeSpace>>1
	return at, have == total && limit == total && (space == codeSpace || single)
}
