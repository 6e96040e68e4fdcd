package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// hashChainRun is a call of ParseHashChain.
type hashChainRun struct {
	p                     HashChainParse
	src                   []byte
	heads3, heads4, links []int16
	costs                 *[256]uint8
	room                  int
}

// enter inserts the positions before i, and returns the old heads of the last one.
func (c *hashChainRun) enter(i int) (head, head3 int) {
	for ; c.p.NextInsert < i; c.p.NextInsert++ {
		v, e := binary.LittleEndian.Uint32(c.src[c.p.NextInsert:]), int16(c.p.NextInsert-c.p.Base)
		h := v * 0x9E3779B1 >> c.p.Shift
		head = int(c.heads4[h])
		c.links[c.p.NextInsert%HashChainWindow], c.heads4[h] = c.heads4[h], e
		if c.p.MinMatch == 3 {
			h = v << 8 * 0x9E3779B1 >> (c.p.Shift + HashChainLess3)
			head3 = int(c.heads3[h])
			c.heads3[h] = e
		}
	}
	return c.p.Base + head, c.p.Base + head3
}

func (c *hashChainRun) equal(from, i, most int) (n int) {
	for n < most && i+n < len(c.src) && c.src[from+n] == c.src[i+n] {
		n++
	}
	return n
}

// find returns the longest match of at least least bytes at i; far3 is an offset for 3 bytes.
func (c *hashChainRun) find(i, least, depth int) (n, offset, far3 int) {
	p, p3 := c.enter(i + 1)
	low := max(0, i-c.p.MaxOffset, c.p.Base-HashChainWindow+1)
	for above := i; depth > 0 && p >= low && p < above && n < c.p.Nice; depth-- {
		if k := c.equal(p, i, MaxHashChainMatch); k >= least && k > n {
			n, offset = k, i-p
		}
		above, p = p, c.p.Base+int(c.links[p%HashChainWindow])
	}
	if p3 >= low && p3 < i && c.equal(p3, i, 3) == 3 {
		far3 = i - p3
	}
	return n, offset, far3
}

// pays reports whether a match saves bits.
func (c *hashChainRun) pays(i, n, offset int) bool {
	bits8 := -8 * (6 + bits.Len(uint(offset)))
	for _, b := range c.src[i : i+n] {
		bits8 += int(c.costs[b])
	}
	return n >= c.p.SureMatch || bits8 > 0
}

// naively is the definition of ParseHashChain, up to position stop.
func (c *hashChainRun) naively(stop int) (seqs []sequence) {
	end := c.p.Base + HashChainWindow
	for c.p.At < stop && len(seqs) < c.room {
		i := c.p.At
		n, offset, far3 := c.find(i, max(c.p.MinMatch, 4), c.p.Depth)
		if n == 0 && c.p.MinMatch == 3 && far3 > 0 {
			n, offset = 3, far3
		}
		if n == 0 || !c.pays(i, n, offset) {
			c.p.At += min(1+(i-c.p.Anchor)>>8, 32)
			continue
		}
		for k := 1; k <= c.p.Lazy && n < c.p.Nice && i+k < min(c.p.End, end); k++ {
			m, d, _ := c.find(i+k, max(n, 4), c.p.Depth>>k)
			if m > 0 && 4*m-bits.Len(uint(d)) > 4*n-bits.Len(uint(offset))+3*k-1 {
				i, n, offset, k = i+k, m, d, 0
			}
		}
		back := 0
		for back < i-c.p.Anchor && back < i-offset && c.src[i-back-1] == c.src[i-offset-back-1] {
			back++
		}
		seqs = append(seqs, sequence{uint32(i - back - c.p.Anchor), uint32(n + back), uint32(offset)})
		c.p.At = i + n
		c.p.Anchor = c.p.At
	}
	if c.p.At >= end {
		c.enter(end)
	}
	return seqs
}

// randomHashChain returns a parse of src that begins or continues anywhere. Most table entries are
// those of a parse, the others arbitrary.
func randomHashChain(r *rand.Rand, src []byte) *hashChainRun {
	log := 3 + r.IntN(12)
	c := &hashChainRun{
		src: src, costs: new([256]uint8), room: r.IntN(2 + len(src)/8),
		heads3: make([]int16, 1<<(log-HashChainLess3)), heads4: make([]int16, 1<<log),
		links: make([]int16, HashChainWindow),
		p: HashChainParse{
			End:   len(src) - 16 - r.IntN(2)*r.IntN(len(src)),
			Depth: 4 + r.IntN(20), Lazy: r.IntN(3), Nice: 5 + r.IntN(1+r.IntN(254)),
			MinMatch: 3 + r.IntN(2)*r.IntN(8), SureMatch: r.IntN(17),
			MaxOffset: 1 + r.IntN(HashChainWindow), Shift: uint64(32 - log),
		},
	}
	for i := range c.costs {
		c.costs[i] = uint8(r.IntN(80))
	}
	for _, entries := range [][]int16{c.heads3, c.heads4, c.links} {
		kind := r.IntN(3)
		for i := range entries {
			entries[i] = math.MinInt16
			if kind == 0 && r.IntN(2) == 0 {
				entries[i] = int16(r.Uint32())
			}
		}
	}
	at := r.IntN(2) * r.IntN(len(src)-15)
	c.p.Base = at / HashChainWindow * HashChainWindow
	if c.p.Base > 0 && r.IntN(2) == 0 {
		c.p.Base -= HashChainWindow
	}
	c.p.NextInsert = c.p.Base + r.IntN(min(at-c.p.Base, HashChainWindow)+1)
	c.enter(min(at, c.p.Base+HashChainWindow))
	c.p.NextInsert -= r.IntN(2) * r.IntN(c.p.NextInsert-c.p.Base+1)
	c.p.At, c.p.Anchor = at, at-r.IntN(2)*r.IntN(at+1)
	return c
}

