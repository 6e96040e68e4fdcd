package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomCtxTable makes the tables of a context-coded run. Contexts depend on one of the two
// symbols, or on both.
func randomCtxTable(r *rand.Rand, tab *CtxTable) {
	low := r.IntN(9)
	tables := 1 + r.IntN(MaxCtxTables)
	for s := range tab.Order1 {
		tab.Order1[s] = uint8(r.IntN(256)>>low) << low
		tab.Order2[s] = uint8(r.IntN(1 << low))
		tab.TableOf[s] = uint8(r.IntN(tables))
	}
	tab.TableOf[CtxMarked] = uint8(r.IntN(tables))
	if r.IntN(4) == 0 { // set high bits, which must not count
		for i := range tab.TableOf {
			tab.TableOf[i] |= uint8(r.Uint32N(256/MaxCtxTables)) * MaxCtxTables
		}
	}
	for k := range tables {
		f := randomFreqs(r)
		tab.Tables[k].Build(&f)
	}
	tab.Index()
}

// decodeCtxNaively is the definition of DecodeCtx.
func decodeCtxNaively(
	g *CtxLanes,
	half int,
	tab *CtxTable,
	marks []uint64,
	buf, words []byte,
) (rounds, used int) {
	for ; rounds < min(len(marks), len(buf)/CtxRound) &&
		len(words)-used >= RoundBytes+WordSlack; rounds++ {
		for l := range Lanes {
			context, second := int(tab.Order1[g.Last[l]])+int(g.Order2[l]), tab.Order2[g.Last[l]]
			if marks[rounds]>>(half*Lanes+l)&1 != 0 {
				context, second = CtxMarked, tab.Order2[0]
			}
			x := g.States[l]
			e := tab.Tables[tab.TableOf[context]%MaxCtxTables][x%slots]
			if x = e>>8%slots*(x>>11) + e>>19; x < StateMin {
				x = x<<16 | uint32(binary.LittleEndian.Uint16(words[used:]))
				used += 2
			}
			buf[rounds*CtxRound+half*Lanes+l], g.Last[l], g.Order2[l], g.States[l] = byte(
				e,
			), byte(e), second, x
		}
	}
	return rounds, used
}

// randomCtxLanes returns a state in which a context-coded run may be.
func randomCtxLanes(r *rand.Rand, tab *CtxTable) (g CtxLanes) {
	for l := range g.States {
		g.States[l] = StateMin + r.Uint32N(1<<31-StateMin)
		g.Last[l], g.Order2[l] = byte(r.Uint32()), tab.Order2[r.IntN(256)]
	}
	return g
}

// randomMarks makes marks for the given number of rounds: many, few or none.
func randomMarks(r *rand.Rand, rounds int) []uint64 {
	marks := make([]uint64, rounds)
	kind := r.IntN(3)
	for i := range marks {
		switch kind {
		case 1:
			marks[i] = r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
		case 2:
			marks[i] = r.Uint64()
		}
	}
	return marks
}

