package kernels

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
