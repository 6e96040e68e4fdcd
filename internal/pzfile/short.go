package pzfile

import (
	"encoding/binary"
	"sync"
)

// Short block headers have a check of 16 bits, the CRC of HDLC (ISO/IEC 13239): polynomial
// x¹⁶ + x¹² + x⁵ + 1, reflected, with initial value and final xor of all ones. It covers the low 16
// bits of the block's number.

// hdlcTable has the CRC of each byte, and the index of the entry that has a given top byte.
type hdlcTable struct {
	sums  [256]uint16
	index [256]uint8
}

var hdlc = sync.OnceValue(func() *hdlcTable {
	t := new(hdlcTable)
	for i := range t.sums {
		v := uint16(i)
		for range 8 {
			v = v>>1 ^ 0x8408&-(v&1)
		}
		t.sums[i], t.index[v>>8] = v, uint8(i)
	}
	return t
})

// crc16 continues a CRC without initial value and final xor.
func crc16(sum uint16, p []byte) uint16 {
	t := hdlc()
	for _, b := range p {
		sum = t.sums[byte(sum)^b] ^ sum>>8
	}
	return sum
}

// shortSum returns the check of a short block header.
func shortSum(header []byte, number int64) uint16 {
	sum := crc16(^uint16(0), header) ^ uint16(number)
	return ^crc16(sum, []byte{0, 0})
}

// shortNumber returns the number modulo 2¹⁶ that makes p a short block header with a right check.
func shortNumber(p []byte) uint16 {
	// Two steps over zeros take the register xor the number to the check. Each step can be undone:
	// the top byte of an entry of the table tells its index.
	n, t := len(p)-2, hdlc()
	sum := ^binary.LittleEndian.Uint16(p[n:])
	for range 2 {
		i := t.index[sum>>8]
		sum = (sum^t.sums[i])<<8 | uint16(i)
	}
	return sum ^ crc16(^uint16(0), p[:n])
}
