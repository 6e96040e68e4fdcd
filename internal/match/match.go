// Package match finds the sequences of blocks at all levels: with the greedy and lazy parsers of
// package lz77, and with the optimal parser, which needs the prices of the coded form.
package match

import (
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// Params configures a search.
type Params struct {
	lz77.Params                // of a greedy or lazy parser, unless Optimal
	Priced      optimal.Params // of the optimal parser
}

// Optimal reports whether p configures the optimal parser. If so the embedded Params are not used.
func (p *Params) Optimal() bool { return p.Priced.Finder != optimal.None }

// Memory returns the scratch memory in bytes that a Matcher needs for blocks of up to size bytes,
// including the bytes in front of them.
func (p *Params) Memory(size int, f *optimal.Form) int {
	if p.Optimal() {
		return p.Priced.Memory(size, f)
	}
	return p.Params.Memory(size)
}

// MaxLevel is the highest level.
const MaxLevel = 9

// Levels holds the settings of levels 1 to MaxLevel, from the fastest to the densest; entry 0 is
// not used. docs/notes/match-finding.md lists the alternatives that were measured.
//
//   - 1 to 7: those of lz77.Levels.
//   - 8: optimal parsing with the finder that costs least. HashLog 17 is 1.6% larger at 1.02 times
//     the speed.
//   - 9: exact matches and a second path. Nice 128 makes tables 3% larger.
var Levels = [MaxLevel + 1]Params{
	1: {Params: lz77.Levels[1]},
	2: {Params: lz77.Levels[2]},
	3: {Params: lz77.Levels[3]},
	4: {Params: lz77.Levels[4]},
	5: {Params: lz77.Levels[5]},
	6: {Params: lz77.Levels[6]},
	7: {Params: lz77.Levels[7]},
	8: {Priced: optimal.Params{
		Finder: optimal.MultiHash, HashLog: 19, MinMatch: 4, Nice: 256, Passes: 2, MaxMisses: 1,
		SkipInMatch: 32,
	}},
	9: {Priced: optimal.Params{
		Finder: optimal.LCPIntervals, Nice: 256, Passes: 2, MaxMisses: 1, SkipInMatch: 96,
		KeepSecondPath: true,
	}},
}

// Matcher finds the sequences of blocks. The zero value is ready to use. A Matcher keeps its tables
// from call to call and is not safe for concurrent use. Its Checkpoint serves all parsers.
type Matcher struct {
	lz77.Matcher
	// Helper may find candidates for the optimal parser while it parses. Nil stands for none. The
	// sequences are the same with and without it. Checkpoint is not called on its goroutine.
	Helper optimal.Helper

	optimal *optimal.Parser // nil until a block needs it
}

// ParseFrom appends the sequences of src[start:] to dst. Matches may reach back into src[:start]. A
// block of fewer than 16 bytes has none. ParseFrom panics if f is out of range.
func (m *Matcher) ParseFrom(
	dst []lz77.Sequence, src []byte, start int, p *Params, f *optimal.Form,
) []lz77.Sequence {
	if !p.Optimal() {
		return m.Matcher.ParseFrom(dst, src, start, &p.Params, f.Limits)
	}
	if m.optimal == nil {
		m.optimal = new(optimal.Parser)
	}
	return m.optimal.Parse(dst, src, start, &p.Priced, f, m.Helper, m.Checkpoint)
}

// Position returns how far the parse is, in bytes of content. It is for Checkpoint. Preparing the
// match finder counts as a part of the content, so that Position grows evenly with time. It never
// falls during a parse, and outside of one it is 0.
func (m *Matcher) Position() int {
	if m.optimal != nil {
		return max(m.Matcher.Position(), m.optimal.Position())
	}
	return m.Matcher.Position()
}
