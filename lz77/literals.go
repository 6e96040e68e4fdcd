package lz77

import (
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/pieces"
)

// AppendLiterals appends the literals of seqs, which describe the front of src, to dst. It returns
// the bytes of src behind the last match as rest. dst must have capacity for the literals and Slack
// bytes more, which AppendLiterals may overwrite.
//
// AppendLiterals calls checkpoint, unless it is nil, in long literal runs and after some thousand
// sequences.
func AppendLiterals(
	dst, src []byte, seqs []Sequence, checkpoint func(),
) (lits, rest []byte) {
	for ; len(seqs) > literalSequences && checkpoint != nil; seqs = seqs[literalSequences:] {
		dst, src = appendLiterals(dst, src, seqs[:literalSequences], checkpoint)
		checkpoint()
	}
	return appendLiterals(dst, src, seqs, checkpoint)
}

// literalSequences is the number of sequences between checkpoints.
const literalSequences = 1 << 15

func appendLiterals(
	dst, src []byte, seqs []Sequence, checkpoint func(),
) (lits, rest []byte) {
	n := len(dst)
	dst = dst[:cap(dst)]
	for len(seqs) > 0 {
		step := len(seqs)
		if done, used, read, ok := kernels.CopyLiterals(dst[n:], src, seqs); ok {
			n, src, seqs = n+used, src[read:], seqs[done:]
			step = min(len(seqs), afterKernel)
		}
		for i := range seqs[:step] {
			q := &seqs[i]
			if run := int(q.LitLen); run <= literalStep && len(src) >= literalStep {
				*(*[literalStep]byte)(dst[n:]) = *(*[literalStep]byte)(src)
				n += run
			} else {
				pieces.Copy(dst[n:], src[:run], checkpoint)
				n += run
			}
			src = src[q.LitLen+q.MatchLen:]
		}
		seqs = seqs[step:]
	}
	return dst[:n], src
}

// afterKernel is the number of sequences between two calls of the kernel, which stops at long runs
// and near the end.
const afterKernel = 8

// literalStep is the number of bytes copied at once, at most Slack. Most literal runs are shorter.
const literalStep = 16
