package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// run compares a call of the kernel, with arguments in this memory, with the definition.
func (c *doubleRun) run(t *testing.T, src []byte, long, short []uint32, seqs []sequence) {
	t.Helper()
	if ok := HasDouble(); ok != hasKernels() {
		t.Fatalf("HasDouble is %v, want %v", ok, !ok)
	} else if !ok {
		return
	}
	got, want := *c, *c
	var n int
	want.room = min(c.room, maxCallTokens)
	stop := min(c.p.End, c.p.At+maxCallContent)
	if c.lazy {
		n = ParseDoubleLazy(&got.p, src, long, short, c.costs, seqs, c.costsValid)
	} else {
		n = ParseDouble(&got.p, src, long, short, seqs)
		stop = min(stop, len(src)-DoubleSlack)
	}
	want.long, want.short = slices.Clone(c.long), slices.Clone(c.short)
	wantSeqs := want.naively(stop)
	if got.p.PendingLen == 0 { // these fields belong to a pending match
		got.p.NextInsert, want.p.NextInsert, got.p.PendingOffset, want.p.PendingOffset = 0, 0, 0, 0
	}
	if got.p != want.p || !slices.Equal(seqs[:n], wantSeqs) || !slices.Equal(long, want.long) ||
		!slices.Equal(short, want.short) {
		t.Fatalf(
			"lazy %v, %d bytes from %+v: %d sequences to %+v, want %d to %+v; or contents differ",
			c.lazy, len(src), c.p, n, got.p, len(wantSeqs), want.p)
	}
}

// alone calls run with memory of its own.
func (c *doubleRun) alone(t *testing.T) {
	t.Helper()
	c.run(t, c.src, slices.Clone(c.long), slices.Clone(c.short), make([]sequence, c.room))
}

func TestParseDouble(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(61, 62))
		for i := range scaled(10_000) {
			n := 16 + i%200
			if i%50 == 0 {
				n = 16 + r.IntN(20_000)
			}
			randomDouble(r, randomContent(r, n)).alone(t)
		}
		// More bytes than one call takes, and a match across its end.
		for range scaled(20) {
			c := randomDouble(r, randomContent(r, 200_000))
			c.p.At, c.p.Anchor, c.p.End, c.p.PendingLen, c.p.CheckRepeat = 1, 0, len(c.src)-16, 0, 0
			c.room, c.costsValid = len(c.src)/4, len(c.src)
			c.alone(t)
		}
	})
}

// TestParseDoubleRange checks that both functions panic if a field is out of range.
func TestParseDoubleRange(t *testing.T) {
	good := DoubleParse{
		At:         1,
		End:        84,
		Repeats:    [2]int{1, 1},
		LongShift:  56,
		ShortShift: 57,
		MinMatch:   4,
		MaxOffset:  32,
		Nice:       10,
	}
	for i, f := range []func(p *DoubleParse){
		func(p *DoubleParse) {}, // valid; each of the others changes one thing
		func(p *DoubleParse) { p.At = 0 },
		func(p *DoubleParse) { p.Anchor = 2 },
		func(p *DoubleParse) { p.Anchor = -1 },
		func(p *DoubleParse) { p.Repeats[0] = 0 },
		func(p *DoubleParse) { p.Repeats[1] = 0 },
		func(p *DoubleParse) { p.End = 85 },
		func(p *DoubleParse) { p.LongShift = 55 },
		func(p *DoubleParse) { p.LongShift = 64 },
		func(p *DoubleParse) { p.ShortShift = 56 },
		func(p *DoubleParse) { p.SkipLog = 64 },
		func(p *DoubleParse) { p.MinMatch = 2 },
		func(p *DoubleParse) { p.MinMatch = 33 },
		func(p *DoubleParse) { p.CheckRepeat = 1 },
		func(p *DoubleParse) {
			p.At, p.Anchor, p.CheckRepeat, p.PendingLen, p.PendingOffset = 10, 10, 1, 4, 1
		},
		func(p *DoubleParse) { p.MaxOffset = 31 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset = 10, -1, 1 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset = 10, 8, 1 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset = 10, 4, 0 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset = 10, 4, 11 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset = 95, 6, 1 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset, p.NextInsert = 10, 4, 1, -1 },
		func(p *DoubleParse) { p.At, p.PendingLen, p.PendingOffset, p.NextInsert = 10, 4, 1, 13 },
	} {
		for _, lazy := range []bool{false, true} {
			p := good
			f(&p)
			func() {
				defer func() {
					if panicked := recover() != nil; panicked != (i > 0 || !bestHasKernels) {
						t.Errorf("case %d: %+v: panic %v", i, p, panicked)
					}
				}()
				src, seqs := make([]byte, 100), make([]sequence, 10)
				long, short := make([]uint32, 256), make([]uint32, 128)
				if lazy {
					ParseDoubleLazy(&p, src, long, short, new([256]uint8), seqs, 0)
				} else {
					ParseDouble(&p, src, long, short, seqs)
				}
			}()
		}
	}
}
