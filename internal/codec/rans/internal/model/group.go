package model

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/pieces"
)

// ErrWords reports that a group has fewer words than its symbols need.
const ErrWords = CorruptError("words run out")

// AppendGroup appends an encoded group to dst: the size of its words in bytes, the states with
// which the decoder begins, the words.
func AppendGroup(dst []byte, states []uint32, words []byte, checkpoint func()) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(words)))
	for _, x := range states {
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	return pieces.Append(dst, words, checkpoint)
}

// OpenGroup reads a group from the front of src. It stores the states in states and returns the
// words and the rest of src. Both refer to src, and the capacity of words reaches to the end of
// src.
func OpenGroup(src []byte, states []uint32) (words, rest []byte, err error) {
	n, size := Uvarint(src)
	if size == 0 || n > uint64(len(src)) ||
		uint64(len(src)-size) < n+uint64(4*len(states)) || n%2 != 0 {
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

// CloseGroup checks the end of a group: the decoder must return to the encoder's first states and
// have no words left. left is the size of the unread words in bytes.
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
