package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// run compares a call of the kernel, with arguments in this memory, with the definition.
func (c *rowHashRun) run(t *testing.T, src []byte, rows []uint32, seqs []sequence) {
	t.Helper()
	if ok := HasRowHash(c.p.Depth); ok != hasKernels() || HasCandidates() != ok {
		t.Fatalf("HasRowHash is %v and HasCandidates %v, want %v", ok, HasCandidates(),
			hasKernels())
	} else if !ok {
		return
	}
	got, n := rowHashRun{p: c.p, src: src, rows: rows, candidates: c.candidates}, 0
	for stopped := false; !stopped; {
		if c.candidates != nil {
			n += ParseCandidates(&got.p, src, c.candidates, c.costs, seqs[n:], c.costsValid-n)
		} else {
			n += ParseRowHash(&got.p, src, rows, c.costs, seqs[n:], c.costsValid-n)
		}
		stopped = got.p.PendingLen > 0 || got.p.At >= got.p.End || n == len(seqs)
	}
	want := *c
	want.rows = slices.Clone(c.rows)
	wantSeqs := want.naively()
	// The kernel may insert positions behind the last search early or late.
	for _, c := range []*rowHashRun{&got, &want} {
		c.enter(min(c.p.At, c.p.End))
		c.p.callEnd = 0
	}
	if got.p != want.p || !slices.Equal(seqs[:n], wantSeqs) || !slices.Equal(got.rows, want.rows) {
		t.Fatalf("%d bytes from %+v: %d sequences to %+v, want %d to %+v; or contents differ",
			len(src), c.p, n, got.p, len(wantSeqs), want.p)
	}
}

// alone calls run with memory of its own.
func (c *rowHashRun) alone(t *testing.T) {
	t.Helper()
	c.run(t, c.src, slices.Clone(c.rows), make([]sequence, c.room))
}

func TestParseRowHash(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(51, 52))
		for i := range scaled(8000) {
			n := 16 + i%200
			if i%50 == 0 {
				n = 16 + r.IntN(20_000)
			}
			randomRowHash(r, randomContent(r, n)).alone(t)
		}
		// More than one call takes; and noise, where steps grow, with matches at its end.
		noise := make([]byte, 30_000)
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		for at := range 1000 {
			noise = append(append(noise, noise[at*20:at*20+8]...), byte(at), byte(at>>3),
				byte(at>>5))
		}
		for i, src := range [][]byte{randomContent(r, 100_000), randomContent(r, 100_000), noise, noise} {
			depth := 8 << (i % 3)
			c := randomRowHash(r, src)
			c.p = RowHashParse{
				End:            len(c.src) - 16,
				Repeats:        [3]int{64, 64, 64},
				Lazy:           2,
				Nice:           64,
				MinRowMatch:    5,
				MinRepeatMatch: 4,
				MaxOffset:      1 << 17,
				UseRepeats:     1,
				Depth:          depth,
				Shift:          20,
				HashMask:       255,
			}
			c.rows, c.room, c.costsValid = make([]uint32, depth<<12), len(c.src)/4, len(c.src)
			c.alone(t)
		}
	})
}

// TestParseCandidates parses with candidates, some of which are impossible.
func TestParseCandidates(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 72))
		for i := range scaled(8000) {
			n := 16 + i%200
			if i%50 == 0 {
				n = 16 + r.IntN(50_000)
			}
			c := randomRowHash(r, randomContent(r, n))
			c.giveCandidates(r)
			c.alone(t)
		}
	})
}

