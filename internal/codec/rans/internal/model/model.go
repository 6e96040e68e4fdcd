// Package model holds what plain and context-coded rANS streams share: the parameters of the coder,
// frequency tables and their costs, the heads of lane groups, and numbers of variable length.
//
// It serves packages rans and internal/codec/rans/internal/ctx only.
package model

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/kernels"
)

// The parameters of the coder. They are part of the format.
const (
	ProbBits  = kernels.ProbBits // the frequencies of a table sum to 1<<ProbBits
	ProbScale = 1 << ProbBits    // 2048
	MinState  = kernels.StateMin // a state is in [MinState, MinState<<16)
	Lanes     = kernels.Lanes    // number of lanes of a full group
)

// SmallLimit is the number of coded symbols from which there are full lane groups, two at least. It
// is part of the format.
//
// Shorter inputs have a single group: the 64 states of two groups waste about 130 bytes. Compared
// with 16,384, blocks of 128 KiB are 0.27% larger and decode 1.4 times as fast.
const SmallLimit = 8192

// Slack is the spare capacity of a decoded stream, in bytes. Copy loops may read and write that far
// behind its end.
const Slack = 64

// CorruptError describes why a decoder rejected its input.
type CorruptError string

// Error implements error.
func (e CorruptError) Error() string { return "rans: corrupt input: " + string(e) }

// Uvarint reads a number below 2³² of at most five bytes from the front of src. A size of 0 means
// that there is none.
func Uvarint(src []byte) (v uint64, size int) {
	v, size = binary.Uvarint(src[:min(len(src), binary.MaxVarintLen32)])
	if size <= 0 || v >= 1<<32 {
		return 0, 0
	}
	return v, size
}

// GrowStream sets the length of *s to n and leaves Slack bytes of capacity behind it. It reuses the
// memory of *s if that suffices. n must not exceed limit; both are in bytes.
func GrowStream(s *[]byte, n uint64, limit int) {
	if uint64(cap(*s)) < n+Slack {
		// Sizes vary from block to block. An eighth more capacity avoids repeated growth.
		*s = make([]byte, n, min(int(n+n/8), limit)+Slack)
	}
	*s = (*s)[:n]
}
