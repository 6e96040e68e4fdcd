// Package model has what plain and context-coded rANS streams share.
package model

import "github.com/gopz/compress/simd"

// The parameters of the coder; part of the format.
const (
	ProbBits  = simd.ProbBits // frequencies of a table sum to 1<<probBits
	ProbScale = 1 << ProbBits // 2048
	MinState  = simd.StateMin // states are in [lower, lower<<16)

	Lanes = simd.Lanes // of a full group
)

// smallLimit is the number of coded symbols from which there are two groups of 32 lanes; part of the format. Below it there is
// one group of four: 64 states cost about 130 bytes more than they carry, but four lanes decode symbol by symbol. With 8,192 instead of 16,384 the
// blocks of 128 KiB of dickens+mr+nci+xml are 0.27% larger and decode 1.4 times as fast; those of 1 MiB are the same.
const SmallLimit = 8192

// Slack is the number of bytes behind the end of each decoded stream that the caller may read, and that a decoder's
// buffers have room for: copy loops work in blocks of 16 and 32 bytes.
const Slack = 64

// A CorruptError says what a decoder did not accept in its input.
type CorruptError string

func (e CorruptError) Error() string { return "rans: corrupt input: " + string(e) }
