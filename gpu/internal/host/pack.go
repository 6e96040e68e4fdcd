package host

import "encoding/binary"

// packer fills an upload, in u32.
type packer struct {
	p  []byte
	at uint32 // the next one
}

func (w *packer) put(v ...uint32) {
	for _, v := range v {
		binary.LittleEndian.PutUint32(w.p[4*w.at:], v)
		w.at++
	}
}

// bytes copies bytes, and returns where they begin.
func (w *packer) bytes(p []byte) (at uint32) {
	at = w.at
	n := copy(w.p[4*at:], p)
	w.at += words(n)
	clear(w.p[4*int(at)+n : 4*w.at])
	return at
}

// words is how many u32 have room for n bytes.
func words(n int) uint32 { return uint32(n+3) / 4 }

// readWords sets dst to the u32 at the front of src, four at a time: one by one takes as long as a third of the parse that reads them.
func readWords(dst []uint32, src []byte) {
	src = src[:4*len(dst)]
	for len(dst) >= 4 {
		d, p := dst[:4:4], src[:16:16]
		a, b := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		d[0], d[1], d[2], d[3] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		dst, src = dst[4:], src[16:]
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(src[4*i:])
	}
}
