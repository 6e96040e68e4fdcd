package parity

import (
	"hash/crc32"
	"slices"

	"github.com/gopz/compress/internal/section"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// roller computes the CRC32C of a window that moves from byte to byte. It works on the register
// without the initial value and the final xor, which is linear.
type roller struct {
	leave    [256]uint32 // the part that a byte has in the register when it leaves the window
	constant uint32      // CRC32C of as many zeros
}

func newRoller(width int) *roller {
	r := &roller{constant: section.Checksum(make([]byte, width))}
	for bit := 1; bit < 256; bit <<= 1 {
		v := castagnoli[bit]
		for range width {
			v = castagnoli[byte(v)] ^ v>>8
		}
		for low := range bit {
			r.leave[bit+low] = v ^ r.leave[low]
		}
	}
	return r
}

// roll moves the window by a byte.
func (r *roller) roll(v uint32, out, in byte) uint32 {
	return castagnoli[byte(v)^in] ^ v>>8 ^ r.leave[out]
}

// search searches for missing slices at all places, until parity can replace the others. The work
// is linear whatever the bytes are: windows that have the CRC32C of a slice and are none count
// against a budget.
func (f *file) search(z *zone) {
	s := z.slots
	// Two sizes of a zone in front of the section are enough for any damage that leaves one.
	lo, hi, width := max(0, z.first.at-2*int64(z.Size)-scanChunk), z.last.end, int64(z.Slice)
	missing := map[uint32][]int{} // slices by their CRC32C
	var filter [1 << 16]bool      // of the upper halves of those
	for i, at := range s.from {
		if at == nowhere && z.SliceLength(i) == z.Slice {
			crc := uint32(entryOf(z.catalog, i))
			filter[crc>>16] = true
			missing[crc] = append(missing[crc], i)
		}
	}
	r := newRoller(z.Slice)
	budget := 4*(hi-lo) + 64*width
	for at, window := range f.chunks(lo, hi, width) {
		if int64(len(window)) < width {
			return
		}
		v := section.Checksum(window[:width]) ^ r.constant
		for ; ; at, window = at+1, window[1:] {
			crc := v ^ r.constant
			if filter[crc>>16] && len(missing[crc]) > 0 {
				e, before := entry(window[:width]), s.missing
				missing[crc] = slices.DeleteFunc(missing[crc], func(i int) bool {
					if entryOf(z.catalog, i) != e {
						return false
					}
					s.from[i] = at
					s.missing--
					return true
				})
				if s.missing == before {
					budget -= width
				}
				if budget < 0 || s.missing <= s.parity {
					return
				}
			}
			if int64(len(window)) == width {
				break
			}
			v = r.roll(v, window[0], window[width])
		}
	}
}
