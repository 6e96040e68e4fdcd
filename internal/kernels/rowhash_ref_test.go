package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// rowHashRun is a call of ParseRowHash, or of ParseCandidates if candidates is not nil.
type rowHashRun struct {
	p                RowHashParse
	src              []byte
	rows, candidates []uint32
	costs            *[256]uint8
	costsValid, room int
}

// enter inserts the positions before i into their rows.
func (c *rowHashRun) enter(i int) {
	if c.candidates != nil {
		return
	}
	for ; c.p.NextInsert < i; c.p.NextInsert++ {
		row, e := c.place(c.p.NextInsert)
		copy(row[1:], row)
		row[0] = e
	}
}

// place returns the row and the entry of a position.
func (c *rowHashRun) place(i int) (row []uint32, e uint32) {
	v := binary.LittleEndian.Uint64(c.src[i:])
	h := uint32(v)*0x9E3779B1 + uint32(v>>32)&uint32(c.p.HashMask)*0x85EBCA77
	row = c.rows[int(h>>c.p.Shift)*c.p.Depth:]
	return row[:c.p.Depth], h<<(32-c.p.Shift)&^(1<<RowHashBits-1) | (uint32(c.p.Base) + uint32(i) + 1)
}

func (c *rowHashRun) equal(from, i int) (n int) {
	for i+n < len(c.src) && c.src[from+n] == c.src[i+n] {
		n++
	}
	return n
}

// find is the definition of the best candidate at i, for matches of at least least bytes.
func (c *rowHashRun) find(i, least int) (n, offset int) {
	if c.candidates != nil {
		return c.take(i)
	}
	multiples := [16]int{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}
	c.enter(i)
	row, e := c.place(i)
	longest := least - 1
	for _, x := range row {
		d := int(e&(1<<RowHashBits-1)) - int(x&(1<<RowHashBits-1))
		if x>>RowHashBits != e>>RowHashBits || d < 1 || d > min(i, c.p.MaxOffset) ||
			longest == c.p.Nice {
			continue
		}
		if d < 16 {
			d = multiples[d]
		}
		if d > i {
			continue
		}
		m := c.equal(i-d, i)
		if k := min(m, c.p.Nice); k > longest &&
			(n == 0 || 4*(k-longest) > bits.Len(uint(d))-bits.Len(uint(offset))) {
			longest, n, offset = k, m, d
		}
	}
	c.enter(i + 1)
	return n, offset
}

// take returns the candidate of i, extended if it has Nice bytes.
func (c *rowHashRun) take(i int) (n, offset int) {
	c.p.NextInsert = i + 1
	if c.candidates[i] == 0 {
		return 0, 0
	}
	n, offset = int(c.candidates[i]>>24)+4, int(c.candidates[i]&(1<<24-1))
	if offset < 16 || offset > min(i, c.p.MaxOffset) || i+n > len(c.src) {
		c.p.bad = 1
		return 0, 0
	}
	for n >= c.p.Nice && i+n < len(c.src) && c.src[i+n-offset] == c.src[i+n] {
		n++
	}
	return n, offset
}

// best returns the best match at i and its score.
func (c *rowHashRun) best(i, than int) (n, offset, score int) {
	p := &c.p
	if p.UseRepeats != 0 {
		n = p.MinRepeatMatch - 1
		for _, d := range p.Repeats {
			if d <= i {
				if m := c.equal(i-d, i); m >= 4 && m > n {
					n, offset = m, d
				}
			}
		}
		if offset == 0 {
			n = 0
		} else {
			score = 4*n + 1
			if n >= p.Nice {
				return n, offset, score
			}
		}
	}
	if m, d := c.find(i, max(p.MinRowMatch, min((max(than, score)+5)/4+1, p.Nice-5))); m > 0 {
		if s := 4*m - bits.Len(uint(d)); s > score {
			return m, d, s
		}
	}
	return n, offset, score
}

// naively is the definition of ParseRowHash and ParseCandidates.
func (c *rowHashRun) naively() (seqs []sequence) {
	p := &c.p
	for p.At < p.End && len(seqs) < c.room {
		at, n, d, weigh := p.At, p.PendingLen, p.PendingOffset, true
		p.PendingLen = 0
		if n == 0 {
			var score int
			n, d, score = c.best(at, 0)
			if n == 0 {
				p.At += min(1+(at-p.Anchor)>>8, 32)
				continue
			}
			for k := 1; k <= p.Lazy && at+k < p.End && n < p.Nice; k++ {
				than := score + []int{0, 4, 7}[k]
				if m, o, s := c.best(at+k, than); s > than {
					at, n, d, score, k = at+k, m, o, s, 0
				}
			}
			if weigh = n < 8 && !slices.Contains(p.Repeats[:], d); weigh &&
				len(seqs) >= c.costsValid {
				p.At, p.PendingLen, p.PendingOffset = at, n, d
				break
			}
		}
		if weigh {
			sum := 0
			for _, b := range c.src[at : at+n] {
				sum += int(c.costs[b])
			}
			if sum <= 8*(bits.Len(uint(d))+4) {
				p.At = p.NextInsert
				continue
			}
		}
		k := 0
		for at-k > max(p.Anchor, d) && c.src[at-k-1] == c.src[at-k-1-d] {
			k++
		}
		seqs = append(seqs, sequence{uint32(at - k - p.Anchor), uint32(n + k), uint32(d)})
		switch d {
		case p.Repeats[0]:
		case p.Repeats[1]:
			p.Repeats[0], p.Repeats[1] = d, p.Repeats[0]
		default:
			p.Repeats = [3]int{d, p.Repeats[0], p.Repeats[1]}
		}
		p.At = at + n
		p.Anchor = p.At
	}
	return seqs
}

