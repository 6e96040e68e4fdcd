package kernels

// Execute carries out sequences: it copies literals and matches to the output. It is the second
// half of decompression, after DecodeTokensRepeat or DecodeTokensPlain.
//
// The kernels copy 16 literals and 32 bytes of match for every sequence, regardless of its lengths.
// Most are shorter, and a branch for longer ones is predicted well. Where long matches are frequent
// a second AVX2 kernel copies 96 bytes; a sample of the sequences decides. Copies of 16 bytes are
// correct for overlapping matches because offsets are at least 16.
//
// The portable twin is in package lz77. It also handles all sequences that the kernel leaves.

// CopySlack is how many bytes behind the content Execute may write, and behind the literals it may
// read.
const CopySlack = 32

// Execute carries out sequences from the first one on. It writes to dst from position at on, and
// reads literals from the front of lits. For an offset below 16 the bytes copied are unspecified
// bytes of dst.
//
// Execute stops before a sequence that would leave less than CopySlack bytes of dst or of lits, and
// before one whose offset reaches before the beginning of dst. It may stop anywhere else, to bound
// the time of a call. It returns the number of sequences carried out, the position behind the last
// one, and the number of literals used. ok = false means that the tier has no kernel: nothing is
// done. For any arguments Execute touches nothing outside the slices.
//
// Portable twin: lz77/execute.go.
func Execute[S Sequence](
	dst []byte, at int, lits []byte, seqs []S,
) (done, end, used int, ok bool) {
	return executeKernel(dst, at, lits, raw(seqs))
}

// ExecuteNear is Execute for offsets from 1 on. With an offset of 0 the bytes copied are
// unspecified bytes of dst.
//
// Portable twin: internal/codec/zstd/decode_execute.go.
func ExecuteNear[S Sequence](
	dst []byte, at int, lits []byte, seqs []S,
) (done, end, used int, ok bool) {
	return executeNearKernel(dst, at, lits, raw(seqs))
}

// CopyLiterals copies the literals of sequences, which describe the front of src, one after the
// other to dst. It stops before a sequence with more than 256 literals, and within 288 bytes of the
// end of src or dst. It may stop anywhere else. It returns the number of sequences, of literals,
// and of bytes of content. The latter exceeds len(src) only if the matches do. ok = false means
// that the tier has no kernel: nothing is done. CopyLiterals may overwrite all of dst.
//
// Portable twin: lz77/literals.go.
func CopyLiterals[S Sequence](dst, src []byte, seqs []S) (done, used, read int, ok bool) {
	return copyLiteralsKernel(dst, src, raw(seqs))
}
