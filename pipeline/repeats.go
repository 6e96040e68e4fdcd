package pipeline

import (
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/lz77"
)

// repeatCost is about what the match of a repeat takes in a .zst block, in bytes. Its offset is
// long.
const repeatCost = 8

// sequenceCost is about what other matches take.
const sequenceCost = 3

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
	if m.done += lits + match; m.done == end {
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
