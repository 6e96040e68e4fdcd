package lz77

import (
	"slices"

	"github.com/gopz/compress/lz77/internal/base"
)

// shortMatches puts short matches into the literal runs of a lazy parse. RowHash hashes 5 bytes or
// so, because shorter strings would displace longer ones from its rows. But programs, source and
// images have many near matches of 3 and 4 bytes.
//
// It keeps the last position of each hash of 3 and of 4 bytes. At each position of a literal run it
// takes the candidate that saves most, if one saves anything by the prices of the PriceModel. A
// match ends where the run ends. The prices follow from the sequences of the same chunk and of
// chunks before.
//
// Text gains next to nothing. So a chunk with a small gain makes the next one pass unchanged, and
// each further one twice as many.
//
// Cost: two insertions for each position, and two comparisons for each literal.
type shortMatches struct {
	last3, last4 []uint32 // last position by hash; 0 for none
	shift        uint8    // 32 − log2 of the size of the tables
	next         int      // first position that is not in the tables
	checkpointAt int      // position of the next checkpoint

	prices Prices
	counts Counts // that the prices are made from
	steps  []Step // of a chunk

	sparse         []Sequence // of the lazy parse
	gain, searched int64      // of a chunk: the price saved, and the literals searched
}

const (
	// shortLog is log2 of the entries of each table.
	shortLog = 15
	// shortChunk is the number of sequences with the same prices.
	shortChunk = 4096
	// leastShortGain is the price that each literal must save on average, as a divisor of PriceBit.
	// With 4 text is 0.6% larger and takes 0.8 of the time.
	leastShortGain = 8
	// maxShortSkip is the most chunks that pass unchanged in a row.
	maxShortSkip = 16
	// shortWarmup is the number of positions inserted in front of a chunk and at the end of a match.
	shortWarmup = 1 << 13
	// countedLiterals is the most literals of a run that count.
	countedLiterals = 1 << 10
)

// shortMemory is the memory of shortMatches for blocks of size bytes, in bytes.
func shortMemory(size int) int {
	const itself, seq = 96 << 10, 12
	return itself + 8<<base.TableLog(shortLog, size) + 20*shortChunk + seq*size/4*5/4
}

// fills reports whether a parse with p puts short matches into literal runs.
func (p *Params) fills(l *Limits) bool {
	return p.ShortMatches && p.Finder == RowHash && l.MinMatch == 3 && l.Repeats == 0 && l.Model != nil
}

// parseRows appends the sequences of src[start:] to dst: those of the lazy parser and, if the
// settings ask for them, short matches between.
func (m *Matcher) parseRows(dst []Sequence, src []byte, start int) []Sequence {
	if !m.params.fills(&m.limits) {
		return m.shortenPeriods(m.parseLazy(dst, src, start), len(dst), src, start)
	}
	if m.short == nil {
		m.short = new(shortMatches)
	}
	f := m.short
	f.sparse = m.shortenPeriods(m.parseLazy(f.sparse[:0], src, start), 0, src, start)
	f.reset(len(src), start)
	at, skip, left := start, 1, 0 // left is the number of chunks yet to pass unchanged
	for rest := f.sparse; len(rest) > 0; m.checkpoint() {
		part := rest[:min(len(rest), shortChunk)]
		rest = rest[len(part):]
		if left > 0 {
			left--
			for _, q := range part {
				dst = append(m.grow(dst), q)
				at += int(q.LitLen + q.MatchLen)
			}
			continue
		}
		f.setPrices(m.limits.Model, src, at, part)
		if dst, at = m.fillChunk(dst, src, at, part); f.gain*leastShortGain >= f.searched*PriceBit {
			skip = 1
		} else {
			left = skip
			skip = min(2*skip, maxShortSkip)
		}
	}
	if end := len(src) - base.Tail; left == 0 && len(f.sparse) > 0 && at < end {
		dst, _ = m.fillRun(dst, src, at, end)
	}
	return dst
}

// reset begins a block of size bytes at position start.
func (f *shortMatches) reset(size, start int) {
	log := base.TableLog(shortLog, size)
	f.last3, f.last4 = base.EmptyTable(f.last3, log), base.EmptyTable(f.last4, log)
	f.shift = 32 - log
	f.next, f.checkpointAt = 0, start
	f.counts = Counts{}
}