// run compares a call of the kernel, with arguments in this memory, with the definition.
func (c *hashChainRun) run(t *testing.T, src []byte, heads3, heads4, links []int16, seqs []sequence) {
	t.Helper()
	if ok := HasHashChain(); ok != hasKernels() {
		t.Fatalf("HasHashChain is %v, want %v", ok, !ok)
	} else if !ok {
		return
	}
	got, n := c.p, 0
	stop := min(c.p.End, len(src)-HashChainSlack, c.p.Base+HashChainWindow)
	for first := true; first || got.At < stop && n < len(seqs); first = false {
		n += ParseHashChain(&got, src, heads3, heads4, links, c.costs, seqs[n:])
	}
	want := *c
	want.heads3, want.heads4 = slices.Clone(c.heads3), slices.Clone(c.heads4)
	want.links = slices.Clone(c.links)
	var wantSeqs []sequence
	if len(seqs) > 0 {
		wantSeqs = want.naively(stop)
	}
	if got != want.p || !slices.Equal(seqs[:n], wantSeqs) || !slices.Equal(heads4, want.heads4) ||
		!slices.Equal(heads3, want.heads3) || !slices.Equal(links, want.links) {
		t.Fatalf("%d bytes from %+v: %d sequences to %+v, want %d to %+v; or contents differ",
			len(src), c.p, n, got, len(wantSeqs), want.p)
	}
}

// alone calls run with memory of its own.
func (c *hashChainRun) alone(t *testing.T) {
	t.Helper()
	c.run(t, c.src, slices.Clone(c.heads3), slices.Clone(c.heads4), slices.Clone(c.links),
		make([]sequence, c.room))
}

func TestParseHashChain(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(81, 82))
		for i := range scaled(2000) {
			n := HashChainSlack + i%1000
			if i%20 == 0 {
				n = 16 + r.IntN(100_000)
			}
			randomHashChain(r, randomContent(r, n)).alone(t)
		}
		// Noise, where steps grow, with copies from the end of the window.
		for range 6 {
			src := make([]byte, 90_000)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			for i := range 400 {
				at := HashChainWindow + 20_000 + 50*i + r.IntN(20)
				copy(src[at:at+6+r.IntN(10)], src[at-HashChainWindow+r.IntN(3)-1:])
			}
			c := randomHashChain(r, src)
			c.p.Base, c.p.NextInsert, c.p.At, c.p.Anchor = 0, 0, 0, 0
			c.p.End, c.p.MaxOffset, c.p.MinMatch, c.room = len(src)-16, HashChainWindow, 3, len(src)
			for range 2 {
				c.alone(t)
				c.naively(c.p.Base + HashChainWindow)
				for _, entries := range [][]int16{c.heads3, c.heads4, c.links} {
					SlideHashChain(entries)
				}
				c.p.Base += HashChainWindow
			}
		}
	})
}

// TestParseHashChainRange checks that ParseHashChain panics if a field is out of range.
func TestParseHashChainRange(t *testing.T) {
	good := HashChainParse{
		End: 84, Depth: 4, Nice: 5, MinMatch: 3, MaxOffset: 1, Shift: 24,
	}
	heads, links := make([]int16, 256), make([]int16, HashChainWindow)
	for i, f := range []func(p *HashChainParse){
		func(p *HashChainParse) {}, // valid; each of the others changes one field
		func(p *HashChainParse) { p.At = 85 },
		func(p *HashChainParse) { p.Anchor = 1 },
		func(p *HashChainParse) { p.Anchor = -1 },
		func(p *HashChainParse) { p.NextInsert = 1 },
		func(p *HashChainParse) { p.NextInsert = -1 },
		func(p *HashChainParse) { p.Base = 1 },
		func(p *HashChainParse) { p.Base = -1 },
		func(p *HashChainParse) { p.Base, p.NextInsert, p.At = -HashChainWindow, 1, 1 },
		func(p *HashChainParse) { p.End = 85 },
		func(p *HashChainParse) { p.Depth = 3 },
		func(p *HashChainParse) { p.Lazy = 3 },
		func(p *HashChainParse) { p.Nice = 4 },
		func(p *HashChainParse) { p.Nice = MaxHashChainMatch + 1 },
		func(p *HashChainParse) { p.MinMatch = 2 },
		func(p *HashChainParse) { p.MinMatch = 17 },
		func(p *HashChainParse) { p.MaxOffset = 0 },
		func(p *HashChainParse) { p.MaxOffset = HashChainWindow + 1 },
		func(p *HashChainParse) { p.Shift = 23 },
		func(p *HashChainParse) { p.Shift = 30 },
	} {
		p := good
		f(&p)
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != (i > 0) {
					t.Errorf("case %d: %+v: panic %v", i, p, panicked)
				}
			}()
			if HasHashChain() {
				ParseHashChain(&p, make([]byte, 100), heads, heads, links, new([256]uint8),
					make([]sequence, 10))
			} else if i > 0 {
				panic("no kernel")
			}
		}()
	}
}

// TestSlideHashChain compares all tiers with the definition, for all entries.
func TestSlideHashChain(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(83, 84))
		for n := range 70 {
			entries := make([]int16, n)
			for i := range entries {
				entries[i] = []int16{0, 1, -1, math.MinInt16, math.MaxInt16, int16(r.Uint32())}[r.IntN(6)]
			}
			want := make([]int16, n)
			for i, e := range entries {
				want[i] = int16(max(int(e)-HashChainWindow, math.MinInt16))
			}
			SlideHashChain(entries)
			if !slices.Equal(entries, want) {
				t.Fatalf("%d entries: %v, want %v", n, entries, want)
			}
		}
	})
}
