package model

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/bitio"
)

func TestNormalize(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		var counts [256]uint32
		n, used := uint32(0), 2+r.IntN(255)
		for i := range used {
			c := uint32(r.ExpFloat64()*float64(uint64(1)<<r.IntN(20))) + 1
			counts[(i*7+3)%256] = c
			n += c
		}
		var f, g Freqs
		f.Normalize(&counts, n)
		sum := 0
		for i, v := range f {
			sum += int(v)
			if (v == 0) != (counts[i] == 0) || v >= ProbScale {
				t.Fatalf("count %d became %d", counts[i], v)
			}
		}
		if sum != ProbScale {
			t.Fatalf("sum %d", sum)
		}
		desc := f.Append(nil)
		rest, err := g.Read(append(desc, 0xee))
		if err != nil || len(rest) != 1 || f != g {
			t.Fatalf("the described table differs: %v", err)
		}
	}
}

func TestLog2(t *testing.T) {
	for _, c := range []struct {
		x    uint32
		want uint64
	}{{1, 0}, {2, CostBit}, {1 << 31, 31 * CostBit}, {3, 103872}, {1000, 653117}} {
		if got := Log2(c.x); got+32 < c.want || got > c.want+32 {
			t.Errorf("log2(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}

// TestHostileTables reads tables that an encoder would never write.
func TestHostileTables(t *testing.T) {
	type field struct{ v, n uint32 }
	table := func(fields ...field) []byte {
		w := bitio.Writer{}
		for _, f := range fields {
			w.Put(uint64(f.v), uint(f.n))
		}
		w.Align()
		return w.Out
	}
	half := []field{{11, 4}, {0, 10}} // a frequency of 1024
	cat := func(parts ...[]field) []field { return slices.Concat(parts...) }
	// run returns symbols of frequency 0, in runs of four and one of one to three.
	run := func(zeros int) (f []field) {
		for ; zeros > 3; zeros -= 4 {
			f = append(f, field{15, 4}, field{1, 1})
		}
		return append(f, field{11 + uint32(zeros), 4})
	}
	var f Freqs
	good := table(cat(half, run(254), half)...)
	if rest, err := f.Read(good); err != nil || len(rest) != 0 || f[0] != 1024 || f[255] != 1024 {
		t.Fatalf("symbols 0 and 255: %v", err)
	}
	for _, c := range []struct {
		what string
		code []byte
	}{
		{"empty", nil},
		{"class 0", table(field{0, 4}, field{0, 60})},
		{"symbol 256", table(cat(half, run(255), half)...)},
		{"only zeros", bytes.Repeat([]byte{0xee}, 100)},
		{"sum beyond 2048", table(cat(half, []field{{10, 4}, {511, 9}}, half)...)},
		{"one symbol has all but one",
			table(cat([]field{{11, 4}, {1023, 10}}, []field{{2, 4}, {0, 1}})...)},
		{"run in nine bits", table(cat([]field{{15, 4}, {0, 8}, {1, 1}, {0, 8}}, half, half)...)},
		{"endless run", append([]byte{15}, make([]byte, 100)...)},
		{"bits left over", table(cat(half, half, []field{{1, 2}})...)},
		{"cut", good[:len(good)-1]},
	} {
		if _, err := f.Read(c.code); err == nil {
			t.Errorf("%s: accepted", c.what)
		}
	}
}