// setPrices sets the prices for a chunk that begins at position at. The counts of a chunk weigh a
// quarter in the next one.
func (f *shortMatches) setPrices(model PriceModel, src []byte, at int, part []Sequence) {
	c := &f.counts
	for i := range c.Literals {
		c.Literals[i] /= 4
	}
	for k := range c.Symbols {
		for i := range c.Symbols[k] {
			c.Symbols[k][i] /= 4
		}
	}
	f.steps = slices.Grow(f.steps[:0], len(part)+len(part)/8+1)
	for i, q := range part {
		for _, b := range src[at : at+int(min(q.LitLen, countedLiterals))] {
			c.Literals[b]++
		}
		at += int(q.LitLen + q.MatchLen)
		f.steps = append(f.steps, Step{Sequence: q, Kind: NewOffset})
		if i%8 == 0 {
			// Expect some short matches at all offsets, or their prices never let one in.
			q = Sequence{MatchLen: 3 + uint32(i/8%2), Offset: (2 + uint32(i/16%2)) << (i / 32 % 14)}
			f.steps = append(f.steps, Step{Sequence: q, Kind: NewOffset})
		}
	}
	model.Count(c, f.steps)
	model.Price(&f.prices, c)
	f.gain, f.searched = 0, 0
}

// fillChunk appends the sequences of a chunk that begins at position at, and short matches between.
// It returns the position behind the chunk.
func (m *Matcher) fillChunk(dst []Sequence, src []byte, at int, part []Sequence) ([]Sequence, int) {
	for _, q := range part {
		end := at + int(q.LitLen)
		dst, at = m.fillRun(dst, src, at, end)
		q.LitLen = uint32(end - at)
		dst = append(m.grow(dst), q)
		at = end + int(q.MatchLen)
	}
	return dst, at
}

// fillRun appends short matches for the literals src[at:end]. It returns the position behind the
// last one, or at. At least 4 bytes follow end.
func (m *Matcher) fillRun(dst []Sequence, src []byte, at, end int) ([]Sequence, int) {
	f := m.short
	anchor := at
	f.searched += int64(end - at)
	f.insert(src, at)
	last3, last4, shift := f.last3, f.last4, f.shift&31
	for at+3 <= end {
		if at >= f.checkpointAt {
			f.checkpointAt = at + rowCheckpointBytes
			m.checkpoint()
		}
		v := base.Load32(src, at)
		e3, e4 := &last3[v<<8*base.Prime32>>shift], &last4[v*base.Prime32>>shift]
		c3, c4 := int(*e3), int(*e4)
		*e3, *e4 = uint32(at), uint32(at)
		gain, n, d := int32(0), 0, 0
		if c4 > 0 && at-c4 <= m.limits.MaxOffset && base.Load32(src, c4) == v && at+4 <= end {
			n, d = 4+equalUpTo(src, c4+4, at+4, end), at-c4
			gain = f.saved(m.limits.Model, src[at:at+n], d)
		}
		if c3 > c4 && at-c3 <= m.limits.MaxOffset && (base.Load32(src, c3)^v)<<8 == 0 {
			k := 3 + equalUpTo(src, c3+3, at+3, end)
			if g := f.saved(m.limits.Model, src[at:at+k], at-c3); g > gain {
				gain, n, d = g, k, at-c3
			}
		}
		if gain <= 0 || d < m.limits.minOffset() {
			at++
			continue
		}
		f.gain += int64(gain)
		dst = append(m.grow(dst), Sequence{
			LitLen: uint32(at - anchor), MatchLen: uint32(n), Offset: uint32(d),
		})
		f.next = at + 1
		at += n
		anchor = at
		f.insert(src, at)
	}
	f.next = at
	return dst, anchor
}

// saved returns the price that a match of content saves at an offset.
func (f *shortMatches) saved(model PriceModel, content []byte, offset int) int32 {
	n := min(len(content), PricedLengths-1)
	saved := -f.prices.Match[0][NewOffset][n] - f.prices.Offset[model.OffsetCode(uint32(offset))]
	for _, b := range content[:n] {
		saved += f.prices.Literal[b]
	}
	return saved
}

// equalUpTo returns how many bytes from i to end equal those from c; c < i.
func equalUpTo(src []byte, c, i, end int) (n int) {
	for i+n < end && src[c+n] == src[i+n] {
		n++
	}
	return n
}

// insert inserts the positions up to end, of a long stretch only the last ones.
func (f *shortMatches) insert(src []byte, end int) {
	last3, last4, shift := f.last3, f.last4, f.shift&31
	for p := max(f.next, end-shortWarmup); p < end; p++ {
		v := base.Load32(src, p)
		last3[v<<8*base.Prime32>>shift], last4[v*base.Prime32>>shift] = uint32(p), uint32(p)
	}
	f.next = end
}
