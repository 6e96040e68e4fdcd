package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// doubleRun is a call of ParseDouble or ParseDoubleLazy.
type doubleRun struct {
	p                DoubleParse
	src              []byte
	long, short      []uint32
	lazy             bool
	costs            *[256]uint8
	costsValid, room int
}

func (c *doubleRun) word(i int) uint64 { return binary.LittleEndian.Uint64(c.src[i:]) }

// places returns the entries for a position in both tables, and its tag.
func (c *doubleRun) places(i int) (long, short *uint32, tag uint32) {
	const prime = 0x9E3779B185EBCA87
	x := c.word(i) * prime
	h := c.word(i) & c.p.ShortMask * prime >> c.p.ShortShift
	return &c.long[x>>c.p.LongShift], &c.short[h], uint32(x) & uint32(c.p.TagMask)
}

// enter inserts a position into both tables, and returns the candidates.
func (c *doubleRun) enter(i int) (long, short int) {
	l, s, tag := c.places(i)
	long, short = int(*l^tag), int(*s^tag)
	*l, *s = tag|uint32(i), tag|uint32(i)
	return long, short
}

func (c *doubleRun) equal(from, i int) (n int) {
	for i+n < len(c.src) && c.src[from+n] == c.src[i+n] {
		n++
	}
	return n
}

// within reports whether a match may have the offset d.
func (c *doubleRun) within(d int) bool { return d >= 16 && d <= c.p.MaxOffset }

// search returns the match found at i or up to three positions behind it; n = 0 means none.
func (c *doubleRun) search(i int) (at, n, d int) {
	p := &c.p
	long, short := c.enter(i)
	p.NextInsert = i + 1
	if i+1 >= p.Repeats[0] && uint32(c.word(i+1-p.Repeats[0])) == uint32(c.word(i+1)) {
		p.NextInsert = i + 2
		return i + 1, c.equal(i+1-p.Repeats[0], i+1), p.Repeats[0]
	}
	multiples := [16]int{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}
	from := short
	if c.lazy && long < i || c.within(i-long) {
		from = long
	}
	if d = i - from; d < 1 || d > p.MaxOffset {
		return i, 0, 0
	}
	if d < 16 {
		d = multiples[d]
	}
	if d > i {
		return i, 0, 0
	}
	if n = c.equal(i-d, i); n < p.MinMatch {
		return i, 0, 0
	}
	if !c.lazy {
		l, _, tag := c.places(i + 1)
		next := int(*l ^ tag)
		*l = tag | uint32(i+1)
		if o := i + 1 - next; c.within(o) && n < 32 && min(c.equal(next, i+1), 32) > n {
			return i + 1, c.equal(next, i+1), o
		}
		return i, n, d
	}
	for n < p.Nice && i+1 < p.End {
		next, _ := c.enter(i + 1)
		p.NextInsert = i + 2
		o := i + 1 - next
		if !c.within(o) || o == d || c.equal(next, i+1) <= n {
			break
		}
		i, n, d = i+1, c.equal(next, i+1), o
	}
	if j := i + n; j < p.End {
		l, _, tag := c.places(j)
		if o := j - int(*l^tag); c.within(o) && o != d && o <= i+3 &&
			c.equal(i+3-o, i+3) > max(n, 3) {
			return i + 3, c.equal(i+3-o, i+3), o
		}
	}
	return i, n, d
}

