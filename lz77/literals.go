package lz77

// AppendLiterals appends the literals of seqs, which describe the front of src, to dst. It returns
// the bytes of src behind the last match as rest. dst must have capacity for the literals and Slack
// bytes more, which AppendLiterals may overwrite.
func AppendLiterals(dst, src []byte, seqs []Sequence) (lits, rest []byte) {
	n := len(dst)
	dst = dst[:cap(dst)]
	for i := range seqs {
		q := &seqs[i]
		if run := int(q.LitLen); run <= literalStep && len(src) >= literalStep {
			*(*[literalStep]byte)(dst[n:]) = *(*[literalStep]byte)(src)
			n += run
		} else {
			n += copy(dst[n:], src[:run])
		}
		src = src[q.LitLen+q.MatchLen:]
	}
	return dst[:n], src
}

// literalStep is the number of bytes copied at once, at most Slack. Most literal runs are shorter.
const literalStep = 16
