package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// tokensCase has the arguments of a function that decodes tokens, and its progress.
type tokensCase struct {
	plain                                    bool
	tokens, litLens, matchLens, codes, extra []byte // codes has the offsets if plain
	bit                                      uint
	repeats, minMatch                        [4]uint32
	r                                        TokenProgress
	longs                                    int // lengths of more than a byte
}

// step decodes one token by the definition. It returns false and changes nothing if the kernels
// leave the token to the twin, or a stream ends within it.
func (c *tokensCase) step() (q sequence, ok bool) {
	if len(c.tokens) == 0 {
		return q, false
	}
	next := *c
	next.tokens = c.tokens[1:]
	take := func(p *[]byte, used *int) uint32 {
		if len(*p) == 0 {
			ok = false
			return 0
		}
		v := (*p)[0]
		*p = (*p)[1:]
		*used++
		return uint32(v)
	}
	long := func(p *[]byte, used *int) uint32 {
		n := take(p, used)
		if n == 255 {
			c.longs++
			n = take(p, used) | take(p, used)<<8 | take(p, used)<<16 | take(p, used)<<24
			ok = ok && 255 <= n && n <= 65535
		}
		return n
	}
	ok = true
	token := uint32(c.tokens[0])
	litFull, matchShift, matchFull, matchMin := uint32(3), 2, uint32(15), c.minMatch[token>>6]
	if c.plain {
		litFull, matchShift, matchMin = 15, 4, 5
	}
	lit, match := token&litFull, token>>matchShift&15
	if lit == litFull {
		lit += long(&next.litLens, &next.r.UsedLits)
	}
	if match == matchFull {
		match += long(&next.matchLens, &next.r.UsedMatches)
	}
	match += matchMin
	var off uint32
	place := int(token >> 6)
	if c.plain {
		off = take(&next.codes, &next.r.UsedOffsets)
		off |= take(&next.codes, &next.r.UsedOffsets) << 8
	} else {
		list := c.repeats[:3]
		if place < 3 {
			off = list[place]
			list = slices.Delete(slices.Clone(list), place, place+1)
		} else {
			code := take(&next.codes, &next.r.UsedOffsets)
			if code > 99 || next.bit+uint(code/4) > 8*uint(len(c.extra)) {
				return q, false
			}
			v := uint32(1) << (code / 4)
			for i := range code / 4 {
				v |= uint32(c.extra[next.bit/8]>>(next.bit%8)&1) << i
				next.bit++
			}
			off = v*4 + code%4 - 4
		}
		copy(next.repeats[:3], append([]uint32{off}, list[:2]...))
	}
	if !ok || off < 16 {
		return q, false
	}
	next.r.Done++
	next.r.Lits += uint64(lit)
	next.r.Produced += uint64(lit) + uint64(match)
	next.longs = c.longs
	*c = next
	return sequence{lit, match, off}, true
}

// run calls the kernel and compares its results with the definition. seqs is the memory for
// sequences.
func (c *tokensCase) run(t *testing.T, seqs []sequence) {
	t.Helper()
	room := len(seqs)
	want := *c
	want.r = TokenProgress{}
	bit, repeats := c.bit, c.repeats
	var got TokenProgress
	var ok bool
	if c.plain {
		got, ok = DecodeTokensPlain(seqs, c.tokens, c.litLens, c.matchLens, c.codes)
	} else {
		got, ok = DecodeTokensRepeat(seqs, c.tokens, c.litLens, c.matchLens, c.codes, c.extra,
			&bit, &repeats, &c.minMatch)
	}
	if ok != hasKernels() {
		t.Fatalf("kernel %v, want %v", ok, !ok)
	}
	for i := range got.Done {
		q, ok := want.step()
		if !ok {
			t.Fatalf("token %d: the kernel must leave it", i)
		}
		if seqs[i] != q {
			t.Fatalf("sequence %d of %d: %v, want %v", i, got.Done, seqs[i], q)
		}
	}
	if got != want.r || bit != want.bit || [3]uint32(repeats[:3]) != [3]uint32(want.repeats[:3]) {
		t.Fatalf("%+v, bit %d, repeats %v; want %+v, %d, %v", got, bit, repeats, want.r, want.bit,
			want.repeats)
	}
	// With enough bytes in all streams, and nothing rare, the kernel must continue.
	if ok && got.Done < min(room, maxCallTokens)-(tokensStep-1) && len(want.tokens) >= tokensStep &&
		len(want.litLens) >= 24 &&
		len(want.matchLens) >= 24 &&
		len(want.codes) >= 2*tokensStep &&
		(c.plain || uint(len(want.extra)) >= want.bit/8+80) {
		rare := want
		rare.longs = 0
		for i := 0; rare.longs < 2; i++ {
			if i == tokensStep {
				t.Fatalf("stopped after %d of %d tokens without a reason", got.Done, len(c.tokens))
			}
			if _, ok := rare.step(); !ok {
				break
			}
		}
	}
	c.r = got
}

