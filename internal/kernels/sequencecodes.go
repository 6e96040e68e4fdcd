package kernels

// SequenceCode is a sequence of zstd before entropy coding. Package zstd has an essay on it.
type SequenceCode struct {
	Extra     uint64   // extra bits: of the literal run in the lowest bits, the match, the offset
	Codes     [3]uint8 // of the literal run, the offset and the match length
	ExtraBits uint8    // number of extra bits
	_         uint32
}

// LengthCodes has the codes of short lengths, and their numbers of extra bits.
type LengthCodes struct {
	Lits, LitBits      [64]uint8
	Matches, MatchBits [128]uint8 // of matches of 3 bytes and more
}

// CodeCounts has a counter for each code of a kind.
type CodeCounts [3][64]uint32

// SequenceCodes sets dst, which must be as long as seqs, to the codes of sequences. It counts the
// codes and updates the repeat offsets. A length that is not in the table has its logarithm plus a
// constant as code, modulo 64: 19 for literal runs and 36 for matches. It returns false if the tier
// has no kernel: nothing is done.
//
// Portable twin: internal/codec/zstd/body.go.
func SequenceCodes[S Sequence](
	dst []SequenceCode, counts *CodeCounts, repeats *[3]uint32, codes *LengthCodes, seqs []S,
) bool {
	if len(dst) != len(seqs) {
		panic("kernels: no room for codes")
	}
	return sequenceCodesKernel(dst, counts, repeats, codes, raw(seqs))
}

// StateTable is fse.Transitions, which this package cannot import.
type StateTable struct {
	Symbols [256]struct {
		Bits  uint32
		Place int32
	}
	States [1 << 12]uint16
}

// SequenceStates is the state of encoding sequences.
type SequenceStates struct {
	State [3]uint32 // of the literal run, the offset and the match length
	Have  uint32    // number of bits in Acc, below 8 between calls
	Acc   uint64    // bits that are not written yet
}

// EncodeSequences writes the bits of sequences to dst, the last one first: those that the states of
// the offset, the match length and the literal run emit, then the extra bits. It returns the number
// of whole bytes written. Room of 16 bytes for each sequence always suffices. Without room it
// panics. ok = false means that the tier has no kernel: nothing is done.
//
// All codes must have an entry in their tables, of the literal run, the offset and the match
// length.
//
// Portable twin: internal/codec/zstd/sequences.go.
func EncodeSequences(
	s *SequenceStates, tables [3]*StateTable, seqs []SequenceCode, dst []byte,
) (used int, ok bool) {
	if s.Have > 7 {
		panic("kernels: SequenceStates out of range")
	}
	return encodeSequencesKernel(s, tables, seqs, dst)
}
