package kernels

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// multiRun is a search of content in pieces.
type multiRun struct {
	src       []byte
	params    MultiHash
	logs      [MultiHashTables]int // log2 of the lengths of the tables
	seed      uint64               // of what is done piece by piece
	arbitrary bool                 // entries of the tables are arbitrary

	table   func(kind, n int) []uint32                  // memory for Tables
	results func(n, positions int) ([]uint64, []uint32) // memory for candidates and indices
}

func randomMulti(r *rand.Rand, src []byte) *multiRun {
	c := &multiRun{
		src: src, seed: r.Uint64(),
		table: func(_, n int) []uint32 { return make([]uint32, n) },
		results: func(n, positions int) ([]uint64, []uint32) {
			return make([]uint64, n), make([]uint32, positions)
		},
	}
	t := &c.params
	t.Nice, t.MinMatch, t.MinOffset = 32+r.IntN(100), 3+r.IntN(5), 1+r.IntN(16)
	t.MaxOffset, t.MaxOffset3, t.Skip = 1<<26, 1+r.IntN(1<<12), math.MaxInt32
	switch r.IntN(4) {
	case 0:
		t.Nice = 8 + r.IntN(30)
	case 1:
		t.MaxOffset = 16 + r.IntN(1<<10)
	case 2:
		t.Skip = 32 + r.IntN(60)
	}
	switch {
	case t.MinMatch > 6:
		t.First = 2
	case t.MinMatch > 3:
		t.First = 1
	}
	for d := 1; d < len(t.Multiples); d++ {
		t.Multiples[d] = uint8((t.MinOffset + d - 1) / d * d)
	}
	t.Lengths = [...]int{3, max(4, t.MinMatch), 8, 9 + r.IntN(8), 32}
	for k := range c.logs {
		c.logs[k] = 1 + r.IntN(12)
	}
	return c
}

// run searches the content. It returns the indices and the candidates of each piece.
func (c *multiRun) run(t *testing.T) (all []uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(c.seed, 1))
	m := c.params
	for k := m.First; k < MultiHashTables; k++ {
		m.Tables[k] = c.table(k, 1<<c.logs[k])
	}
	m.Reset(len(c.src))
	for end := len(c.src) - multiTail; m.At < end; {
		if c.arbitrary {
			for _, table := range m.Tables[m.First:] {
				for range 1 + len(table)/64 {
					table[r.IntN(len(table))] = r.Uint32()
				}
			}
		}
		size := 1 + r.IntN(200)
		if r.IntN(8) == 0 {
			to := min(m.At+size, end)
			InsertMultiHash(&m, c.src, m.At, to, 1+r.IntN(4))
			m.At = to
			continue
		}
		at, most := m.At, r.IntN(300)
		cands, first := c.results(most+MultiHashTables+1, size)
		cands, stopped := SearchMultiHash(&m, c.src, min(at+size, end), cands[:0], first, most)
		for _, k := range first[:m.At-at] {
			all = append(all, uint64(k))
		}
		c.verify(t, cands, first[:m.At-at], at)
		all = append(all, cands...)
		if stopped {
			all = append(all, 1<<63)
		}
	}
	return all
}

// verify checks that the candidates of positions from at on are matches.
func (c *multiRun) verify(t *testing.T, cands []uint64, first []uint32, at int) {
	t.Helper()
	for k, i := range first {
		end := len(cands)
		if k+1 < len(first) {
			end = int(first[k+1])
		}
		least := c.params.MinMatch
		for _, x := range cands[i:end] {
			d, n := int(x&(1<<27-1)), int(x>>27)
			if d < c.params.MinOffset || d > min(at+k, c.params.MaxOffset) ||
				n < least || n > c.params.Nice || at+k+n > len(c.src) ||
				!bytes.Equal(c.src[at+k:at+k+n], c.src[at+k-d:at+k-d+n]) {
				t.Fatalf("position %d: no match of %d bytes at offset %d", at+k, n, d)
			}
			least = n + 1
		}
	}
}

// compare compares the results with those of the portable twin.
func (c *multiRun) compare(t *testing.T) (found int) {
	t.Helper()
	got := c.run(t)
	before := cpu.SetTier(cpu.Portable.String())
	want := c.run(t)
	cpu.SetTier(before)
	if !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Fatalf("%d bytes, %+v: result %d differs (%d, want %d)",
			len(c.src), c.params, at, len(got), len(want))
	}
	return len(got)
}

func TestSearchMultiHash(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(75, 76))
		found := 0
		for i := range scaled(1000) {
			n := r.IntN(300)
			if i%20 == 0 {
				n = r.IntN(100_000)
			}
			found += randomMulti(r, randomContent(r, n)).compare(t)
		}
		if found < 1000 {
			t.Errorf("only %d results", found)
		}
	})
}

// TestMultiHashStops: a search stops where the current match reaches far, but not while another
// match with another offset goes on.
func TestMultiHashStops(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(77, 78))
		random := make([]byte, 600)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		// A match of 40 bytes begins at 440. Another of 120 bytes begins in it, at 460.
		src := slices.Concat(random[:300], random[220:240], random[400:500], random[500:520],
			random[200:240], random[400:500], random[520:])
		m := &MultiHash{
			Nice: 200, MinMatch: 4, MinOffset: 1, MaxOffset: 1 << 20, MaxOffset3: 1, Skip: 32, First: 1,
			Lengths: [...]int{3, 4, 7, 11, 32},
		}
		for k := range m.Tables {
			m.Tables[k] = make([]uint32, 1<<14)
		}
		m.Reset(len(src))
		var stops, want []int
		for end := len(src) - multiTail; m.At < end; {
			cands, indices := make([]uint64, 0, 4000), make([]uint32, end)
			if _, stopped := SearchMultiHash(m, src, end, cands, indices, 3000); stopped {
				stops = append(stops, m.At-1)
			}
		}
		for i := range len(src) {
			if i >= 440 && i <= 440+40-32 || i >= 440+40 && i <= 460+120-32 {
				want = append(want, i)
			}
		}
		if !slices.Equal(stops, want) {
			t.Errorf("stops at %v, want %v", stops, want)
		}
	})
}
