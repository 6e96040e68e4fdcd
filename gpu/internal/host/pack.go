package host

import "encoding/binary"

// packer writes 32-bit words to an upload.
type packer struct {
	p  []byte
	at uint32 // index of the next word
}

func (w *packer) putWords(v ...uint32) {
	for _, v := range v {
		binary.LittleEndian.PutUint32(w.p[4*w.at:], v)
		w.at++
	}
}

// bytes writes p, padded with zeros to a whole word. It returns the index of the first word.
func (w *packer) bytes(p []byte) (at uint32) {
	at = w.at
	n := copy(w.p[4*at:], p)
	w.at += words(n)
	clear(w.p[4*int(at)+n : 4*w.at])
	return at
}

// words returns the number of 32-bit words that n bytes need.
func words(n int) uint32 { return uint32(n+3) / 4 }

// readWords sets dst to the words at the front of src. It reads four at a time: reading single
// words takes a third of the time of parsing them.
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
