package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Flags of an entry of InflateTables, as package inflate defines them.
const (
	entryLiteral  = 1 << 15
	entrySpecial  = 1 << 14
	entrySubtable = 1 << 13
	entryEnd      = 1 << 12
)

// randomCode fills a table with a random complete code of up to 15 bits. newEntry returns the entry
// of a codeword of n bits.
func randomCode(r *rand.Rand, table []uint32, primary int, newEntry func(n int) uint32) {
	end := 1 << primary
	spread := 2 + r.IntN(2)*r.IntN(100) // the larger, the longer most codewords
	var fill func(table []uint32, word, n, primary, above int, deep func(word int))
	fill = func(table []uint32, word, n, primary, above int, deep func(word int)) {
		switch {
		case n == primary && deep != nil && r.IntN(100) == 0 && end+16 <= cap(table):
			deep(word)
		case n == primary || n > 1 && r.IntN(spread) == 0:
			e := newEntry(n + above)
			for i := word; i < 1<<primary; i += 1 << n {
				table[i] = e
			}
		default:
			fill(table, word, n+1, primary, above, deep)
			fill(table, word|1<<n, n+1, primary, above, deep)
		}
	}
	fill(table, 0, 0, primary, 0, func(word int) {
		size := 1 + r.IntN(min(4, 15-primary))
		table[word] = entrySpecial | entrySubtable | uint32(end)<<16 | uint32(size)<<8
		start := end
		end += 1 << size
		fill(table[start:end:end], 0, 1, size, primary, nil)
		fill(table[start:end:end], 1, 1, size, primary, nil)
	})
}

// randomInflateTables returns tables of random codes. About one symbol in rare is invalid or ends
// the block.
func randomInflateTables(r *rand.Rand, rare int) *InflateTables {
	t := new(InflateTables)
	literals, nearest, longest := r.IntN(4), r.IntN(2), r.IntN(3)
	entry := func(base, extra, n int) uint32 {
		return uint32(base<<16 | n<<8 | (n + extra))
	}
	randomCode(r, t.Literals[:], 11, func(n int) uint32 {
		switch {
		case r.IntN(rare) == 0:
			return uint32(entrySpecial | r.IntN(2)*entryEnd | n<<8 | n)
		case r.IntN(4) < literals:
			return entryLiteral | entry(r.IntN(256), 0, n)
		}
		extra := r.IntN(6)
		if longest == 0 {
			return entry(259-1<<extra, extra, n)
		}
		return entry(3+r.IntN(257-1<<extra), extra, n)
	})
	randomCode(r, t.Offsets[:], 8, func(n int) uint32 {
		if r.IntN(rare) == 0 {
			return uint32(entrySpecial | n<<8 | n)
		}
		extra := r.IntN(14)
		switch {
		case nearest == 0:
			extra = r.IntN(4)
		case longest == 0:
			extra = 13
		}
		return entry(1+r.IntN(40), extra, n)
	})
	return t
}

// bitReader reads single bits, the lowest of a byte first. Behind the end there are zeros.
type bitReader struct {
	p  []byte
	at int // in bits
}

func (b *bitReader) bits(n int) (v int) {
	for i := range n {
		if at := b.at + i; at>>3 < len(b.p) {
			v |= int(b.p[at>>3]>>(at&7)&1) << i
		}
	}
	return v
}

// symbol returns the next entry of a code, and its value with the extra bits. It consumes nothing.
func (b *bitReader) symbol(table []uint32, primary int) (e uint32, value int) {
	e = table[b.bits(primary)]
	if e&entrySubtable != 0 {
		n := int(e >> 8 & 15)
		e = table[int(e>>16)+b.bits(primary+n)>>primary]
	}
	return e, int(e>>16) + b.bits(int(e&63))>>(e>>8&15)
}

