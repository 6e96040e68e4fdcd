package bitio

// Reader reads the bits that a Writer has written. Set Data to begin. Reading beyond the end yields
// zeros; Rest reports it. A Reader must not be used concurrently.
type Reader struct {
	Data []byte

	at  int    // number of bytes moved to acc, including zeros beyond the end
	acc uint64 // the next bits
	n   uint   // number of bits in acc, below 8 between calls
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

// Rest returns the bytes behind that of the last bit read. ok is false if the data had fewer bits,
// or if an unread bit of that byte is set.
func (r *Reader) Rest() (rest []byte, ok bool) {
	if r.at > len(r.Data) || r.acc != 0 {
		return nil, false
	}
	return r.Data[r.at:], true
}
