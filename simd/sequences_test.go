package simd

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

type sequence struct{ LitLen, MatchLen, Offset uint32 }

// resolveCase is what the kernels that resolve tokens are given, and how far they have come.
type tokensCase struct {
	plain                                    bool
	tokens, litLens, matchLens, codes, extra []byte // codes are the offsets if plain
	bit                                      uint
	repeats, least                           [4]uint32
	r                                        TokenProgress
	longs                                    int // lengths of more than a byte
}

// step takes one token by the definition. It returns false, and changes nothing, if the kernels leave that token or a stream does not have all of it.
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
	litFull, matchShift, matchFull, matchMin := uint32(3), 2, uint32(15), c.least[token>>6]
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
	if place := int(token >> 6); c.plain {
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

// run has the kernel go on and holds what it did to the definition, from where it began. seqs is the place for sequences.
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
		got, ok = DecodeTokensRepeat(seqs, c.tokens, c.litLens, c.matchLens, c.codes, c.extra, &bit, &repeats, &c.least)
	}
	if ok != has(current()).resolve {
		t.Fatalf("there is a kernel: %v", ok)
	}
	for i := range got.Done {
		q, ok := want.step()
		if !ok {
			t.Fatalf("token %d should have been left", i)
		}
		if seqs[i] != q {
			t.Fatalf("sequence %d of %d: %v, want %v", i, got.Done, seqs[i], q)
		}
	}
	if got != want.r || bit != want.bit || [3]uint32(repeats[:3]) != [3]uint32(want.repeats[:3]) {
		t.Fatalf("%+v, bit %d, repeats %v; want %+v, %d, %v", got, bit, repeats, want.r, want.bit, want.repeats)
	}
	// Where there is enough of everything and nothing rare, it must have gone on.
	if ok && got.Done < min(room, maxCallTokens)-(tokensStep-1) && len(want.tokens) >= tokensStep && len(want.litLens) >= 24 && len(want.matchLens) >= 24 && len(want.codes) >= 2*tokensStep &&
		(c.plain || uint(len(want.extra)) >= want.bit/8+80) {
		rare := want
		rare.longs = 0
		for i := 0; rare.longs < 2; i++ {
			if i == tokensStep {
				t.Fatalf("stopped after %d of %d tokens for nothing", got.Done, len(c.tokens))
			}
			if _, ok := rare.step(); !ok {
				break
			}
		}
	}
	c.r = got
}

// The numbers of the kernels: the most tokens that one step takes, and the most that a call does.
const (
	tokensStep    = 16
	maxCallTokens = 1 << 10
)

// randomResolve makes n tokens and all that they need, with things that are rare here and there, and little or much more behind.
func randomTokens(r *rand.Rand, plain bool, n, rare int) *tokensCase {
	c := &tokensCase{plain: plain, bit: uint(r.IntN(30))}
	for i := range c.least {
		c.least[i] = r.Uint32N(16)
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
			case r.IntN(8) == 0: // not what an encoder writes
				*p = append(*p, 255, byte(r.IntN(256)), byte(r.IntN(2)), byte(r.IntN(20)/19), byte(r.IntN(20)/19))
			default:
				n := 255 + r.IntN(65536-255)
				*p = append(*p, 255, byte(n), byte(n>>8), 0, 0)
			}
		}
	}
	kinds := 1 + r.IntN(4) // of tokens
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

// TestDecodeTokens: all counts of tokens around the steps, and long runs of them.
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

// executeNaively carries out sequences, byte by byte, until one does not fit or n are done, and returns the number of the first that was not done.
func executeNaively(dst []byte, at int, lits []byte, seqs []sequence, n int) (done, end, used int) {
	for _, q := range seqs[:n] {
		if most := int64(len(dst) - at - CopySlack); int64(q.LitLen) > int64(len(lits)-used-CopySlack) || int64(q.LitLen)+int64(q.MatchLen) > most || int64(q.Offset) > int64(at)+int64(q.LitLen) {
			break
		}
		lit, match, off := int(q.LitLen), int(q.MatchLen), int(q.Offset)
		copy(dst[at:], lits[used:used+lit])
		at, used = at+lit, used+lit
		for range match {
			dst[at] = dst[at-off]
			at++
		}
		done++
	}
	return done, at, used
}

