package simd

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// collectNaively is the definition of Collect for one position. It returns the candidates, and
// whether the run stops there.
func collectNaively(c *CandidateRun, src []byte, m *RowMatches) (cands []uint64, stop bool) {
	i, longest, last := c.At, c.Least-1, 0
	for k, back := range m.Back {
		n := 0
		if (m.Longer|m.Full)>>k&1 != 0 {
			n = int(m.Lengths[k])
		}
		if n == 8 {
			for n < c.Nice && i+n < len(src) && src[i+n] == src[i+n+int(back)] {
				n++
			}
		}
		if n > longest {
			longest, last = n, -int(back)
			index := last - 1
			if last > 256 {
				index = 256 + (last-1)/128
			}
			code := c.Codes[index]
			cands = append(cands, uint64(last)|uint64(n)<<27|uint64(code)<<48)
		}
	}
	if last == 0 || longest >= c.Nice {
		return cands, last > 0
	}
	if i+longest > c.Reach {
		if last != c.Offset {
			c.Before = c.Reach
		}
		c.Reach, c.Offset = i+longest, last
	}
	return cands, c.Reach-i >= c.SkipInMatch && i >= c.Before
}

// collectCase is a run over the positions of src from 0 on.
type collectCase struct {
	run       CandidateRun
	src       []byte
	matches   []RowMatches
	firstCand []uint32
	cands     []uint64
}

func randomCollect(r *rand.Rand, src []byte) *collectCase {
	n := len(src) - 15
	c := &collectCase{
		src: src, matches: make([]RowMatches, n), firstCand: make([]uint32, n+r.IntN(3)),
		cands: make([]uint64, r.IntN([]int{40, 16 * n}[r.IntN(2)])),
		run: CandidateRun{
			At: r.IntN(2) * r.IntN(n), End: n - r.IntN(2)*r.IntN(n), Least: 1 + r.IntN(8),
			Nice: 9 + r.IntN([]int{4, 60, MaxPathLength - 8}[r.IntN(3)]), SkipInMatch: 1 + r.IntN(100),
			Offset: r.IntN(40), Reach: r.IntN(50), Before: r.IntN(50),
		},
	}
	for i := range c.run.Codes {
		c.run.Codes[i] = uint8(r.Uint32())
	}
	p := randomRowParams(r)
	var rows MultiRows
	rows.Reset(p.log)
	rows.Search(src, 0, c.run.Least, p.maxOffset, c.matches)
	return c
}

// test collects all candidates, in a few calls, and compares with the definition.
func (c *collectCase) test(t *testing.T, r *rand.Rand) {
	naive := c.run
	n, count := 0, 0
	for c.run.At < c.run.End {
		from := c.run.At
		most := min(1+r.IntN(200), len(c.matches)-from)
		room := r.IntN(len(c.cands) - n + 1)
		limit := n + room
		var stopped bool
		count, stopped = Collect(&c.run, c.src, c.matches[from:from+most], c.firstCand[from:],
			c.cands[:limit], n)
		want := false
		for k := 0; naive.At < c.run.End && k < most && n+16 <= limit && !want; k++ {
			if c.firstCand[naive.At] != uint32(n) {
				t.Fatalf("position %d: candidates from %d, want %d", naive.At, c.firstCand[naive.At], n)
			}
			var cands []uint64
			cands, want = collectNaively(&naive, c.src, &c.matches[naive.At])
			if got := c.cands[n:min(n+len(cands), count)]; !slices.Equal(got, cands) {
				t.Fatalf("position %d: candidates %x, want %x", naive.At, got, cands)
			}
			n += len(cands)
			if !want {
				naive.At++
			}
		}
		if n != count || stopped != want || c.run != naive {
			t.Fatalf("from %d: %d candidates, stopped: %v, %v; want %d, %v, %v",
				from, count, stopped, c.run.At, n, want, naive.At)
		}
		if stopped {
			c.run.At++
			naive.At++
		} else if n+16 > len(c.cands) {
			return
		}
	}
}

func TestCollect(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(97, 98))
		for range scaled(3000) {
			randomCollect(r, randomContent(r, 16+r.IntN([]int{60, 2000}[r.IntN(2)]))).test(t, r)
		}
	})
}

// TestSetCodes: codes that suit the table are those of the offsets; others do not.
func TestSetCodes(t *testing.T) {
	var c CandidateRun
	blocks := func(d uint32) uint8 { return uint8(bits.Len32(d - 1)) } // as Deflate's, but coarser
	if !c.SetCodes(blocks) {
		t.Fatal("codes with one bit of offset do not suit")
	}
	for d := uint32(1); d <= rowWindow; d++ {
		if got := c.Codes[codeIndex(int(d))]; got != blocks(d) {
			t.Fatalf("offset %d: code %d, want %d", d, got, blocks(d))
		}
	}
	if c.SetCodes(func(d uint32) uint8 { return uint8(bits.Len32(d)) }) {
		t.Error("codes suit that differ between offsets 511 and 512")
	}
}

// TestCollectRange: arguments out of range panic.
func TestCollectRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		src, matches := make([]byte, 40), make([]RowMatches, 30)
		good := CandidateRun{End: 30, Least: 3, Nice: 20, SkipInMatch: 9}
		for name, f := range map[string]func(c *CandidateRun){
			"before":     func(c *CandidateRun) { c.At = -1 },
			"behind":     func(c *CandidateRun) { c.At, c.End = 12, 40 },
			"no bytes":   func(c *CandidateRun) { c.Least = 0 },
			"many bytes": func(c *CandidateRun) { c.Least = 9 },
			"little":     func(c *CandidateRun) { c.Nice = 8 },
			"much":       func(c *CandidateRun) { c.Nice = MaxPathLength + 1 },
			"skip":       func(c *CandidateRun) { c.SkipInMatch = 0 },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				c := good
				f(&c)
				Collect(&c, src, matches, make([]uint32, 30), make([]uint64, 99), 0)
			}()
		}
	})
}
