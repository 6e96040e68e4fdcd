package pzfile

import "encoding/binary"

// Short block headers have a check of 16 bits, the CRC of HDLC (ISO/IEC 13239): polynomial
// x¹⁶ + x¹² + x⁵ + 1, reflected, with initial value and final xor of all ones. It covers the low 16
// bits of the block's number.

// hdlc is the table of the CRC by bytes.
var hdlc = func() (t [256]uint16) {
	for i := range t {
		v := uint16(i)
		for range 8 {
			v = v>>1 ^ 0x8408&-(v&1)
		}
		t[i] = v
	}
	return t
}()

// crc16 continues a CRC without initial value and final xor.
func crc16(sum uint16, p []byte) uint16 {
	for _, b := range p {
		sum = hdlc[byte(sum)^b] ^ sum>>8
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
	n := len(p) - 2
	sum := ^binary.LittleEndian.Uint16(p[n:])
	for range 2 {
		i := hdlcIndex[sum>>8]
		sum = (sum^hdlc[i])<<8 | uint16(i)
	}
	return sum ^ crc16(^uint16(0), p[:n])
}

// hdlcIndex is the index of the entry of hdlc that has a given top byte.
var hdlcIndex = func() (t [256]uint8) {
	for i, v := range hdlc {
		t[v>>8] = uint8(i)
	}
	return t
}()
