package kernels

// SequenceBits is the state of decoding sequences of zstd from a string of bits. Package zstd has
// an essay on it.
type SequenceBits struct {
	State         [3]uint32 // of the literal run, the offset and the match length
	Repeats       [3]uint32
	MaxOffset     uint32 // largest offset so far
	Lits, Matches uint64 // sums of lengths so far, in bytes
	Left          int    // number of bits left
}

// SequenceCells holds the decoding tables of literal runs, offsets and match lengths.
type SequenceCells [3][512]uint64

// DecodeSequences decodes sequences from the first s.Left bits of src, which are read backward. It
// stops when fewer than 128 bits are left, and may stop anywhere else. It returns the number of
// sequences. For an offset of 0 the result is 1<<32 − 1. All states must be below 512, in cells
// too. src must have more than s.Left bits: there is an end mark behind them. ok = false means that
// the tier has no kernel: nothing is done.
//
// Portable twin: internal/codec/zstd/decode_sequences.go.
func DecodeSequences[S Sequence](
	s *SequenceBits, cells *SequenceCells, src []byte, seqs []S,
) (n int, ok bool) {
	if s.Left >= max(1, 8*len(src)) || s.State[0]|s.State[1]|s.State[2] >= uint32(len(cells[0])) {
		panic("kernels: SequenceBits out of range")
	}
	return decodeSequencesKernel(s, cells, src, raw(seqs))
}
