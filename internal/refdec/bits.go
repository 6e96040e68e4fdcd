package refdec

import "encoding/binary"

// bitReader reads a bit string, least significant bit of the first byte first.
type bitReader struct {
	data []byte
	at   int // in bits
}

// bits reads a field of n bits, least significant bit first.
func (r *bitReader) bits(n int) (uint64, error) {
	x := uint64(0)
	for i := range n {
		if r.at/8 >= len(r.data) {
			return 0, corrupt("bits end early")
		}
		x |= uint64(r.data[r.at/8]>>(r.at%8)&1) << i
		r.at++
	}
	return x, nil
}

// bytesUsed returns the number of bytes from which bits were read.
func (r *bitReader) bytesUsed() int { return (r.at + 7) / 8 }

// byteReader reads a payload from its beginning.
type byteReader struct{ data []byte }

func (r *byteReader) take(n uint64) ([]byte, error) {
	if uint64(len(r.data)) < n {
		return nil, corrupt("payload ends early")
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b, nil
}

func (r *byteReader) byte() (byte, error) {
	b, err := r.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (r *byteReader) uint32() (uint32, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// varint reads a number below 2³² of at most five bytes. It may have leading zeros.
func (r *byteReader) varint() (uint64, error) {
	x := uint64(0)
	for i := range 5 {
		b, err := r.byte()
		if err != nil {
			return 0, err
		}
		x |= uint64(b&127) << (7 * i)
		if b < 128 {
			if x >= 1<<32 {
				return 0, corrupt("varint %d", x)
			}
			return x, nil
		}
	}
	return 0, corrupt("varint of more than five bytes")
}
