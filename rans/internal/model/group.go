package model

import "encoding/binary"

// What groups of coded and of chained streams have in common: the size of the words, the states that the decoder begins with, the words.

const ErrWords = CorruptError("words run out")

// appendGroup appends a group that has been coded.
func AppendGroup(dst []byte, states []uint32, words []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(words)))
	for _, x := range states {
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	return append(dst, words...)
}

// openGroup reads the states of a group from the front of src, and returns its words and what follows them. The words' memory goes on to the end of src.
func OpenGroup(src []byte, states []uint32) (words, rest []byte, err error) {
	n, size := Uvarint(src)
	if size == 0 || n > uint64(len(src)) || uint64(len(src)-size) < n+uint64(4*len(states)) || n%2 != 0 {
		return nil, nil, CorruptError("words missing")
	}
	src = src[size:]
	for i := range states {
		x := binary.LittleEndian.Uint32(src[4*i:])
		if x-MinState >= 1<<31-MinState {
			return nil, nil, CorruptError("bad state")
		}
		states[i] = x
	}
	src = src[4*len(states):]
	return src[:n], src[n:], nil
}

// closeGroup checks that all is used up behind a group's last symbol; left is how many bytes of words are not.
func CloseGroup(states []uint32, left int) error {
	for _, x := range states {
		if x != MinState {
			return CorruptError("wrong final state")
		}
	}
	if left != 0 {
		return CorruptError("words left over")
	}
	return nil
}