// naively is the definition. It continues until At reaches stop.
func (c *doubleRun) naively(stop int) (seqs []sequence) {
	p := &c.p
	put := func(lit, n, d int) bool {
		seqs = append(seqs, sequence{uint32(lit), uint32(n), uint32(d)})
		p.At += lit + n
		p.Anchor = p.At
		return len(seqs) < c.room
	}
	if c.room == 0 {
		return nil
	}
	for p.CheckRepeat != 0 || p.PendingLen > 0 || p.At < stop {
		if p.CheckRepeat == 0 {
			at, n, d := p.At, p.PendingLen, p.PendingOffset
			p.PendingLen = 0
			if n == 0 {
				next := p.NextInsert
				at, n, d = c.search(p.At)
				if n < p.MinMatch {
					if n == 0 {
						p.NextInsert = next
					}
					p.At = at + min(1+(at-p.Anchor)>>p.SkipLog, 32)
					continue
				}
			}
			k := 0
			for at-k > max(p.Anchor, d) && c.src[at-k-1] == c.src[at-k-1-d] {
				k++
			}
			if c.lazy && d != p.Repeats[0] && n+k < 8 {
				if len(seqs) >= c.costsValid {
					p.At, p.PendingLen, p.PendingOffset = at, n, d
					return seqs
				}
				sum := 0
				for _, b := range c.src[at-k : at+n] {
					sum += int(c.costs[b])
				}
				if sum <= 8*(bits.Len(uint(d))+4) {
					p.At = at + 1
					continue
				}
			}
			p.At = p.Anchor
			more := put(at-k-p.Anchor, n+k, d)
			if d != p.Repeats[0] && p.UpdateRepeats != 0 {
				p.Repeats = [2]int{d, p.Repeats[0]}
			}
			if p.At >= p.End {
				return seqs
			}
			c.insertMatch(at - k)
			p.CheckRepeat = 1
			if !more {
				return seqs
			}
		}
		p.CheckRepeat = 0
		for p.At < p.End && p.At >= p.Repeats[1] {
			d := p.Repeats[1]
			n := c.equal(p.At-d, p.At)
			if n < max(p.MinMatch, 4) {
				break
			}
			c.enter(p.At)
			p.Repeats[0], p.Repeats[1] = d, p.Repeats[0]
			if !put(0, n, d) {
				p.CheckRepeat = 1
				return seqs
			}
		}
	}
	return seqs
}

// insertMatch inserts positions of a match that begins at at and ends at p.At.
func (c *doubleRun) insertMatch(at int) {
	p := &c.p
	if !c.lazy {
		c.enter(at + 2)
		c.enter(p.At - 2)
		return
	}
	for i := p.NextInsert; i < p.At; {
		c.enter(i)
		if i <= p.NextInsert+14 {
			i += 2
		} else {
			i += 8
		}
	}
}

// randomDouble returns a parse of src that begins or continues anywhere, with arbitrary table
// entries.
func randomDouble(r *rand.Rand, src []byte) *doubleRun {
	longLog, log := 1+r.IntN(10), 1+r.IntN(10)
	c := &doubleRun{
		src:        src,
		long:       make([]uint32, 1<<longLog),
		short:      make([]uint32, 1<<log),
		lazy:       r.IntN(2) == 0,
		costs:      new([256]uint8),
		costsValid: r.IntN(40),
		room:       r.IntN(2 + len(src)/8),
	}
	for i := range c.costs {
		c.costs[i] = uint8(r.IntN([]int{256, 60, 5}[r.IntN(3)]))
	}
	p := &c.p
	*p = DoubleParse{
		At:            1 + r.IntN(len(src)),
		End:           len(src) - 16 - r.IntN(2)*r.IntN(len(src)),
		LongShift:     uint64(64 - longLog),
		ShortShift:    uint64(64 - log),
		ShortMask:     ^uint64(0) >> (8 * r.IntN(5)),
		TagMask:       uint64(^uint32(0) << bits.Len(uint(len(src)))),
		SkipLog:       uint64(r.IntN(10)),
		MinMatch:      3 + r.IntN(6),
		MaxOffset:     32 + r.IntN(2)*r.IntN(1<<17),
		UpdateRepeats: r.IntN(4),
		Nice:          5 + r.IntN(60),
	}
	if r.IntN(2) == 0 {
		p.At = 1
	}
	p.Anchor = p.At - r.IntN(2)*r.IntN(p.At+1)
	for i := range p.Repeats {
		p.Repeats[i] = 16 + r.IntN(len(src))
		if r.IntN(4) == 0 {
			p.Repeats[i] = []int{1, 2, 15, 64, len(src) + 1, math.MaxInt}[r.IntN(6)]
		}
	}
	if at := len(src) - p.At; c.lazy && r.IntN(4) == 0 && at > 8 {
		p.PendingLen, p.PendingOffset = 1+r.IntN(7), 1+r.IntN(p.At)
		p.NextInsert = r.IntN(p.At + 3)
	} else if p.At < p.End {
		if p.CheckRepeat = r.IntN(2); p.CheckRepeat != 0 {
			p.Anchor = p.At // a match has just ended
		}
	}
	if kind := r.IntN(4); kind > 0 {
		for _, table := range [][]uint32{c.long, c.short} {
			for i := range table {
				table[i] = r.Uint32() >> r.IntN(32)
			}
		}
		for range (len(c.long) + len(c.short)) / 2 * (kind - 1) {
			// An entry with the right tag. Its position may follow the current one.
			i := r.IntN(len(src) - 7)
			long, short, tag := c.places(i)
			*long, *short = tag|uint32(i), tag|uint32(i)
		}
	}
	return c
}