// randomCopies makes n sequences that begin at position at, and counts what they need. Lengths lie around the steps of the kernels; one in bad has an offset that
// reaches too far.
func randomCopies(r *rand.Rand, n, at, bad int) (seqs []sequence, lits, size int) {
	length := func() int {
		switch r.IntN(10) {
		case 0:
			return r.IntN(400)
		case 1, 2:
			return 0
		default:
			return max(0, 16*(1+r.IntN(5))+r.IntN(5)-2)
		}
	}
	size = at
	for range n {
		q := sequence{LitLen: uint32(length()), MatchLen: uint32(length())}
		if size+int(q.LitLen) < 16 {
			q.LitLen += 16
		}
		size += int(q.LitLen)
		lits += int(q.LitLen)
		q.Offset = 16 + r.Uint32N(60)
		if r.IntN(3) == 0 || int(q.Offset) > size {
			q.Offset = 16 + r.Uint32N(uint32(size-15))
		}
		if bad > 0 && r.IntN(bad) == 0 {
			q.Offset = uint32(size+1) + r.Uint32()>>(1+r.IntN(31))
		}
		size += int(q.MatchLen)
		seqs = append(seqs, q)
	}
	return seqs, lits, size
}

// runExecute holds the kernel to the definition: in dst, from at on.
func runExecute(t *testing.T, dst []byte, at int, lits []byte, seqs []sequence) {
	t.Helper()
	want := bytes.Clone(dst)
	done, end, used, ok := Execute(dst, at, lits, seqs)
	if ok != has(current()).execute {
		t.Fatalf("there is a kernel: %v", ok)
	}
	most, wantEnd, wantUsed := executeNaively(want, at, lits, seqs, len(seqs))
	if ok && done != most && wantEnd < at+maxCallContent-1000 && most < maxCallTokens {
		t.Fatalf("%d of %d sequences, should be %d", done, len(seqs), most)
	}
	if done != most {
		_, wantEnd, wantUsed = executeNaively(want, at, lits, seqs, min(done, most))
	}
	if done > most || end != wantEnd || used != wantUsed || !bytes.Equal(dst[:end], want[:end]) {
		t.Fatalf("%d of %d sequences to %d with %d literals, want %d, %d, %d; or content differs", done, len(seqs), end, used, most, wantEnd, wantUsed)
	}
}

// maxCallContent is the most that a call of the kernel writes.
const maxCallContent = 1 << 17

func TestExecute(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for i := range scaled(20_000) {
			at := r.IntN(2) * r.IntN(60)
			n := r.IntN(12)
			switch {
			case i%200 == 0:
				n = r.IntN(4000)
			case i%10 == 0: // where the kernel looks which way is better
				n = 60 + r.IntN(100)
			}
			seqs, lits, size := randomCopies(r, n, at, r.IntN(2)*(30+3*n))
			// Exactly enough room, or less, or more.
			dst := make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			from := make([]byte, max(0, lits+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			for _, p := range [][]byte{dst, from} {
				for i := range p {
					p[i] = byte(r.Uint32())
				}
			}
			runExecute(t, dst, at, from, seqs)
		}
		// One sequence of every length and short offset.
		for off := uint32(16); off <= 70; off++ {
			for n := range uint32(140) {
				lits := make([]byte, off+CopySlack)
				for i := range lits {
					lits[i] = byte(i*7 + 1)
				}
				runExecute(t, make([]byte, off+n+CopySlack), 0, lits, []sequence{{off, n, off}})
			}
		}
		for _, q := range []sequence{{1 << 31, 4, 16}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, {0, 1<<32 - 1, 16}, {0, 1 << 31, 1 << 31}, {20, 10, 1 << 31}} {
			runExecute(t, make([]byte, 100), 40, make([]byte, 100), []sequence{q})
		}
	})
}
