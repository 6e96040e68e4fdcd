package lz77

import (
	"bytes"
	"slices"
)

// Valid reports whether seqs are sequences of src[start:] within the limits: they cover no more than
// that, and every match copies the bytes that stand there. It takes about as long as copying src.
func Valid(seqs []Sequence, src []byte, start int, limits Limits) bool {
	at, size := uint64(start), uint64(len(src))
	repeats := repeatOffsets{InitialRepeat, InitialRepeat, InitialRepeat}
	for i := range seqs {
		s := &seqs[i]
		at += uint64(s.LitLen)
		n, offset := uint64(s.MatchLen), uint64(s.Offset)
		least := limits.MinMatch
		if slices.Contains(repeats[:limits.Repeats], int(s.Offset)) {
			least = limits.minRepeat()
		}
		repeats.use(int(s.Offset))
		if n < uint64(least) ||
			offset < uint64(limits.minOffset()) || offset > uint64(limits.MaxOffset) ||
			offset > at || at > size || n > size-at {
			return false
		}
		if !bytes.Equal(src[at:at+n], src[at-offset:at-offset+n]) {
			return false
		}
		at += n
	}
	return true
}
