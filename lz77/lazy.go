package lz77

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// The lazy parser takes the best match at each position, unless one of the next Lazy positions has
// a better one (as zlib's deflate_slow does). A match with a new offset that saves nothing is left
// out; see literalCosts.
//
// It works on segments that do not depend on one another, so that a device can parse all segments
// of a block at the same time. Candidates lie anywhere in the block. What the parse itself makes
// does not pass from one segment to the next:
//
//   - A segment begins without repeat offsets. Its own ones are in the list of the whole block too,
//     in the same order, so they are repeat offsets there.
//   - The costs of literals begin with those of all bytes just in front of the segment.
//   - A match is cut at the end of its segment, and dropped if what is left is too short. If the
//     first match of the next segment continues it, the two are joined.
//
// Cost: one search per position that no match covers, plus up to Lazy searches per match.

// lazyCost[k] is the number of bits by which a match k positions later must be better. Each
// position costs a literal.
var lazyCost = [3]int{0, 4, 7}

const (
	// segmentCostBytes is the number of bytes in front of a segment that the first costs of its
	// literals come from. All bytes of the segment before take 1% of the time of level 5, for the
	// same sizes.
	segmentCostBytes = 16 << 10
	// noRepeat stands for a repeat offset that a segment does not have yet. No match has it.
	noRepeat = 1 << 30
	// rowCheckpointBytes is the content in bytes between checkpoints of RowHash.
	rowCheckpointBytes = checkpointBytes / 16
)

// segment is a segment of a lazy parse, and what joins it to the ones before.
type segment struct {
	// src ends where matches of the segment may end. That is some bytes behind the segment, as
	// parts of matches behind it do not count.
	src   []byte
	begin int
	end   int // matches begin before it
	limit int // matches are cut here

	start  int // begin of the block
	own    int // number of sequences in front of those of the block
	first  int // and in front of those of the segment
	anchor int // end of the last match of the segments before
}

// parseLazy appends the sequences of src[start:] to dst, with candidates from rows or from
// m.candidates.
func (m *Matcher) parseLazy(dst []Sequence, src []byte, start int) []Sequence {
	m.minMatch = m.params.minNewMatch(&m.limits)
	var st kernels.RowHashParse
	kernel := m.beginKernel(&st, len(src))
	if !kernel && m.candidates == nil {
		m.rows.reset(&m.params, len(src))
	}
	end := len(src) - finder.Tail
	s := segment{start: start, own: len(dst), anchor: start}
	for s.begin = start; s.begin < end; s.begin += finder.SegmentSize {
		s.limit = s.begin + finder.SegmentSize
		s.end = min(s.limit, end)
		if s.limit >= end {
			s.limit = len(src)
		}
		reach := min(s.end+m.params.Nice+finder.Tail, len(src))
		s.src = src[:reach:reach]
		s.first = len(dst)
		m.costs.resetSegment(len(dst), src, s.begin, min(segmentCostBytes, s.begin-start))
		behind := 0
		if kernel {
			dst, behind = m.parseSegmentKernel(dst, &s, &st)
		} else {
			dst, behind = m.parseSegment(dst, &s)
		}
		dst = s.join(dst, behind, m.limits.MinMatch)
	}
	if kernel {
		m.badCandidate = st.BadCandidate()
	}
	return dst
}

// parseSegment appends the sequences of a segment to dst, as if the block began with it. It returns
// the end of the last one.
func (m *Matcher) parseSegment(dst []Sequence, s *segment) (_ []Sequence, behind int) {
	reps := repeatOffsets{noRepeat, noRepeat, noRepeat}
	src, end := s.src, s.end
	anchor, i := s.begin, s.begin
	for i < end {
		if i-s.start >= m.position+rowCheckpointBytes {
			m.reach(i - s.start)
		}
		best := m.bestMatch(src, i, &reps, 0)
		if best.length == 0 {
			// Long stretches without a match are likely to go on.
			i += min(1+(i-anchor)>>8, maxStep)
			continue
		}
		at := i
		for k := 1; k <= m.params.Lazy && at+k < end && best.length < m.params.Nice; k++ {
			least := best.score + lazyCost[k]
			if next := m.bestMatch(src, at+k, &reps, least); next.score > least {
				at += k
				best, k = next, 0
			}
		}
		if best.offset != reps[0] && best.offset != reps[1] && best.offset != reps[2] &&
			!m.costs.pays(dst, src, at, best.length, best.offset, m.Checkpoint) {
			i = m.rows.next // behind the last position searched
			continue
		}
		c := at - best.offset
		for at > anchor && c > 0 && src[at-1] == src[c-1] {
			at--
			c--
			best.length++
		}
		dst = append(dst, Sequence{
			LitLen: uint32(at - anchor), MatchLen: uint32(best.length), Offset: uint32(best.offset),
		})
		reps.Use(best.offset)
		i = at + best.length
		anchor = i
	}
	return dst, anchor
}

// join ends a segment whose last match ends at behind: it cuts that match, and joins the sequences
// to those before. A match that is cut has at least minMatch bytes.
func (s *segment) join(dst []Sequence, behind, minMatch int) []Sequence {
	if over := behind - s.limit; over > 0 {
		q := &dst[len(dst)-1]
		if int(q.MatchLen)-over >= minMatch {
			q.MatchLen -= uint32(over)
			behind = s.limit
		} else {
			behind -= int(q.LitLen + q.MatchLen)
			dst = dst[:len(dst)-1]
		}
	}
	if len(dst) == s.first {
		return dst
	}
	q := &dst[s.first]
	q.LitLen += uint32(s.begin - s.anchor)
	s.anchor = behind
	if s.first > s.own && q.LitLen == 0 && q.Offset == dst[s.first-1].Offset {
		dst[s.first-1].MatchLen += q.MatchLen
		dst = append(dst[:s.first], dst[s.first+1:]...)
	}
	return dst
}