// randomRowHash returns a parse of src that begins or continues anywhere. Row entries are
// arbitrary, but none stands for a position that is yet to be inserted.
func randomRowHash(r *rand.Rand, src []byte) *rowHashRun {
	log := 1 + r.IntN(8)
	c := &rowHashRun{
		src:        src,
		costsValid: r.IntN(40),
		room:       r.IntN(2 + len(src)/8),
		costs:      new([256]uint8),
	}
	for i := range c.costs {
		c.costs[i] = uint8(r.IntN([]int{256, 60, 5}[r.IntN(3)]))
	}
	p := &c.p
	*p = RowHashParse{
		At:             r.IntN(len(src)),
		End:            len(src) - 16 - r.IntN(2)*r.IntN(len(src)),
		Lazy:           r.IntN(3),
		Nice:           5 + r.IntN([]int{15, 100}[r.IntN(2)]),
		MinRowMatch:    4 + r.IntN(5),
		MinRepeatMatch: 3 + r.IntN(6),
		MaxOffset: 32 + r.IntN(
			2,
		)*r.IntN(1<<17),
		UseRepeats: r.IntN(4),
		Depth:      8 << r.IntN(3),
		Shift:      uint64(32 - log),
		HashMask:   1<<(8*r.IntN(5)) - 1,
	}
	if r.IntN(2) == 0 {
		p.At = 0
	}
	room := 1<<RowHashBits - 1 - len(src)
	if r.IntN(2) == 0 {
		p.Base = uint64(room - r.IntN(2)*r.IntN(room))
	}
	for i := range p.Repeats {
		p.Repeats[i] = 16 + r.IntN(len(src))
		if r.IntN(4) == 0 {
			p.Repeats[i] = []int{1, 2, 15, 64, len(src) + 1, math.MaxInt}[r.IntN(6)]
		}
	}
	p.Anchor, p.NextInsert = p.At-r.IntN(2)*r.IntN(p.At+1), p.At-r.IntN(2)*r.IntN(p.At+1)
	if r.IntN(4) == 0 && p.At > 0 && p.At+7 < p.End {
		p.PendingLen, p.PendingOffset = 4+r.IntN(4), 1+r.IntN(p.At)
		p.NextInsert = p.At + r.IntN(3)
	}
	c.rows = make([]uint32, p.Depth<<log)
	if kind := r.IntN(4); kind > 0 {
		for i := range c.rows {
			x := r.Uint32()
			if x &= 1<<RowHashBits - 1; x > uint32(p.Base) { // an entry of another block
				x -= min(x, uint32(p.Base+uint64(len(src)))-uint32(p.NextInsert))
			}
			c.rows[i] = x | r.Uint32N(128)<<RowHashBits
		}
		for range p.NextInsert * kind {
			row, _ := c.place(r.IntN(min(len(src)-7, p.NextInsert)))
			_, row[r.IntN(p.Depth)] = c.place(r.IntN(min(len(src)-7, p.NextInsert)))
		}
	}
	return c
}

// giveCandidates sets candidates: good ones, none, and arbitrary numbers.
func (c *rowHashRun) giveCandidates(r *rand.Rand) {
	candidates := make([]uint32, max(c.p.End, 0))
	last := map[uint32]int{}
	for i := range candidates {
		v := binary.LittleEndian.Uint32(c.src[i:])
		if from, ok := last[v]; ok && i-from >= 16 && i-from < 1<<24 && r.IntN(8) > 0 {
			candidates[i] = uint32(i-from) | uint32(min(c.equal(from, i), c.p.Nice, 255)-4)<<24
		}
		if r.IntN(2) == 0 {
			last[v] = i
		}
		if kind := r.IntN(200); kind == 0 {
			candidates[i] = r.Uint32() >> r.IntN(32)
		} else if kind == 1 {
			candidates[i] = uint32(r.IntN(i+2)) | r.Uint32N(16)<<24
		} else if n := len(c.src) - i - 5 + r.IntN(3); kind < 20 && i >= 16 && n >= 0 && n < 256 {
			// A match up to the end of src, or a byte less or more.
			candidates[i] = uint32(16+r.IntN(i-15)) | uint32(n)<<24
		}
	}
	c.candidates = candidates
}
