package model

import "encoding/binary"

// growStream gives a stream n bytes of length, at most limit, and Slack more of capacity. Its memory is reused if it suffices.
func GrowStream(s *[]byte, n uint64, limit int) {
	if uint64(cap(*s)) < n+Slack {
		// Streams vary in size from block to block: some room saves growing again and again.
		*s = make([]byte, n, min(int(n+n/8), limit)+Slack)
	}
	*s = (*s)[:n]
}

// varint reads a number below 2³² from the front of src; size is 0 if there is none.
func Uvarint(src []byte) (v uint64, size int) {
	v, size = binary.Uvarint(src[:min(len(src), binary.MaxVarintLen32)])
	if size <= 0 || v >= 1<<32 {
		return 0, 0
	}
	return v, size
}
