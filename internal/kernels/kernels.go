// Package kernels holds the inner loops of this module's match finders and coders: those of no use
// elsewhere. The others are in package simd, which describes tiers, the variable PZ_SIMD and the
// build tag noasm. A kernel takes slices and returns sequences, byte streams, symbols, counts or
// costs. It knows no format and starts no goroutine. All functions are safe for concurrent use on
// different memory.
//
// The program in _asm generates the assembly for amd64, also that of package simd. The assembly for
// arm64 is written by hand.
//
// # Kernels and portable twins
//
// Each kernel has a portable twin in Go that gives the same results and is always compiled. Many
// twins are in this package, and a function runs its twin where there is no kernel. The twins of
// kernels for sequences and Huffman codes are in the packages that call them. Such a function
// returns ok = false without a kernel, or a function Has… reports whether there is one, and its
// caller runs the twin. A tier uses the kernels of the lower tiers where it has none of its own.
//
//	function              kernel for                  twin
//	MarkX86Displacements  avx2                        here
//	DecodeTable.Build     avx2                        here
//	DecodeLanes           avx2                        here
//	DecodeLanes2          avx2, avx512                here
//	EncodeLanes           avx2, avx512                here
//	DecodeCtx             avx2, avx512 with VBMI      here
//	DecodeCtx2            avx2, avx512 with VBMI      none: decodes no rounds
//	Deinterleave          avx2                        here
//	EncodeCtx             avx2                        here
//	CheapestTables        avx2                        here
//	NonZero               avx2                        here
//	Execute               avx2, neon                  lz77
//	ExecuteNear           avx2                        zstd
//	DecodeSequences       avx2                        zstd
//	DecodeHuffman4        avx2                        huffman
//	EncodeHuffman2        avx2                        huffman
//	SequenceCodes         avx2                        zstd
//	EncodeSequences       avx2                        zstd
//	Inflate               avx2                        inflate
//	InflateSymbols        avx2                        inflate
//	ResolveSymbols        avx2                        here
//	CopyLiterals          avx2                        lz77
//	DecodeTokensRepeat    avx2                        lzseq
//	DecodeTokensPlain     avx2                        lzseq
//	EncodeOffsets         avx2                        lzseq
//	EncodeLengths         avx2                        lzseq
//	MarkRunStarts         avx2                        lzseq
//	ParseSingle           avx2                        lz77
//	ParseDouble           avx2                        lz77
//	ParseDoubleLazy       avx2                        lz77
//	ParseRowHash          avx2                        lz77
//	ParseCandidates       avx2                        lz77
//	ParseHashChain        avx2                        lz77
//	SlideHashChain        avx2                        here
//	SearchTree            avx2                        here
//	SearchMultiHash       avx2                        here
//	PathCosts             avx2                        here
//	RelaxPaths            avx2                        optimal
//
// # Memory
//
// No kernel touches memory outside its slices. Some read or write whole vectors; the slack this
// takes is part of the slices, and the functions say how many bytes it is.
//
// # Time
//
// The Go runtime cannot interrupt assembly, and a garbage collection waits for it. So one call of
// an assembly function handles at most 128 KiB of content or 1,024 sequences, about 50 µs.
// Functions of this package call it again, or return early and let the caller do so.
package kernels
