package lz77

import (
	"slices"

	"github.com/gopz/compress/internal/pieces"
)

// Valid reports whether seqs are sequences of src[start:] within the limits: they cover no more
// than that, and every match copies the bytes that stand there. It takes about as long as copying
// src. It calls checkpoint, unless it is nil, after at most 64 Ki sequences and in long matches.
func Valid(
	seqs []Sequence, src []byte, start int, limits Limits, checkpoint func(),
) bool {
	at, size := uint64(start), uint64(len(src))
	repeats := repeatOffsets{InitialRepeat, InitialRepeat, InitialRepeat}
	for i := range seqs {
		if i%(1<<16) == 1<<16-1 && checkpoint != nil {
			checkpoint()
		}
		s := &seqs[i]
		at += uint64(s.LitLen)
		n, offset := uint64(s.MatchLen), uint64(s.Offset)
		least := limits.MinMatch
		if slices.Contains(repeats[:limits.Repeats], int(s.Offset)) {
			least = limits.LeastRepeat()
		}
		repeats.Use(int(s.Offset))
		if n < uint64(least) ||
			offset < uint64(limits.LeastOffset()) || offset > uint64(limits.MaxOffset) ||
			offset > at || at > size || n > size-at {
			return false
		}
		if !pieces.Equal(src[at:at+n], src[at-offset:at-offset+n], checkpoint) {
			return false
		}
		at += n
	}
	return true
}
