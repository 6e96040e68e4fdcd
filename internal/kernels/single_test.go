package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// parseNaively is the definition of ParseSingle. It continues until At reaches stop or it has found
// room sequences.
func parseNaively(p *SingleParse, src []byte, table []uint32, stop, room int) (seqs []sequence) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(src[i:]) }
	// place returns the table index and the tag of a position.
	place := func(i int) (h uint64, tag uint32) {
		x := word(i) & p.Mask * 0x9E3779B185EBCA87
		return x >> p.Shift, uint32(x) & uint32(p.TagMask)
	}
	same4 := func(c, i int) bool { return uint32(word(c)) == uint32(word(i)) }
	multiples := [16]int{0, 16, 16, 18, 16, 20, 18, 21, 16, 18, 20, 22, 24, 26, 28, 30}
	for p.At < stop && len(seqs) < room {
		i := p.At
		h, tag := place(i)
		h1, tag1 := place(i + 1)
		c, c1 := int(table[h]^tag), int(table[h1]^tag1)
		table[h], table[h1] = tag|uint32(i), tag1|uint32(i+1)
		ok, again := true, false
		switch {
		case i+1 >= p.Repeat && same4(i+1-p.Repeat, i+1):
			i++
			c, again = i-p.Repeat, true
		case uint(c) < uint(i) && same4(c, i) && i-c <= p.MaxOffset:
		case uint(c1) <= uint(i) && same4(c1, i+1) && i+1-c1 <= p.MaxOffset:
			i, c = i+1, c1
		default:
			ok = false
		}
		if d := i - c; ok && d < 16 && !again {
			c = i - multiples[d]
			ok = c >= 0 && same4(c, i)
		}
		n, k := 0, 0
		for ok && i+n < len(src) && src[i+n] == src[c+n] {
			n++
		}
		if !ok || n < p.MinMatch {
			p.At = i + min(2+(i-p.Anchor)>>p.SkipLog, 32)
			continue
		}
		for k < i-p.Anchor && k < c && src[i-k-1] == src[c-k-1] {
			k++
		}
		seqs = append(seqs, sequence{uint32(i - k - p.Anchor), uint32(n + k), uint32(i - c)})
		if p.UpdateRepeat != 0 {
			p.Repeat = i - c
		}
		p.At = i + n
		p.Anchor = p.At
		if p.At < p.End {
			for _, i := range []int{i - k + 2, p.At - 2} {
				h, tag := place(i)
				table[h] = tag | uint32(i)
			}
		}
	}
	return seqs
}

// randomParse returns a parse of src that begins or continues anywhere, with arbitrary table
// entries.
func randomParse(r *rand.Rand, src []byte) (p *SingleParse, table []uint32) {
	log := 1 + r.IntN(10)
	table = make([]uint32, 1<<log)
	p = &SingleParse{
		At: 1 + r.IntN(len(src)), Repeat: 16 + r.IntN(len(src)),
		End: len(src) - 16 - r.IntN(2)*r.IntN(len(src)), Mask: ^uint64(0) >> (8 * r.IntN(5)),
		Shift: uint64(64 - log), SkipLog: uint64(r.IntN(10)),
		MaxOffset: 32 + r.IntN(2)*r.IntN(1<<17), MinMatch: 3 + r.IntN(6), UpdateRepeat: r.IntN(4),
	}
	if r.IntN(2) == 0 {
		p.At = 1
	}
	p.Anchor = p.At - r.IntN(2)*r.IntN(p.At+1)
	if r.IntN(4) == 0 {
		p.Repeat = []int{1, 2, 15, 64, len(src) + 1, math.MaxInt}[r.IntN(6)]
	}
	p.TagMask = uint64(^uint32(0) << bits.Len(uint(len(src))))
	if kind := r.IntN(4); kind > 0 {
		for i := range table {
			table[i] = r.Uint32() >> r.IntN(32)
			if kind > 1 {
				// An entry with the right tag. Its position may follow the current one.
				c := r.IntN(len(src) - 7)
				x := binary.LittleEndian.Uint64(src[c:]) & p.Mask * 0x9E3779B185EBCA87
				table[x>>p.Shift] = uint32(x)&uint32(p.TagMask) | uint32(c)
			}
		}
	}
	return p, table
}

// runParse compares a call of the kernel, with arguments in this memory, with the definition.
func runParse(t *testing.T, p *SingleParse, src []byte, table []uint32, seqs []sequence) {
	t.Helper()
	want, wantTable := *p, slices.Clone(table)
	n, ok := ParseSingle(p, src, table, seqs)
	if ok != hasKernels() {
		t.Fatalf("ParseSingle: kernel %v, want %v", ok, !ok)
	}
	if !ok {
		return
	}
	start := want
	stop := min(want.End, want.At+maxCallContent)
	wantSeqs := parseNaively(&want, src, wantTable, stop, min(len(seqs), maxCallTokens))
	if *p != want || !slices.Equal(seqs[:n], wantSeqs) || !slices.Equal(table, wantTable) {
		t.Fatalf("%d bytes from %+v: %d sequences to %+v, want %d to %+v; or contents differ",
			len(src), start, n, *p, len(wantSeqs), want)
	}
}

func TestParseSingle(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(35, 36))
		for i := range scaled(8000) {
			n := 16 + i%200
			if i%50 == 0 {
				n = 16 + r.IntN(20_000)
			}
			src := randomContent(r, n)
			p, table := randomParse(r, src)
			runParse(t, p, src, table, make([]sequence, r.IntN(2+n/8)))
		}
		// More sequences than one call takes, and then more bytes, with matches so long that most
		// calls end behind one.
		long := randomContent(r, 1000)
		for len(long) < 1_000_000 {
			at := r.IntN(min(len(long)-500, 1<<16))
			long = append(long, long[at:at+300+r.IntN(200)]...)
		}
		for i := range 6 {
			src := long
			if i == 0 {
				src = randomContent(r, 400_000)
			}
			p, table := randomParse(r, src)
			p.At, p.Anchor, p.End, p.MaxOffset = 1, 0, len(src)-16, 1<<20
			seqs := make([]sequence, len(src)/4)
			for before := 0; p.At < p.End && before != p.At; {
				before = p.At
				runParse(t, p, src, table, seqs)
			}
		}
	})
}

// TestParseSingleRange checks that ParseSingle panics if a field is out of range.
func TestParseSingleRange(t *testing.T) {
	good := SingleParse{At: 1, Repeat: 1, End: 84, Shift: 56}
	for i, f := range []func(p *SingleParse){
		func(p *SingleParse) {}, // valid; each of the others changes one field
		func(p *SingleParse) { p.At = 0 },
		func(p *SingleParse) { p.Anchor = 2 },
		func(p *SingleParse) { p.Anchor = -1 },
		func(p *SingleParse) { p.Repeat = 0 },
		func(p *SingleParse) { p.End = 85 },
		func(p *SingleParse) { p.Shift = 55 },
		func(p *SingleParse) { p.Shift = 64 },
		func(p *SingleParse) { p.SkipLog = 64 },
	} {
		p := good
		f(&p)
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != (i > 0 && hasKernels()) {
					t.Errorf("case %d: %+v: panic %v", i, p, panicked)
				}
			}()
			ParseSingle(&p, make([]byte, 100), make([]uint32, 256), make([]sequence, 10))
		}()
	}
}
