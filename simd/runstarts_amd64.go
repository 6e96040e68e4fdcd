//go:build amd64 && !noasm

package simd

func markRunStartsKernel(bits []uint64, at uint64, tokens, litLens []byte) (done, used int, end uint64, ok bool) {
	if current() == portable {
		return 0, 0, at, false
	}
	if at/64 >= uint64(len(bits)) {
		return 0, 0, at, true
	}
	tokens = tokens[:min(len(tokens), maxCallBytes)]
	if len(litLens) >= MarkStep {
		done, used, at = markRunStartsAVX2(bits, at, tokens, litLens)
		tokens, litLens = tokens[done:], litLens[used:]
	}
	if len(litLens) < MarkStep && len(tokens) >= MarkStep && at/64 < uint64(len(bits)) {
		// The kernel reads MarkStep lengths for the last one as well. Those that there are not are too long for it.
		last := [2 * MarkStep]byte{}
		for i := copy(last[:], litLens); i < len(last); i++ {
			last[i] = 255
		}
		more, lens, next := markRunStartsAVX2(bits, at, tokens, last[:])
		done, used, at = done+more, used+lens, next
	}
	return done, used, at, true
}