// tryInflate decodes src with Inflate or InflateSymbols and random tables. It compares with single
// steps up to the same place.
func tryInflate[T byte | uint16](
	t *testing.T, r *rand.Rand, src []byte, dst []T,
	inflate func(*InflateState, *InflateTables, []T, []byte) bool,
) {
	t.Helper()
	tables := randomInflateTables(r, 1+r.IntN(100_000))
	s := InflateState{In: r.IntN(min(len(src), 20) + 1), Out: r.IntN(len(dst) + 1)}
	s.Count = r.UintN(uint(min(8*s.In, 63) + 1))
	b := bitReader{src, 8*s.In - int(s.Count)}
	s.Bits = uint64(b.bits(int(s.Count)))
	want, o := slices.Clone(dst), s.Out
	before := s
	if ok := inflate(&s, tables, dst, src); ok != hasKernels() {
		t.Fatalf("Inflate: kernel %v, want %v", ok, !ok)
	} else if !ok {
		if s != before || !slices.Equal(dst, want) {
			t.Fatal("without a kernel Inflate did something")
		}
		return
	}
	what := fmt.Sprintf("%+v of %d and %d bytes, to %+v", before, len(src), len(dst), s)
	if s.In > len(src) || s.Out > len(dst) || s.Count > 63 {
		t.Fatal(what)
	}
	end := 8*s.In - int(s.Count)
	for {
		e, v := b.symbol(tables.Literals[:], 11)
		if b.at == end {
			if s.Out <= len(dst)-InflateRoom && s.In <= len(src)-InflateInput && e&entrySpecial == 0 {
				t.Fatalf("%s: stops without a reason", what)
			}
			break
		}
		if b.at > end || e&entrySpecial != 0 || o > len(dst)-259 {
			t.Fatalf("%s: goes on at bit %d", what, b.at)
		}
		b.at += int(e & 63)
		if e&entryLiteral != 0 {
			want[o] = T(e >> 16)
			o++
			continue
		}
		e, offset := b.symbol(tables.Offsets[:], 8)
		if b.at == end && s.Length > 0 {
			if s.Length != v || e&entrySpecial == 0 && offset <= o {
				t.Fatalf("%s: stops before the match of %d bytes at offset %d", what, v, offset)
			}
			break
		}
		if e&entrySpecial != 0 || offset > o {
			t.Fatalf("%s: accepts offset %d", what, offset)
		}
		b.at += int(e & 63)
		for range v {
			want[o] = want[o-offset]
			o++
		}
	}
	if o != s.Out || !slices.Equal(dst[:o], want[:o]) {
		t.Fatalf("%s: content differs, %d bytes", what, o)
	}
	if end := min(len(want), o+InflateRoom); !slices.Equal(dst[end:], want[end:]) {
		t.Fatalf("%s: overwrites more than %d items behind the content", what, InflateRoom)
	}
	if b := (&bitReader{src, end}).bits(int(s.Count)); s.Bits&(1<<s.Count-1) != uint64(b) {
		t.Fatalf("%s: bits %x, want %x", what, s.Bits, b)
	}
}

func TestInflate(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(131, 132))
		for i := range scaled(1500) {
			src := make([]byte, r.IntN(3000))
			for k := range src {
				src[k] = byte(r.Uint32())
			}
			room := r.IntN(20_000)
			if i%100 < 2 { // more than one call of the assembly
				room = 400_000
			}
			if i%2 == 0 {
				tryInflate(t, r, src, randomUnits[byte](r, room), Inflate)
			} else {
				tryInflate(t, r, src, randomUnits[uint16](r, room), InflateSymbols)
			}
		}
	})
}

func randomUnits[T byte | uint16](r *rand.Rand, n int) []T {
	p := make([]T, n)
	for i := range p {
		p[i] = T(r.Uint32())
	}
	return p
}

func TestInflatePanics(t *testing.T) {
	for i, s := range []InflateState{
		{In: -1}, {In: 101}, {Out: -1}, {Out: 1001}, {Count: 64},
		{In: -1}, {In: 101}, {Out: -1}, {Out: 1001}, {Count: 64},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", s)
				}
			}()
			if i < 5 {
				Inflate(&s, new(InflateTables), make([]byte, 1000), make([]byte, 100))
			} else {
				InflateSymbols(&s, new(InflateTables), make([]uint16, 1000), make([]byte, 100))
			}
		}()
	}
}

func inflateKernelRuns() (name string, ran bool) {
	s := InflateState{}
	t := new(InflateTables)
	for i := range t.Literals {
		t.Literals[i] = entryLiteral | 1<<8 | 1
	}
	ok := Inflate(&s, t, make([]byte, InflateRoom), make([]byte, 2*InflateInput))
	z := InflateState{}
	ok2 := InflateSymbols(&z, t, make([]uint16, InflateRoom), make([]byte, 2*InflateInput))
	if ok != ok2 || s != z {
		return "InflateSymbols", ok2 && z.Out > 0
	}
	if _, ran := resolveSymbolsKernel(nil, nil, nil); ran != ok {
		return "ResolveSymbols", ran
	}
	return "Inflate", ok && s.Out > 0
}