// TestCandidatesTie checks that a repeat wins against a candidate with the same score: two more
// bytes at an offset of 7 bits.
func TestCandidatesTie(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(73, 74))
		for longer := range 4 {
			src := make([]byte, 300)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			copy(src[200:], src[150:156])
			src[206] = src[156] + 1
			c := &rowHashRun{
				src:        src,
				room:       10,
				costsValid: 10,
				costs:      new([256]uint8),
				candidates: make([]uint32, 284),
			}
			c.p = RowHashParse{
				At:             200,
				Anchor:         200,
				NextInsert:     200,
				End:            201,
				Repeats:        [3]int{50, 60, 70},
				Nice:           100,
				MinRowMatch:    4,
				MinRepeatMatch: 4,
				MaxOffset:      1 << 16,
				UseRepeats:     3,
				Depth:          8,
			}
			for i := range c.costs {
				c.costs[i] = 255
			}
			c.candidates[200] = 100 | uint32(6+longer-4)<<24
			want := *c
			if seqs := want.naively(); len(seqs) != 1 || (seqs[0].Offset == 50) != (longer <= 2) {
				t.Fatalf("candidate %d bytes longer than the repeat: %+v", longer, seqs)
			}
			c.alone(t)
		}
	})
}

// TestParseRowHashRange checks that both functions panic if a field is out of range.
func TestParseRowHashRange(t *testing.T) {
	good := RowHashParse{
		End: 84, Repeats: [3]int{1, 1, 1},
		Nice: 5, MinRowMatch: 4, MaxOffset: 32,
		Depth: 8, Shift: 27,
	}
	for i, f := range []func(p *RowHashParse){
		func(p *RowHashParse) {}, // valid; each of the others changes one thing
		func(p *RowHashParse) { p.At = -1 },
		func(p *RowHashParse) { p.NextInsert = 1 },
		func(p *RowHashParse) { p.NextInsert = -1 },
		func(p *RowHashParse) { p.Anchor = 1 },
		func(p *RowHashParse) { p.Anchor = -1 },
		func(p *RowHashParse) { p.End = 85 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset = 10, -1, 1 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset = 10, 8, 1 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset = 10, 4, 11 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset = 10, 4, 0 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset = 95, 6, 1 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset, p.NextInsert = 10, 4, 1, 15 },
		func(p *RowHashParse) { p.At, p.PendingLen, p.PendingOffset, p.NextInsert = 10, 4, 1, 9 },
		func(p *RowHashParse) { p.Repeats[0] = 0 },
		func(p *RowHashParse) { p.Repeats[1] = 0 },
		func(p *RowHashParse) { p.Repeats[2] = -1 },
		func(p *RowHashParse) { p.Lazy = 3 },
		func(p *RowHashParse) { p.Lazy = -1 },
		func(p *RowHashParse) { p.Nice = 4 },
		func(p *RowHashParse) { p.MinRowMatch = 3 },
		func(p *RowHashParse) { p.MinRowMatch = math.MaxInt },
		func(p *RowHashParse) { p.MaxOffset = 31 },
		func(p *RowHashParse) { p.Depth = 64 },
		func(p *RowHashParse) { p.Depth = 16 },
		func(p *RowHashParse) { p.Shift = 26 },
		func(p *RowHashParse) { p.Shift = 32 },
		func(p *RowHashParse) { p.Shift = 0 },
		func(p *RowHashParse) { p.Base = 1<<RowHashBits - 100 },
		func(p *RowHashParse) { p.Base = 1<<64 - 1 },
	} {
		p := good
		f(&p)
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != (i > 0 || !bestHasKernels) {
					t.Errorf("case %d: %+v: panic %v", i, p, panicked)
				}
			}()
			ParseRowHash(&p, make([]byte, 100), make([]uint32, 8*32), new([256]uint8),
				make([]sequence, 10), 10)
		}()
		func() {
			p := good
			f(&p)
			p.Depth, p.Shift, p.Base = 8, 27, 0 // not used
			bad := i > 0 && p != good
			defer func() {
				if panicked := recover() != nil; panicked != (bad || !bestHasKernels) {
					t.Errorf("case %d, ParseCandidates: %+v: panic %v", i, p, panicked)
				}
			}()
			ParseCandidates(&p, make([]byte, 100), make([]uint32, 84), new([256]uint8),
				make([]sequence, 10), 10)
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("ParseCandidates with too few candidates: no panic")
			}
		}()
		p := good
		ParseCandidates(&p, make([]byte, 100), make([]uint32, 83), new([256]uint8),
			make([]sequence, 10), 10)
	}()
	if HasRowHash(4) || HasRowHash(64) || HasRowHash(0) {
		t.Error("HasRowHash reports a kernel for a depth without one")
	}
}
