//go:build (amd64 || arm64) && !noasm

package kernels

// Limits of one call of an assembly function. The runtime cannot interrupt it.
const (
	// maxCallBytes is the most bytes of content that one call handles, in about 50 µs. A parse with
	// two hash tables starts no match beyond them, but finishes the current one.
	maxCallBytes = 1 << 17

	// maxCallSequences is the most sequences that one call handles: 5 µs if their matches copy from
	// the caches, 50 µs if half of them copy from memory.
	maxCallSequences = 1 << 10
)

const sequenceSize = 12 // bytes of a rawSequence
