package simd

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// randomChain makes the tables of a chained run, with contexts of either symbol or both.
func randomChain(r *rand.Rand, tab *ChainTable) {
	low := r.IntN(9)
	tables := 1 + r.IntN(ChainTables)
	for s := range tab.First {
		tab.First[s] = uint8(r.IntN(256)>>low) << low
		tab.Second[s] = uint8(r.IntN(1 << low))
		tab.Class[s] = uint8(r.IntN(tables))
	}
	tab.Class[ChainMark] = uint8(r.IntN(tables))
	if r.IntN(4) == 0 { // only the low bits count
		for i := range tab.Class {
			tab.Class[i] |= uint8(r.Uint32N(256/ChainTables)) * ChainTables
		}
	}
	for k := range tables {
		f := randomFreqs(r)
		tab.Tables[k].Build(&f)
	}
	tab.Index()
}

// chainedNaively is DecodeChained by its definition, with marks for the symbols before where they stand.
func chainedNaively(g *ChainLanes, tab *ChainTable, buf, words []byte) (done, used int) {
	for ; len(buf)-done >= Lanes && len(words)-used >= RoundBytes+ReadAhead; done += Lanes {
		for l := range Lanes {
			context, second := int(tab.First[g.Last[l]])+int(g.Second[l]), tab.Second[g.Last[l]]
			if buf[done+l]&1 != 0 {
				context, second = ChainMark, tab.Second[0]
			}
			x := g.States[l]
			e := tab.Tables[tab.Class[context]%ChainTables][x%slots]
			if x = e>>8%slots*(x>>11) + e>>19; x < LaneLower {
				x = x<<16 | uint32(binary.LittleEndian.Uint16(words[used:]))
				used += 2
			}
			buf[done+l], g.Last[l], g.Second[l], g.States[l] = byte(e), byte(e), second, x
		}
	}
	return done, used
}

// randomLanes is where a chained run may stand.
func randomLanes(r *rand.Rand, tab *ChainTable) (g ChainLanes) {
	for l := range g.States {
		g.States[l] = LaneLower + r.Uint32N(1<<31-LaneLower)
		g.Last[l], g.Second[l] = byte(r.Uint32()), tab.Second[r.IntN(256)]
	}
	return g
}

// randomMarks fills buf with marks, of which there are many, few or none.
func randomMarks(r *rand.Rand, buf []byte) {
	n := []int{2, 30, 1 << 30}[r.IntN(3)]
	for i := range buf {
		buf[i] = 0
		if r.IntN(n) == 0 {
			buf[i] = 1
		}
	}
}

// tryChained compares DecodeChained and DecodeChainedFew with the definition.
func tryChained(t *testing.T, r *rand.Rand, tab *ChainTable, buf, words []byte) {
	t.Helper()
	a := randomLanes(r, tab)
	b, c := a, a
	randomMarks(r, buf)
	want, few := bytes.Clone(buf), bytes.Clone(buf)
	rounds, used := chainedNaively(&b, tab, want, words)
	if n, w := DecodeChained(&a, tab, buf, words); n != rounds || w != used || a != b || !bytes.Equal(buf, want) {
		t.Fatalf("%d symbols and %d bytes of words: %d and %d used, want %d and %d, or other symbols or lanes", len(buf), len(words), n, w, rounds, used)
	}
	if w, ok := DecodeChainedFew(&c, tab, few[:rounds], words); !ok || w != used || c != b || !bytes.Equal(few, want) {
		t.Fatalf("one by one %d symbols differ", rounds)
	}
}

func TestChained(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		tab := new(ChainTable)
		for i := range scaled(3000) {
			if i%10 == 0 {
				randomChain(r, tab)
			}
			buf, words := make([]byte, r.IntN(40*Lanes)), make([]byte, r.IntN(30*RoundBytes))
			for i := range words {
				words[i] = byte(r.Uint32())
			}
			tryChained(t, r, tab, buf, words)
		}
	})
}

// TestChainedLong goes beyond what a kernel does in one call.
func TestChainedLong(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 34))
		tab := new(ChainTable)
		randomChain(r, tab)
		words := make([]byte, 1<<19)
		for i := range words {
			words[i] = byte(r.Uint32())
		}
		tryChained(t, r, tab, make([]byte, 2<<17+100), words)
	})
}

// BenchmarkChained decodes 64 KiB with the tables of a made-up run.
func BenchmarkChained(b *testing.B) {
	r := rand.New(rand.NewPCG(35, 36))
	tab := new(ChainTable)
	randomChain(r, tab)
	buf, words := make([]byte, 1<<16), make([]byte, 1<<18)
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	g := randomLanes(r, tab)
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		for b.Loop() {
			clear(buf)
			DecodeChained(&g, tab, buf, words)
		}
	})
}
