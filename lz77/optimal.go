package lz77

import "github.com/gopz/compress/lz77/internal/optimal"

// This file gives the types of the optimal parser their public names. Their fields and methods are
// described in lz77/internal/optimal.

type (
	// PriceModel gives the prices of sequences in a coded form. The optimal parser minimises the
	// sum of these prices. A PriceModel must not change while it is in use and must be safe for
	// concurrent use. Its methods are described in lz77/internal/optimal/price.go.
	PriceModel = optimal.PriceModel

	// Rules lists the properties of a coded form that the optimal parser must know and Limits
	// lacks. Its fields are described in lz77/internal/optimal/price.go.
	Rules = optimal.Rules

	// Step is a Sequence with the Kind of its offset: 0 … 2 for a repeat offset, or NewOffset.
	Step = optimal.Step

	// Prices holds the prices of the parts of sequences, in units of 1/PriceBit bit. Its fields are
	// described in lz77/internal/optimal/price.go.
	Prices = optimal.Prices

	// Counts holds frequencies of symbols. The PriceModel defines the alphabets besides literals.
	Counts = optimal.Counts

	// Contexts defines the contexts of literals: what a coder knows from the two bytes in front of
	// a literal, if those are literals of the same run.
	Contexts = optimal.Contexts

	// BlockSplitter cuts content into blocks, for forms that are written in blocks with codes of
	// their own. It takes at most 2 bytes of memory for each byte of content, and a few thousand,
	// and is not safe for concurrent use.
	BlockSplitter = optimal.BlockSplitter

	// Helper runs a part of a parse on another goroutine if a processor is free.
	Helper = optimal.Helper
)

const (
	// PriceBit is the price of one bit. Prices are integers, so that every machine makes the same
	// choices.
	PriceBit = optimal.PriceBit

	// NewOffset is the kind of an offset that is no repeat offset. The kinds below it are the
	// repeat offsets, the most recent first.
	NewOffset = optimal.NewOffset
	// OffsetKinds is the number of kinds of offsets.
	OffsetKinds = optimal.OffsetKinds

	// PricedRuns, PricedLengths and PricedRunClasses are the sizes of the tables in Prices. Longer
	// runs and lengths cost what the last entry says.
	PricedRuns       = optimal.PricedRuns
	PricedLengths    = optimal.PricedLengths
	PricedRunClasses = optimal.PricedRunClasses

	// MaxContextClasses is the greatest number of classes of literals. The first literals of runs
	// have a class of their own besides.
	MaxContextClasses = optimal.MaxContextClasses

	// MaxChunk is the most content in bytes that is parsed with the same prices.
	MaxChunk = optimal.MaxChunk
)

// SymbolPrices sets prices[i] to the ideal price of symbol i, −log₂ of its relative frequency,
// bounded by least and most. A symbol that does not occur costs as if it had occurred half a time.
func SymbolPrices(prices []int32, counts []uint32, least, most int32) {
	optimal.SymbolPrices(prices, counts, least, most)
}

// parseOptimal appends the sequences of src[start:] to dst.
func (m *Matcher) parseOptimal(dst []Sequence, src []byte, start int) []Sequence {
	if m.optimal == nil {
		m.optimal = new(optimal.Parser)
	}
	return m.optimal.Parse(dst, src, start, optimalConfig(&m.params, &m.limits), m.Helper, m.Checkpoint)
}

// optimalConfig returns the settings of the optimal parser.
func optimalConfig(p *Params, l *Limits) optimal.Config {
	finder := optimal.BinaryTree
	switch p.Finder {
	case MultiHash:
		finder = optimal.MultiHash
	case LCPIntervals:
		finder = optimal.LCPIntervals
	}
	return optimal.Config{
		Finder: finder, HashLog: p.HashLog, Depth: p.Depth, Nice: p.Nice,
		Passes: p.Passes, MaxMisses: p.MaxMisses, SkipInMatch: p.SkipInMatch,
		KeepSecondPath: p.KeepSecondPath,

		MinNew: p.minNewMatch(l), MinRepeat: l.minRepeat(), BoundSequences: l.MinRepeat > 0,
		MinOffset: l.minOffset(), MaxOffset: l.MaxOffset, Repeats: l.Repeats,
		Model: l.Model, Contexts: l.Contexts,
	}
}
