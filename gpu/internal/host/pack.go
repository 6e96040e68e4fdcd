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
