package fse

import "encoding/binary"

// A description (RFC 8878, section 4.1.1) is a bit string, least significant bit first. It begins
// with the accuracy log less 5 in four bits. The probability plus one of each symbol follows. It
// takes as many bits as the rest of the sum requires, or one less if the value leaves room. Behind
// a probability of 0, two bits say how many more of them follow; 3 means three and two further
// bits. The description ends when the sum is reached.

// Append appends the description of d to dst.
func (d *Distribution) Append(dst []byte) []byte {
	acc, have := uint32(d.Log-MinLog), uint(4)
	put := func(v uint32, n uint) {
		acc |= v << have
		for have += n; have >= 8; have -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	left := 1<<d.Log + 1 // rest of the sum, plus one
	threshold, width := 1<<d.Log, uint(d.Log)+1
	zero := false
	for s := 0; s < d.Len && left > 1; s++ {
		if zero {
			start := s
			for d.Prob[s] == 0 {
				s++
			}
			for ; s-start >= 3; start += 3 {
				put(3, 2)
			}
			put(uint32(s-start), 2)
		}
		p := int(d.Prob[s])
		spare := 2*threshold - 1 - left
		left -= weight(p)
		p++
		zero = p == 1
		if p >= threshold {
			p += spare
		}
		if p < spare {
			put(uint32(p), width-1)
		} else {
			put(uint32(p), width)
		}
		for left < threshold {
			width--
			threshold >>= 1
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// weight returns what a probability adds to the sum.
func weight(p int) int {
	if p < 0 {
		return -p
	}
	return p
}

// Read sets d to the description at the front of src and returns its size in bytes. It rejects
// accuracy logs above maxLog and symbols from maxLen on. All errors are a CorruptError; d is then
// invalid.
func (d *Distribution) Read(src []byte, maxLog, maxLen int) (size int, err error) {
	at := uint(0) // in bits
	peek := func() uint32 {
		// peek returns at least the 13 bits of the longest value. Zeros follow the end, which is
		// checked after each value.
		if i := int(at / 8); len(src)-i >= 4 {
			return binary.LittleEndian.Uint32(src[i:]) >> (at % 8)
		} else {
			v := uint32(0)
			for j, b := range src[min(i, len(src)):] {
				v |= uint32(b) << (8 * j)
			}
			return v >> (at % 8)
		}
	}
	d.Log = uint8(peek()&15 + MinLog)
	at = 4
	if int(d.Log) > min(maxLog, MaxLog) {
		return 0, CorruptError("accuracy log too large")
	}
	maxLen = min(maxLen, MaxSymbols)
	left, threshold, width := 1<<d.Log+1, 1<<d.Log, uint(d.Log)+1
	s := 0
	for left > 1 {
		if at > uint(len(src))*8 {
			return 0, CorruptError("table description cut short")
		}
		if s >= maxLen {
			return 0, CorruptError("too many symbols")
		}
		v := peek()
		spare := 2*threshold - 1 - left
		p := int(v) & (threshold - 1)
		if p < spare {
			at += width - 1
		} else {
			if p = int(v) & (2*threshold - 1); p >= threshold {
				p -= spare
			}
			at += width
		}
		p--
		left -= weight(p)
		if left < 1 {
			return 0, CorruptError("probabilities exceed their sum")
		}
		d.Prob[s] = int16(p)
		s++
		if p == 0 {
			for more := true; more; at += 2 {
				n := int(peek() & 3)
				if s+n > maxLen || at > uint(len(src))*8 {
					return 0, CorruptError("too many symbols")
				}
				clear(d.Prob[s : s+n])
				s += n
				more = n == 3
			}
		}
		for left < threshold {
			width--
			threshold >>= 1
		}
	}
	if at > uint(len(src))*8 {
		return 0, CorruptError("table description cut short")
	}
	d.Len = s
	return int(at+7) / 8, nil
}