// randomTokens makes n tokens and their streams, with few or many bytes behind them. One in rare
// lengths, offsets or codes is rare or invalid; 0 means none.
func randomTokens(r *rand.Rand, plain bool, n, rare int) *tokensCase {
	c := &tokensCase{plain: plain, bit: uint(r.IntN(30))}
	for i := range c.minMatch {
		c.minMatch[i] = r.Uint32N(16)
	}
	for i := range c.repeats {
		c.repeats[i] = 16 + r.Uint32N(1<<uint(4+r.IntN(22)))
	}
	fill := func(p *[]byte, n int, f func() byte) {
		for range n {
			*p = append(*p, f())
		}
	}
	seldom := func() bool { return rare > 0 && r.IntN(rare) == 0 }
	lengths := func(p *[]byte, n int) {
		for range n {
			switch {
			case !seldom():
				*p = append(*p, byte(r.IntN(255)))
			case r.IntN(8) == 0: // invalid
				*p = append(*p, 255, byte(r.IntN(256)), byte(r.IntN(2)), byte(r.IntN(20)/19),
					byte(r.IntN(20)/19))
			default:
				n := 255 + r.IntN(65536-255)
				*p = append(*p, 255, byte(n), byte(n>>8), 0, 0)
			}
		}
	}
	kinds := 1 + r.IntN(4) // different values of bits 6–7
	fill(&c.tokens, n, func() byte { return byte(r.IntN(64) | 64*(3-r.IntN(kinds))) })
	if r.IntN(3) == 0 {
		fill(&c.tokens, n, func() byte { return byte(0xff - r.IntN(2)<<r.IntN(8)) })
	}
	most := []int{n + 40, r.IntN(n + 40), n/4 + 20}[r.IntN(3)]
	lengths(&c.litLens, most)
	lengths(&c.matchLens, most)
	if plain {
		for range 2*n + r.IntN(40) {
			off := 16 + r.IntN(1<<16-16)
			if seldom() {
				off = r.IntN(18)
			}
			c.codes = append(c.codes, byte(off), byte(off>>8))
		}
		return c
	}
	fill(&c.codes, max(0, n+20-r.IntN(40)), func() byte {
		if seldom() {
			return byte(r.IntN(256))
		}
		return byte(12 + r.IntN(88)>>r.IntN(3))
	})
	fill(&c.extra, 10+r.IntN(3*n+60), func() byte { return byte(r.Uint32()) })
	return c
}

// TestDecodeTokens decodes few tokens, around the size of a step, and many.
func TestDecodeTokens(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for i := range scaled(6000) {
			n := i % 70
			if i%20 == 0 {
				n = r.IntN(3000)
			}
			c := randomTokens(r, i/70%2 == 0, n, []int{0, 10, 100, 1000}[r.IntN(4)])
			c.run(t, make([]sequence, max(0, len(c.tokens)-r.IntN(2)*r.IntN(20))))
		}
	})
}
