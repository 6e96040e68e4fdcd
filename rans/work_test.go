package rans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
)

// doDecode does a decoder's work as docs/FORMAT.md says, one symbol at a time. It returns false if the input is corrupt.
func doDecode(w *Work) bool {
	for i := range w.Groups {
		g := &w.Groups[i]
		words, n := g.Words, 0
		for _, p := range g.Parts {
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

// doEncode does an encoder's work.
func doEncode(w *Work) {
	for i := range w.Groups {
		g := &w.Groups[i]
		for l := range g.States {
			g.States[l] = MinState
		}
		words := make([]byte, 2*g.Symbols)
		at := len(words)
		for k := len(g.Parts) - 1; k >= 0; k-- {
			p := g.Parts[k]
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

// TestWork: the groups done elsewhere give what is given here.
func TestWork(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for _, c := range []struct{ sizes [3]int }{
		{[3]int{}}, {[3]int{1, 0, 5}}, {[3]int{100, 200, 300}}, {[3]int{model.SmallLimit - 1}}, {[3]int{model.SmallLimit}},
		{[3]int{0, model.SmallLimit + 1, 9}}, {[3]int{model.SmallLimit + 31, model.SmallLimit + 33, 1000}}, {[3]int{70_000, 50_001, 4099}},
	} {
		t.Run(fmt.Sprint(c.sizes), func(t *testing.T) {
			streams := [][]byte{skewed(r, c.sizes[0], 3), skewed(r, c.sizes[1], 5), append(make([]byte, c.sizes[2]), random...), random}
			for i := range c.sizes[0] / 2 {
				streams[0][i] ^= 0x55 // two kinds of statistics
			}
			var e, e2 Encoder
			want := e.Append([]byte("head"), 1, streams...)
			got, w := e2.Begin([]byte("head"), 1, streams...)
			if full := len(w.Groups) > 0; full != (c.sizes[0]+c.sizes[1] >= model.SmallLimit) {
				t.Fatalf("%d groups", len(w.Groups))
			}
			doEncode(w)
			if got = e2.End(got); !bytes.Equal(got, want) {
				t.Fatal("codes differ")
			}
			var counts []uint16
			for _, s := range streams[:3] {
				for len(s) > 0 {
					n := UnitSize(len(s))
					at := len(counts)
					counts = append(counts, make([]uint16, 256)...)
					for _, c := range s[:n] {
						counts[at+int(c)]++
					}
					s = s[n:]
				}
			}
			got, w = e2.BeginCounts([]byte("head"), 1, counts, streams...)
			for _, g := range w.Groups {
				for _, p := range g.Parts {
					if len(p.Data) == 0 || &streams[p.Stream][p.At] != &p.Data[0] {
						t.Error("a part is elsewhere")
					}
				}
			}
			doEncode(w)
			if got = e2.End(got); !bytes.Equal(got, want) {
				t.Fatal("codes differ with counts")
			}
			var d Decoder
			var out [4][]byte
			w, rest, err := d.Open(append(want[4:], "tail"...), same(1<<20), &out[0], &out[1], &out[2], &out[3])
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

// TestOpenHostile: Open notices what Decode does, but for what only the symbols show.
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
			t.Fatalf("Decode says %v, Open %v", err, err2)
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
		var w *Work
		dst, w = e.Begin(dst[:0], 0, p)
		for i := range w.Groups {
			w.Groups[i].Words = p[:2]
		}
		dst = e.End(dst)
		if _, _, err := d.Open(code, limits, &out); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%.1f allocations", n)
	}
}