// tryCtx compares DecodeCtx, DecodeCtx2 and DecodeCtxTail with the definition. Each half of the
// buffer has its own words.
func tryCtx(
	t *testing.T,
	r *rand.Rand,
	tab *CtxTable,
	marks []uint64,
	buf []byte,
	words [2][]byte,
) {
	t.Helper()
	first := [2]CtxLanes{randomCtxLanes(r, tab), randomCtxLanes(r, tab)}
	for half, words := range words {
		a, b, c := first[half], first[half], first[half]
		want, tail := bytes.Clone(buf), bytes.Clone(buf)
		rounds, used := decodeCtxNaively(&b, half, tab, marks, want, words)
		n, w := DecodeCtx(&a, half, tab, marks, buf, words)
		if n != rounds || w != used || a != b || !bytes.Equal(buf, want) {
			t.Fatalf(
				"DecodeCtx of %d bytes, %d marks, %d bytes of words: %d rounds and %d bytes used, "+
					"want %d and %d; or symbols or lanes differ",
				len(buf), len(marks), len(words), n, w, rounds, used)
		}
		w, ok := DecodeCtxTail(&c, half, tab, marks[:rounds], tail, Lanes, words)
		if !ok || w != used || c != b || !bytes.Equal(tail, want) {
			t.Fatalf("DecodeCtxTail of %d rounds differs from the definition", rounds)
		}
	}
	// DecodeCtx2 must go as far as both groups can where there is a kernel, and nowhere without
	// one.
	a, b, want := first, first, bytes.Clone(buf)
	rounds, used := DecodeCtx2(&a, tab, marks, buf, words)
	most := 0
	if hasKernels() {
		most = len(marks)
		for half, words := range words {
			lanes := first[half]
			n, _ := decodeCtxNaively(&lanes, half, tab, marks, bytes.Clone(buf), words)
			most = min(most, n)
		}
	}
	if rounds != most {
		t.Fatalf("DecodeCtx2: %d rounds, want %d", rounds, most)
	}
	for half, words := range words {
		if n, w := decodeCtxNaively(&b[half], half, tab, marks[:rounds], want, words); n != rounds ||
			w != used[half] {
			t.Fatalf("DecodeCtx2: %d rounds and %d bytes of words, want %d and %d", rounds,
				used[half], n, w)
		}
	}
	if a != b || !bytes.Equal(buf, want) {
		t.Fatalf("DecodeCtx2 of %d rounds differs from the definition", rounds)
	}
}

// randomWords returns at most n bytes of words for each half.
func randomWords(r *rand.Rand, n int) (words [2][]byte) {
	for half := range words {
		words[half] = make([]byte, r.IntN(n))
		for i := range words[half] {
			words[half][i] = byte(r.Uint32())
		}
	}
	return words
}

func TestCtx(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		tab := new(CtxTable)
		for i := range scaled(3000) {
			if i%10 == 0 {
				randomCtxTable(r, tab)
			}
			buf := make([]byte, r.IntN(40*CtxRound))
			tryCtx(t, r, tab, randomMarks(r, r.IntN(40)), buf, randomWords(r, 30*RoundBytes))
		}
	})
}

// TestCtxLong decodes more rounds than one call of a kernel does.
func TestCtxLong(t *testing.T) {
	const rounds = 1<<12 + 100
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 34))
		tab := new(CtxTable)
		randomCtxTable(r, tab)
		words := [2][]byte{make([]byte, rounds*RoundBytes), make([]byte, rounds*RoundBytes)}
		for _, words := range words {
			for i := range words {
				words[i] = byte(r.Uint32())
			}
		}
		tryCtx(t, r, tab, randomMarks(r, rounds), make([]byte, rounds*CtxRound), words)
	})
}

// BenchmarkCtx decodes 64 KiB with random tables, one group and two in step.
func BenchmarkCtx(b *testing.B) {
	r := rand.New(rand.NewPCG(35, 36))
	tab := new(CtxTable)
	randomCtxTable(r, tab)
	buf, words := make([]byte, 1<<16), make([]byte, 1<<18)
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	marks := randomMarks(r, len(buf)/CtxRound)
	g := [2]CtxLanes{randomCtxLanes(r, tab), randomCtxLanes(r, tab)}
	for groups := 1; groups <= 2; groups++ {
		b.Run(fmt.Sprint(groups), func(b *testing.B) {
			benchTiers(b, func(b *testing.B) {
				b.SetBytes(int64(len(buf) * groups / 2))
				for b.Loop() {
					n := 0
					if groups == 2 {
						n, _ = DecodeCtx2(&g, tab, marks, buf, [2][]byte{words, words})
					}
					for half := range groups {
						DecodeCtx(&g[half], half, tab, marks[n:], buf[n*CtxRound:], words)
					}
				}
			})
		})
	}
}
