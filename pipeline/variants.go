package pipeline

import (
	"sync"

	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// variant is other settings that tuning may choose for a block of a level. They take no more memory
// than the level's own.
type variant struct {
	match.Params
	// gain is how much smaller than with the level's own settings a sample must be, in 1/256. A
	// sample has fewer matches than the block, and nearer ones, which favours hashes of few bytes.
	gain uint8
}

// variants are those of each level. They are constant: a device that was given up may still read
// them.
type variants [MaxLevel + 1][]variant

// Indices of the variants that likelyVariant returns, by finder.
const (
	// SingleHash
	fiveBytes  = 0
	sixBytes   = 1
	eightBytes = 2
	// DoubleHash
	fourBytes  = 0
	sevenBytes = 1
	// optimal parsing
	thorough = 0
)

// variantsOf returns a function that returns the variants of levels. The first call makes them.
func variantsOf(levels *[MaxLevel + 1]match.Params) func() *variants {
	return sync.OnceValue(func() *variants { return makeVariants(levels) })
}

func makeVariants(levels *[MaxLevel + 1]match.Params) *variants {
	var v variants
	for level := 1; level <= MaxLevel; level++ {
		own := levels[level]
		hash := func(bytes, skip, gain uint8) {
			p := own
			p.HashBytes, p.SkipLog = bytes, max(p.SkipLog, skip)
			v[level] = append(v[level], variant{p, gain})
		}
		// RowHash, HashChain and BinaryTree have no variants. A large window has short matches for
		// everything, and a sample does not show their cost to RowHash. The others hash 3 and 4
		// bytes at any level.
		switch {
		case own.Priced.Finder == optimal.MultiHash, own.Priced.Finder == optimal.LCPIntervals:
			p := own
			p.Priced.SkipInMatch, p.Priced.MaxMisses = 0, max(p.Priced.MaxMisses, 4)
			v[level] = append(v[level], variant{p, 5})
		case own.Optimal():
		case own.Finder == lz77.SingleHash:
			hash(5, 7, 7)
			hash(6, 5, 8)
			hash(8, 0, 29-4*own.HashBytes)
		case own.Finder == lz77.DoubleHash:
			hash(4, 0, 4)
			hash(7, 0, 8)
		}
	}
	return &v
}

// checkpointSampled is the number of bytes of a sample between checkpoints.
const checkpointSampled = 1 << 19

// shortMatch is the longest match in bytes that a hash of 7 does not find.
const shortMatch = 6

// likelyVariant returns the index of the variant that the sample's bytes, and its sequences with
// the level's own settings, suggest. It returns −1 for none.
func (t *tuner) likelyVariant(
	seqs []lz77.Sequence, own *match.Params, checkpoint func(),
) int {
	matched, short := 0, 0
	for i := range seqs {
		matched += int(seqs[i].MatchLen)
		if seqs[i].MatchLen <= shortMatch {
			short++
		}
	}
	n, binary := len(t.sample), 0
	for i, c := range t.sample {
		if i%checkpointSampled == 0 {
			checkpoint()
		}
		if c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			binary++
		}
	}
	text := binary <= n/4
	switch {
	case own.Optimal():
		if matched > n*7/8 {
			return thorough
		}
	case own.Finder == lz77.SingleHash:
		switch {
		case own.HashBytes == 5 || text && matched >= n*3/4:
			return eightBytes
		case !text && matched < n*15/16:
			return fiveBytes
		case text:
			return sixBytes
		}
	case !text && short > len(seqs)*3/8:
		return fourBytes
	case text && short > len(seqs)*5/8:
		return sevenBytes
	}
	return -1
}
