package parity

import "github.com/cespare/xxhash/v2"

// roller computes the CRC32C of a window that moves from byte to byte. It works on the register
// without the initial value and the final xor, which is linear.
type roller struct {
	width    int
	leave    [256]uint32 // the part that a byte has in the register when it leaves the window
	constant uint32      // CRC32C of as many zeros
}

func newRoller(width int) *roller {
	r := &roller{width: width, constant: checksum(make([]byte, width))}
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
func (r *roller) register(window []byte) uint32 {
	return checksum(window) ^ r.constant
}

// roll moves the window by a byte.
func (r *roller) roll(v uint32, out, in byte) uint32 {
	return castagnoli[byte(v)^in] ^ v>>8 ^ r.leave[out]
}

// wanted is a set of slices to search for. All have the same number of bytes in the file.
type wanted struct {
	width  int // bytes of a slice in the file
	padded int // with its padding
	bits   [1 << 16]uint16
	tried  int              // windows hashed
	crcs   map[uint32]int   // how many contents have this CRC32C, without padding
	slices map[uint64][]int // by an entry of the catalog, with that CRC
}

func newWanted(width, padded int) *wanted {
	return &wanted{width: width, padded: padded, crcs: map[uint32]int{}, slices: map[uint64][]int{}}
}

// addSlice adds slice i, which has entry e in the catalog.
func (w *wanted) addSlice(i int, e uint64) {
	crc := unpadded(uint32(e), w.padded-w.width)
	e = e>>32<<32 | uint64(crc)
	if len(w.slices[e]) == 0 {
		if w.crcs[crc] == 0 {
			w.bits[crc>>16]++
		}
		w.crcs[crc]++
	}
	w.slices[e] = append(w.slices[e], i)
}

// may reports whether a slice has this CRC32C.
func (w *wanted) may(crc uint32) bool { return w.bits[crc>>16] != 0 && w.crcs[crc] > 0 }

// takeSlices removes the slices that have the bytes of window and returns them. scratch has room
// for one, zeros behind its width.
func (w *wanted) takeSlices(crc uint32, window, scratch []byte) []int {
	w.tried++
	copy(scratch, window)
	e := xxhash.Sum64(scratch)<<32 | uint64(crc)
	list := w.slices[e]
	if len(list) == 0 {
		return nil
	}
	delete(w.slices, e)
	w.crcs[crc]--
	if w.crcs[crc] == 0 {
		delete(w.crcs, crc)
		w.bits[crc>>16]--
	}
	return list
}

// search looks for slices at every place from lo up to hi. It calls found for each window that is
// one or more of them, until found returns false. The work is linear whatever the bytes are:
// windows that have the CRC32C of a slice and are none count against a budget.
func (f *file) search(w *wanted, lo, hi int64,
	found func(slices []int, at int64, window []byte) bool) error {

	if hi-lo < int64(w.width) || len(w.slices) == 0 {
		return nil
	}
	r := newRoller(w.width)
	budget := 4*(hi-lo) + 64*int64(w.width)
	buf := make([]byte, min(hi-lo, int64(scanChunk+w.width)))
	scratch := make([]byte, w.padded)
	for at := lo; at+int64(w.width) <= hi; {
		data := buf[:min(hi-at, int64(len(buf)))]
		holes, err := f.read(data, at)
		if err != nil {
			return err
		}
		v := r.register(data[:w.width])
		for i := 0; ; i++ {
			if crc := v ^ r.constant; w.may(crc) && !holes.in(at+int64(i), int64(w.width)) {
				window := data[i:][:w.width]
				list := w.takeSlices(crc, window, scratch)
				if len(list) == 0 {
					budget -= int64(w.padded)
				} else if !found(list, at+int64(i), window) {
					return nil
				}
				if budget < 0 || len(w.slices) == 0 {
					return nil
				}
			}
			if i+w.width == len(data) {
				at += int64(i + 1)
				break
			}
			v = r.roll(v, data[i], data[i+w.width])
		}
	}
	return nil
}

// unpadded returns the CRC32C of data from that of the data with zeros behind it.
func unpadded(crc uint32, zeros int) uint32 {
	// The top byte of an entry of the table names the entry, so each step can be undone.
	var byTop [256]byte
	for i, v := range castagnoli {
		byTop[v>>24] = byte(i)
	}
	r := ^crc
	for range zeros {
		i := byTop[r>>24]
		r = (r^castagnoli[i])<<8 | uint32(i)
	}
	return ^r
}
