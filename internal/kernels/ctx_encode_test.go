package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// ctxRun is a set of arguments of EncodeCtx.
type ctxRun struct {
	tabs             *[MaxCtxTables]EncodeTable
	freqs            [MaxCtxTables][256]uint16
	symbols, tableOf []byte
	begin            [Lanes]int
}

func newCtxRun(r *rand.Rand) *ctxRun {
	c := &ctxRun{tabs: new([MaxCtxTables]EncodeTable)}
	for k := range c.tabs {
		c.freqs[k] = randomFreqs(r)
		c.tabs[k].Build(&c.freqs[k])
	}
	return c
}

// setSymbols gives each lane rounds symbols, with gaps between the lanes.
func (c *ctxRun) setSymbols(r *rand.Rand, rounds int) {
	c.symbols, c.tableOf = nil, nil
	for l := range c.begin {
		for range r.IntN(4) {
			c.symbols, c.tableOf = append(c.symbols, 0), append(c.tableOf, 0)
		}
		c.begin[l] = len(c.symbols)
		for range rounds {
			k := r.IntN(MaxCtxTables)
			c.symbols = append(c.symbols, randomRun(r, &c.freqs[k], 1)...)
			c.tableOf = append(c.tableOf, byte(k))
		}
	}
}

// check encodes rounds in two calls, to words, which has room for no more than two bytes a symbol.
func (c *ctxRun) check(t *testing.T, r *rand.Rand, rounds int, words []byte) {
	t.Helper()
	var want [Lanes]uint32
	for l := range want {
		want[l] = StateMin + r.Uint32N(1<<31-StateMin)
	}
	got := want
	check := make([]byte, len(words))
	wantAt := len(words)
	for round := rounds - 1; round >= 0; round-- {
		for l := Lanes - 1; l >= 0; l-- {
			i := c.begin[l] + round
			wantAt = c.tabs[c.tableOf[i]].EncodeSymbol(&want[l], c.symbols[i], check, wantAt)
		}
	}
	half := r.IntN(rounds + 1)
	at := EncodeCtx(&got, c.tabs, c.symbols, c.tableOf, &c.begin, half, rounds, words, len(words))
	at = EncodeCtx(&got, c.tabs, c.symbols, c.tableOf, &c.begin, 0, half, words, at)
	if at != wantAt || got != want || !bytes.Equal(words[at:], check[at:]) {
		t.Fatalf("EncodeCtx of %d rounds differs from EncodeSymbol", rounds)
	}
}

func TestEncodeCtx(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(107, 108))
		var c *ctxRun
		for i := range scaled(300) {
			if i%20 == 0 {
				c = newCtxRun(r)
			}
			rounds := r.IntN(20)
			c.setSymbols(r, rounds)
			c.check(t, r, rounds, make([]byte, rounds*RoundBytes))
		}
		const many = 5000 // more rounds than one call of the assembly takes
		c.setSymbols(r, many)
		c.check(t, r, many, make([]byte, many*RoundBytes))
	})
}

// TestEncodeCtxRange: arguments out of range panic.
func TestEncodeCtxRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p, words := make([]byte, 10), make([]byte, 3*RoundBytes)
		for name, f := range map[string]func(states *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable){
			"words": func(s *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable) {
				EncodeCtx(s, tabs, p, p, new([Lanes]int), 0, 3, words, 3*RoundBytes-1)
			},
			"p": func(s *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable) {
				EncodeCtx(s, tabs, p, p, new([Lanes]int), 0, 3, words, 3*RoundBytes+1)
			},
			"symbols": func(s *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable) {
				EncodeCtx(s, tabs, p[:2], p, new([Lanes]int), 0, 3, words, len(words))
			},
			"tables": func(s *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable) {
				EncodeCtx(s, tabs, p, p, &[Lanes]int{31: 8}, 0, 3, words, len(words))
			},
			"begin": func(s *[Lanes]uint32, tabs *[MaxCtxTables]EncodeTable) {
				EncodeCtx(s, tabs, p, p, &[Lanes]int{31: -1}, 0, 3, words, len(words))
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f(new([Lanes]uint32), new([MaxCtxTables]EncodeTable))
			}()
		}
	})
}

func BenchmarkEncodeCtx(b *testing.B) {
	const rounds = 4000 // not a multiple of 4 KiB, which would make lanes compete for the cache
	r := rand.New(rand.NewPCG(109, 110))
	c := newCtxRun(r)
	c.setSymbols(r, rounds)
	words := make([]byte, rounds*RoundBytes)
	benchTiers(b, func(b *testing.B) {
		var states [Lanes]uint32
		for l := range states {
			states[l] = StateMin
		}
		b.SetBytes(rounds * Lanes)
		for b.Loop() {
			EncodeCtx(&states, c.tabs, c.symbols, c.tableOf, &c.begin, 0, rounds, words, len(words))
		}
	})
}
