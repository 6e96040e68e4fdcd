package pzfile

import (
	"bytes"
	"math"
	"sort"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// reconcileRest ends the stream at the offset to with its index, if an intact one ends there. The
// end of the stream's blocks is lost then.
func (s *search) reconcileRest(to int64) {
	p := s.Peek(s.small[:], to-FooterSize)
	if len(p) < FooterSize {
		return
	}
	f, err := ParseFooter(p)
	tail := to - TailSize(f.Units)
	if err != nil || tail < s.back || s.checkTail(tail, f.Units) != nil {
		return
	}
	if p := s.Peek(s.small[:EndMarkerSize], tail); len(p) == EndMarkerSize && IsEndMarker(p) {
		s.reconcile(tail, f)
	}
}

// checkTail compares the check of the footer with end marker and index, which begin at tail. The
// Detail of an error says what is wrong; one without Detail means that the tail cannot be read.
func (s *search) checkTail(tail, units int64) *errs.Error {
	var sum uint32
	footer := tail + TailSize(units) - FooterSize
	for pos := tail; pos < footer; {
		p := s.Peek(s.buf[:min(int64(len(s.buf)), footer-pos)], pos)
		if len(p) == 0 {
			return &errs.Error{Kind: errs.Truncated}
		}
		sum = Checksum(sum, p)
		pos += int64(len(p))
	}
	p := s.Peek(s.small[:], footer)
	if len(p) < FooterSize {
		return &errs.Error{Kind: errs.Truncated}
	}
	f, err := ParseFooter(p)
	if err == nil {
		err = f.CheckTail(sum, p)
	}
	if err != nil {
		return &errs.Error{Kind: errs.Corrupt, Detail: "index: " + err.Error()}
	}
	return nil
}

// reconcile completes the gaps of the stream by its index: how many blocks are lost in each, and
// how much content they had. The end marker is at tail, and footer and index are intact. If the
// index contradicts the blocks that the search has found, it is not theirs, the gaps stay as they
// are, and the result is false.
func (s *search) reconcile(tail int64, f Footer) bool {
	gaps, blocks := s.Gaps[s.firstGap:], s.File.Blocks[s.firstBlock:]
	if s.head.Small {
		return false
	}
	type missing struct {
		blocks, content int64
		until           int64 // number of the block behind the gap
	}
	lost := make([]missing, len(gaps))
	for i := range gaps {
		lost[i].until = s.numberBehind(i + s.firstGap)
	}
	number, at, found := int64(0), 0, 0
	var sum indexSum
	intact := s.eachEntry(tail, f.Units, func(e Entry) bool {
		for at < len(gaps) && number >= lost[at].until {
			at++
		}
		if at < len(gaps) && number >= gaps[at].Block {
			lost[at].blocks++
			lost[at].content += int64(e.Raw)
		} else {
			if found == len(blocks) || !e.describes(blocks[found]) {
				return false
			}
			found++
		}
		sum.addEntry(e)
		number++
		return true
	})
	if !intact || found < len(blocks) || !s.addsUp(&sum, tail, f) {
		return false
	}
	for i := range gaps {
		g := &gaps[i]
		g.Blocks, g.Content = lost[i].blocks, lost[i].content
		g.Kind = index.DamageFrame
		if g.Blocks > 0 {
			g.Kind = index.DamageBlocks
		}
	}
	return true
}

// An indexSum adds up the entries of an index.
type indexSum struct {
	content int64
	size    int64 // of the entries, in bytes
	short   bool  // one of them is short
}

func (t *indexSum) addEntry(e Entry) {
	t.content += int64(e.Raw)
	t.size += int64(e.Size())
	t.short = t.short || e.Short
}

// addsUp reports whether the end marker at tail and the footer belong to an index with that sum.
func (s *search) addsUp(sum *indexSum, tail int64, f Footer) bool {
	var marker [EndMarkerSize]byte
	appendEndMarker(marker[:0], f.Units, sum.short)
	return sum.content == f.Content && indexUnits(sum.size) == f.Units &&
		string(s.Peek(s.small[:EndMarkerSize], tail)) == string(marker[:])
}

// describes reports whether e can be the entry of a block.
func (e Entry) describes(b index.Block) bool {
	own := e.block(b.Offset)
	return sameEntry(&own, &b)
}

// numberBehind returns the number in the stream of what follows a gap of the stream: another gap,
// or a block. Behind the last one everything is lost.
func (s *search) numberBehind(gap int) int64 {
	before := s.Gaps[gap].Before
	switch {
	case gap+1 < len(s.Gaps) && s.Gaps[gap+1].Before == before:
		return s.Gaps[gap+1].Block
	case before >= int64(len(s.File.Blocks)):
		return math.MaxInt64
	}
	rows := s.File.Streams
	i := sort.Search(len(rows), func(i int) bool { return rows[i].First > before }) - 1
	return rows[i].Skipped + before - rows[i].First
}

// eachEntry calls f for each entry of the index behind the end marker at tail, until f returns
// false. It reports whether all entries are valid and f has returned true for each.
func (s *search) eachEntry(tail, units int64, f func(Entry) bool) bool {
	pos, end := tail+EndMarkerSize, tail+EndMarkerSize+UnitSize*units
	for pos < end {
		p := s.Peek(s.buf[:min(int64(len(s.buf)), end-pos)], pos)
		used := 0
		for used < len(p) && p[used] != 0 && len(p)-used >= entrySize(p[used]) {
			e, err := ParseEntry(p[used:], s.head.BlockSize)
			if err != nil || !f(e) {
				return false
			}
			used += e.Size()
		}
		if used == 0 { // zeros fill the last unit
			return len(p) > 0 && len(bytes.Trim(p, "\x00")) == 0 && end-pos < UnitSize
		}
		pos += int64(used)
	}
	return true
}
