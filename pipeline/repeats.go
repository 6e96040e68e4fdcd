package pipeline

import (
	"slices"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/lz77"
)

// repeatCost is about what the match of a repeat takes in a .zst block, in bytes. Its offset is
// long.
const repeatCost = 8

// sequenceCost is about what other matches take.
const sequenceCost = 3

// longRepeat is the least length in bytes of a repeat in which no other matches are looked for.
// Behind it a match finder begins anew, which takes about as long as searching half of that.
const longRepeat = 256 << 10

// hasLongRepeat reports whether the block is searched by matchBetween.
func (b *Block) hasLongRepeat() bool {
	return slices.ContainsFunc(b.repeats, func(r ldm.Repeat) bool { return r.Len >= longRepeat })
}

// matchBetween finds the sequences of a block outside of its long repeats, which are literals.
func (ws *workspace) matchBetween(b *Block) {
	from, lits := b.Window, 0
	for _, r := range b.repeats {
		if r.Len >= longRepeat {
			to := b.Window + r.At
			lits = ws.matchPart(b, from, to, lits) + r.Len
			from = to + r.Len
		}
	}
	ws.matchPart(b, from, len(b.src), lits)
}

// matchPart adds the sequences of b.src[from:to], with so many literals in front of them. It
// returns the number of literals behind the last one.
func (ws *workspace) matchPart(b *Block, from, to, lits int) int {
	p, first := b.payload, len(b.payload.seqs)
	window := min(from, b.run.cfg.Reach)
	p.seqs = ws.matcher.ParseFrom(p.seqs, b.src[from-window:to], window, b.params(), b.form())
	if len(p.seqs) == first {
		return lits + to - from
	}
	p.seqs[first].LitLen += uint32(lits)
	lits += to - from
	for _, s := range p.seqs[first:] {
		lits -= int(s.LitLen + s.MatchLen)
	}
	return lits
}

// mergeRepeats makes matches of the repeats of a block, in place of the sequences there. It returns
// memory of the workspace, and leaves seqs to it.
func (ws *workspace) mergeRepeats(seqs []lz77.Sequence, repeats []ldm.Repeat) []lz77.Sequence {
	m := merger{left: seqs, out: ws.merged[:0]}
	for _, r := range repeats {
		m.copyTo(r.At)
		if m.cost(r.Len) > repeatCost {
			m.skipTo(r.At + r.Len)
			m.addMatch(r.Len, r.Distance)
		}
	}
	m.out = m.addLeft()
	ws.merged = seqs[:0]
	return m.out
}

// A merger copies sequences, and puts matches in their place.
type merger struct {
	left []lz77.Sequence // still to come
	at   int             // position in the content
	done int             // how far at is in left[0], in bytes
	lits int             // literals at the end of out
	out  []lz77.Sequence
}

// addMatch adds a match.
func (m *merger) addMatch(n, offset int) {
	if n < zstd.MinMatch {
		m.lits += n
		return
	}
	m.out = append(m.out, lz77.Sequence{
		LitLen: uint32(m.lits), MatchLen: uint32(n), Offset: uint32(offset),
	})
	m.lits = 0
}

// copyTo copies sequences up to a position.
func (m *merger) copyTo(to int) {
	for m.at < to {
		lits, match, offset := m.next(to - m.at)
		m.lits += lits
		m.addMatch(match, offset)
	}
}

// skipTo passes over sequences up to a position.
func (m *merger) skipTo(to int) {
	for m.at < to {
		m.next(to - m.at)
	}
}

// next goes on by at most n bytes: literals, and the match behind them.
func (m *merger) next(n int) (lits, match, offset int) {
	if len(m.left) == 0 {
		m.at += n
		return n, 0, 0
	}
	s := &m.left[0]
	lits = min(n, max(0, int(s.LitLen)-m.done))
	end := int(s.LitLen + s.MatchLen)
	match = min(n-lits, end-m.done-lits)
	m.at += lits + match
	m.done += lits + match
	if m.done == end {
		m.left, m.done = m.left[1:], 0
	}
	return lits, match, int(s.Offset)
}

// cost returns about what the sequences of the next n bytes take, in bytes.
func (m *merger) cost(n int) (cost int) {
	ahead := *m
	for to := m.at + n; ahead.at < to; {
		lits, match, _ := ahead.next(to - ahead.at)
		cost += lits
		if match > 0 {
			cost += sequenceCost
		}
	}
	return cost
}

// addLeft adds the sequences that are left.
func (m *merger) addLeft() []lz77.Sequence {
	if len(m.left) > 0 && (m.done > 0 || m.lits > 0) {
		s := m.left[0]
		lits := max(0, int(s.LitLen)-m.done)
		m.lits += lits
		match := int(s.LitLen+s.MatchLen) - m.done - lits
		m.addMatch(match, int(s.Offset))
		m.left = m.left[1:]
		if m.lits > 0 && len(m.left) > 0 {
			next := m.left[0]
			next.LitLen += uint32(m.lits)
			m.out = append(m.out, next)
			m.left = m.left[1:]
		}
	}
	return append(m.out, m.left...)
}
