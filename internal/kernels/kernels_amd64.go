//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

// The files *_amd64.go select the assembly for amd64: this one for displacements, lanes_amd64.go
// for rANS lanes, ctx_amd64.go for context-coded runs, tokens_amd64.go for sequences and their
// streams, parse_amd64.go, hashchain_amd64.go, pathcosts_amd64.go and tree_amd64.go for parsers. A
// function returns false if the portable twin is to do the work.

func markDisplacementsKernel(masks []uint64, p []byte) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	for len(masks) > 0 {
		n := min(len(masks), maxCallBytes/64)
		markDisplacementsAVX2(masks[:n], p)
		masks, p = masks[n:], p[64*n:]
	}
	return true
}
