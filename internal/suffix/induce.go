package suffix

// During the passes each entry places the suffix that begins one symbol earlier. An entry is a
// beginning if this pass does that, and the complement of a beginning if the pass in the other
// direction does. No suffix begins before 0, so an entry of 0 is skipped like an empty one.

// complementIf returns the complement of k if yes, else k, without a branch.
func complementIf(k int32, yes bool) int32 {
	x := int32(0)
	if yes {
		x = -1
	}
	return k ^ x
}

// induceL places the L suffixes with induceLPartialPiece or induceLPiece.
func induceL[T symbol](
	sa []int32, text []T, b buckets, induce func(sa []int32, text []T, at []int32, from, to int),
	checkpoint func(),
) {
	last := int32(len(text) - 1)
	c := text[last]
	sa[b.at[c]] = complementIf(last, text[last-1] < c)
	b.at[c]++
	for from := 0; from < len(sa); from += piece {
		induce(sa, text, b.at, from, min(from+piece, len(sa)))
		checkpoint()
	}
}

// The loops over a piece are functions of their own, so that their variables stay in registers.

// induceLPartialPiece places the L suffixes by the order of the LMS substrings, and keeps only
// those that an S suffix precedes.
func induceLPartialPiece[T symbol](sa []int32, text []T, at []int32, from, to int) {
	for i := from; i < to; i++ {
		j := sa[i]
		if j <= 0 {
			continue
		}
		sa[i] = 0
		k := j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] < c)
		}
		to := at[c]
		at[c] = to + 1
		sa[to] = v
	}
}

// induceSPartial places the S suffixes in the same way. It leaves the m LMS suffixes at the front
// of sa, in the order of their substrings.
func induceSPartial[T symbol](sa []int32, text []T, b buckets, m int, checkpoint func()) {
	top := len(sa)
	for end := len(sa); end > 0; end -= piece {
		top = induceSPartialPiece(sa, text, b.at, max(0, end-piece), end, top)
		checkpoint()
	}
	to := sa
	for left := sa[len(sa)-m:]; len(left) > 0; {
		part, rest := firstPiece(left)
		to = to[copy(to, part):]
		left = rest
		checkpoint()
	}
}

// induceSPartialPiece collects LMS suffixes at sa[top:] and returns the new top.
func induceSPartialPiece[T symbol](sa []int32, text []T, at []int32, from, end, top int) int {
	for i := end - 1; i >= from; i-- {
		j := sa[i]
		if j >= 0 {
			if j > 0 {
				top--
				sa[top] = j
			}
			continue
		}
		k := ^j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] <= c)
		}
		to := at[c] - 1
		at[c] = to
		sa[to] = v
	}
	return top
}

// induceLPiece places all L suffixes by the order of the LMS suffixes.
func induceLPiece[T symbol](sa []int32, text []T, at []int32, from, to int) {
	for i := from; i < to; i++ {
		j := sa[i]
		if j <= 0 {
			continue
		}
		k := j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] < c)
		}
		to := at[c]
		at[c] = to + 1
		sa[to] = v
	}
}

// induceS places the S suffixes.
func induceS[T symbol](sa []int32, text []T, b buckets, checkpoint func()) {
	for end := len(sa); end > 0; end -= piece {
		induceSPiece(sa, text, b.at, max(0, end-piece), end)
		checkpoint()
	}
}

func induceSPiece[T symbol](sa []int32, text []T, at []int32, from, end int) {
	for i := end - 1; i >= from; i-- {
		j := sa[i]
		if j >= 0 {
			continue
		}
		sa[i] = ^j
		k := ^j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] <= c)
		}
		to := at[c] - 1
		at[c] = to
		sa[to] = v
	}
}
