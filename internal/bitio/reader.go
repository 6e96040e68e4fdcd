package bitio

// Reader reads what a Writer has written. The zero value with Data is ready. It makes no errors on its way: beyond the end all bits are 0, and Rest tells. Calls on
// one Reader must not run at the same time.
type Reader struct {
	Data []byte

	at  int    // bytes that acc was filled from, or would have been
	acc uint64 // the bits that come next
	n   uint   // how many those are, fewer than 8 between calls
}

// Take reads the next n bits, at most 56.
func (r *Reader) Take(n uint) uint64 {
	for r.n < n {
		if r.at < len(r.Data) {
			r.acc |= uint64(r.Data[r.at]) << (r.n & 63)
		}
		r.at++
		r.n += 8
	}
	v := r.acc & (1<<(n&63) - 1)
	r.acc >>= n & 63
	r.n -= n
	return v
}

// Rest returns what follows the byte of the last bit. ok is false if there were fewer bits than were read, or if those left in that byte are not all 0.
func (r *Reader) Rest() (rest []byte, ok bool) {
	if r.at > len(r.Data) || r.acc != 0 {
		return nil, false
	}
	return r.Data[r.at:], true
}
