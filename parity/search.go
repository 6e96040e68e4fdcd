package parity

import (
	"hash/crc32"

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

// register returns the register behind the first window.
func (r *roller) register(window []byte) uint32 { return section.Checksum(window) ^ r.constant }

// roll moves the window by a byte.
func (r *roller) roll(v uint32, out, in byte) uint32 {
	return castagnoli[byte(v)^in] ^ v>>8 ^ r.leave[out]
}

// wanted has the missing slices of a zone by their CRC32C.
type wanted struct {
	bits [1 << 16]bool
	list map[uint32][]int
}

// addSlices adds the missing slices that are whole.
func (w *wanted) addSlices(z *zone) {
	w.list = map[uint32][]int{}
	for i, at := range z.from {
		if at == nowhere && z.SliceLength(i) == z.Slice {
			crc := uint32(entryOf(z.catalog, i))
			w.bits[crc>>16] = true
			w.list[crc] = append(w.list[crc], i)
		}
	}
}

// take takes the slices that are a window, at a place of the source. It reports whether there are
// some.
func (w *wanted) take(z *zone, crc uint32, window []byte, at int64) bool {
	e, list := entry(window), w.list[crc]
	rest := list[:0]
	for _, i := range list {
		if entryOf(z.catalog, i) == e {
			z.takeSlice(i, at)
		} else {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		delete(w.list, crc)
	} else {
		w.list[crc] = rest
	}
	return len(rest) < len(list)
}

// search searches for missing slices at all places, until parity can replace the others. The work
// is linear whatever the bytes are: windows that have the CRC32C of a slice and are none count
// against a budget.
func (f *file) search(z *zone, parity int) {
	// Two sizes of a zone in front of the section are enough for any damage that leaves one.
	lo, hi, width := max(0, z.first.at-2*int64(z.Size)-scanChunk), z.last.end, z.Slice
	var w wanted
	w.addSlices(z)
	if hi-lo < int64(width) {
		return
	}
	r := newRoller(width)
	budget := 4*(hi-lo) + 64*int64(width)
	buf := make([]byte, min(hi-lo, int64(scanChunk+width)))
	for at := lo; at+int64(width) <= hi; {
		data := buf[:min(hi-at, int64(len(buf)))]
		holes := f.read(data, at)
		v := r.register(data[:width])
		for i := 0; ; i++ {
			crc := v ^ r.constant
			if w.bits[crc>>16] && len(w.list[crc]) > 0 && !overlap(holes, at+int64(i), int64(width)) {
				if !w.take(z, crc, data[i:][:width], at+int64(i)) {
					budget -= int64(width)
				}
				if budget < 0 || z.missing <= parity || len(w.list) == 0 {
					return
				}
			}
			if i+width == len(data) {
				at += int64(i + 1)
				break
			}
			v = r.roll(v, data[i], data[i+width])
		}
	}
}
