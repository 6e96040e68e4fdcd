package rans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// doDecode decodes the groups of w symbol by symbol, as docs/FORMAT.md says. It returns false if
// the input is corrupt.
func doDecode(w *LaneWork) bool {
	for i := range w.Groups {
		g := &w.Groups[i]
		words, n := g.Words, 0
		for _, p := range g.Spans {
			f := w.Tables[p.Table]
			n += len(p.Data)
			for j := range p.Data {
				x := &g.States[j%Lanes]
				slot, s, c := *x&2047, 0, uint32(0)
				for ; c+uint32(f[s]) <= slot; s++ {
					c += uint32(f[s])
				}
				p.Data[j] = byte(s)
				if *x = uint32(f[s])*(*x>>11) + slot - c; *x < MinState {
					if len(words) == 0 {
						return false
					}
					*x = *x<<16 | uint32(binary.LittleEndian.Uint16(words))
					words = words[2:]
				}
			}
		}
		for _, x := range g.States {
			if x != MinState {
				return false
			}
		}
		if len(words) != 0 || n != g.Symbols {
			return false
		}
	}
	return true
}

// doEncode encodes the groups of w.
func doEncode(w *LaneWork) {
	for i := range w.Groups {
		g := &w.Groups[i]
		for l := range g.States {
			g.States[l] = MinState
		}
		words := make([]byte, 2*g.Symbols)
		at := len(words)
		for k := len(g.Spans) - 1; k >= 0; k-- {
			p := g.Spans[k]
			f := w.Tables[p.Table]
			for j := len(p.Data) - 1; j >= 0; j-- {
				x, s, c := &g.States[j%Lanes], p.Data[j], uint32(0)
				for _, n := range f[:s] {
					c += uint32(n)
				}
				n := uint32(f[s])
				if *x >= n<<20 {
					at -= 2
					binary.LittleEndian.PutUint16(words[at:], uint16(*x))
					*x >>= 16
				}
				*x = *x/n<<11 + *x%n + c
			}
		}
		g.Words = words[at:]
	}
}

// TestWork checks that groups coded outside the package give the same bytes and symbols.
func TestWork(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	const small = model.SmallLimit
	for _, c := range []struct{ sizes [3]int }{
		{[3]int{}}, {[3]int{1, 0, 5}}, {[3]int{100, 200, 300}}, {[3]int{small - 1}}, {[3]int{small}},
		{[3]int{0, small + 1, 9}}, {[3]int{small + 31, small + 33, 1000}},
		{[3]int{70_000, 50_001, 4099}}, {[3]int{400_000, pairSymbols + 5, 100}},
	} {
		t.Run(fmt.Sprint(c.sizes), func(t *testing.T) {
			streams := [][]byte{
				skewed(r, c.sizes[0], 3), skewed(r, c.sizes[1], 5),
				append(make([]byte, c.sizes[2]), random...), random,
			}
			for i := range c.sizes[0] / 2 {
				streams[0][i] ^= 0x55 // two kinds of statistics
			}
			var e, e2 Encoder
			want := e.Append([]byte("head"), 1, streams...)
			got, w := e2.BeginPayload([]byte("head"), 1, streams...)
			if full := len(w.Groups) > 0; full != (c.sizes[0]+c.sizes[1] >= model.SmallLimit) {
				t.Fatalf("%d groups", len(w.Groups))
			}
			doEncode(w)
			if got = e2.EndPayload(got); !bytes.Equal(got, want) {
				t.Fatal("codes differ")
			}
			var counts []uint16
			for _, s := range streams[:3] {
				for len(s) > 0 {
					n := HistogramUnit(len(s))
					at := len(counts)
					counts = append(counts, make([]uint16, 256)...)
					for _, c := range s[:n] {
						counts[at+int(c)]++
					}
					s = s[n:]
				}
			}
			got, w = e2.BeginHistograms([]byte("head"), 1, counts, streams...)
			for _, g := range w.Groups {
				for _, p := range g.Spans {
					if len(p.Data) == 0 || &streams[p.Stream][p.At] != &p.Data[0] {
						t.Error("a span has the wrong stream or offset")
					}
				}
			}
			doEncode(w)
			if got = e2.EndPayload(got); !bytes.Equal(got, want) {
				t.Fatal("codes differ with histograms")
			}
			var d Decoder
			var out [4][]byte
			tailed := append(want[4:], "tail"...)
			w, rest, err := d.Open(tailed, same(1<<20), &out[0], &out[1], &out[2], &out[3])
			if err != nil || string(rest) != "tail" {
				t.Fatal(rest, err)
			}
			if !doDecode(w) {
				t.Fatal("corrupt")
			}
			for i := range out {
				if !bytes.Equal(out[i], streams[i]) {
					t.Errorf("stream %d differs", i)
				}
			}
		})
	}
}

// TestOpenHostile checks that Open rejects what Decode rejects, except what only the symbols show.
func TestOpenHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	streams := [][]byte{skewed(r, 20_000, 3), skewed(r, 3000, 5)}
	var e Encoder
	good := e.Append(nil, 1, streams...)
	var d, d2 Decoder
	for range 3000 {
		bad := bytes.Clone(good)
		at := r.IntN(len(bad))
		if r.IntN(2) == 0 {
			at = r.IntN(300)
		}
		bad[at] ^= 1 << r.IntN(8)
		if r.IntN(4) == 0 {
			bad = bad[:r.IntN(len(bad))]
		}
		var a, b, a2, b2 []byte
		_, err := d.Decode(bad, same(1<<16), &a, &b)
		w, _, err2 := d2.Open(bad, same(1<<16), &a2, &b2)
		if ok := err2 == nil && doDecode(w); ok != (err == nil) {
			t.Fatalf("Decode returns error %v, Open %v", err, err2)
		} else if ok && (!bytes.Equal(a, a2) || !bytes.Equal(b, b2)) {
			t.Fatal("streams differ")
		}
	}
}

func TestWorkAllocs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	p := skewed(r, 50_000, 4)
	var e Encoder
	var d Decoder
	var dst, out []byte
	code := e.Append(nil, 0, p)
	limits := same(len(p))
	if n := testing.AllocsPerRun(10, func() {
		var w *LaneWork
		dst, w = e.BeginPayload(dst[:0], 0, p)
		for i := range w.Groups {
			w.Groups[i].Words = p[:2]
		}
		dst = e.EndPayload(dst)
		if _, _, err := d.Open(code, limits, &out); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%.1f allocations", n)
	}
}
