package fse

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

func histogram(p []byte) (counts []uint32) {
	counts = make([]uint32, MaxSymbols)
	for _, c := range p {
		counts[c]++
	}
	return counts
}

// distinct returns the number of symbols that occur.
func distinct(counts []uint32) (n int) {
	for _, c := range counts {
		if c != 0 {
			n++
		}
	}
	return n
}

// forEachDistribution runs f for distributions of all logs over all kinds of histograms, and passes
// their counts.
func forEachDistribution(t *testing.T, f func(t *testing.T, d *Distribution, counts []uint32)) {
	r := rand.New(rand.NewPCG(1, 2))
	var histograms [][]uint32
	for _, k := range corpus.Kinds() {
		histograms = append(histograms, histogram(k.Make(20_000)))
	}
	for n := 2; n <= MaxSymbols; n += 1 + n/3 {
		even, steep, sparse := make([]uint32, n), make([]uint32, n), make([]uint32, MaxSymbols)
		for i := range n {
			even[i] = 7
			steep[i] = max(1, uint32(1)<<30>>min(i, 31))
			sparse[r.IntN(MaxSymbols)] = 1 + r.Uint32N(1000)
		}
		sparse[0], sparse[MaxSymbols-1] = 5, 1
		extreme := []uint32{1<<32 - 1 - uint32(n), uint32(n) - 1}
		histograms = append(histograms, even, steep, sparse, extreme)
	}
	for log := MinLog; log <= MaxLog; log++ {
		for i, counts := range histograms {
			if n := distinct(counts); n < 2 || n > 1<<log {
				continue
			}
			for _, rare := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%d/%t", log, i, rare), func(t *testing.T) {
					var d Distribution
					d.Normalize(counts, log, rare)
					f(t, &d, counts)
				})
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	forEachDistribution(t, func(t *testing.T, d *Distribution, counts []uint32) {
		sum := 0
		for s, c := range counts {
			if s >= d.Len {
				if c != 0 {
					t.Fatalf("symbol %d has no probability", s)
				}
				continue
			}
			if (c == 0) != (d.Prob[s] == 0) || d.Prob[s] < -1 {
				t.Errorf("symbol %d: count %d, probability %d", s, c, d.Prob[s])
			}
			sum += weight(int(d.Prob[s]))
		}
		if sum != 1<<d.Log {
			t.Errorf("the sum is %d", sum)
		}
		if d.Len == 0 || d.Prob[d.Len-1] == 0 {
			t.Errorf("%d symbols, the last one without probability", d.Len)
		}
	})
}

// TestNormalizeIsBest checks that moving a cell from one symbol to another never saves a
// thousandth.
func TestNormalizeIsBest(t *testing.T) {
	forEachDistribution(t, func(t *testing.T, d *Distribution, counts []uint32) {
		if d.Log > 9 || d.Len > 64 {
			return
		}
		cost, _ := d.CostOf(counts)
		for i := range d.Len {
			for j := range d.Len {
				if i == j || d.Prob[i] <= 1 || d.Prob[j] < 1 {
					continue
				}
				e := *d
				e.Prob[i]--
				e.Prob[j]++
				if c, _ := e.CostOf(counts); c < cost-cost/1000 {
					t.Fatalf("a cell from %d to %d saves %d of %d", i, j, cost-c, cost)
				}
			}
		}
	})
}

// maxDescription is the maximum size of a description in bytes.
const maxDescription = (4 + (MaxLog+1)*MaxSymbols + 2*MaxSymbols/3 + 7) / 8

func TestDescription(t *testing.T) {
	forEachDistribution(t, func(t *testing.T, d *Distribution, counts []uint32) {
		p := d.Append([]byte("before"))[6:]
		if len(p) > maxDescription {
			t.Errorf("%d bytes", len(p))
		}
		for _, behind := range []int{0, 1, 5} {
			var got Distribution
			tailed := append(slices.Clip(p), bytes.Repeat([]byte{0xff}, behind)...)
			n, err := got.Read(tailed, int(d.Log), d.Len)
			if err != nil || n != len(p) {
				t.Fatalf("%d of %d bytes, %v", n, len(p), err)
			}
			if got.Log != d.Log || got.Len != d.Len ||
				!slices.Equal(got.Prob[:got.Len], d.Prob[:d.Len]) {
				t.Fatalf("read %v, want %v", got.Prob[:got.Len], d.Prob[:d.Len])
			}
		}
		var got Distribution
		if _, err := got.Read(p, int(d.Log)-1, MaxSymbols); err == nil {
			t.Error("accuracy log above the limit accepted")
		}
		if _, err := got.Read(p, MaxLog, d.Len-1); err == nil {
			t.Error("symbol above the limit accepted")
		}
		for n := range p {
			if _, err := got.Read(p[:n], MaxLog, MaxSymbols); err == nil {
				t.Errorf("cut to %d of %d bytes: accepted", n, len(p))
			}
		}
	})
}

// slowSpread assigns the cells of a table step by step, as the RFC describes it.
func slowSpread(d *Distribution) []uint8 {
	size := 1 << d.Log
	cells := make([]uint8, size)
	high := size - 1
	for s := range d.Len {
		if d.Prob[s] == LessThanOne {
			cells[high] = uint8(s)
			high--
		}
	}
	at := 0
	for s := range d.Len {
		for range d.Prob[s] {
			cells[at] = uint8(s)
			for {
				at = (at + size>>1 + size>>3 + 3) & (size - 1)
				if at <= high {
					break
				}
			}
		}
	}
	return cells
}

func TestTables(t *testing.T) {
	var dec DecTable
	var enc EncTable
	forEachDistribution(t, func(t *testing.T, d *Distribution, counts []uint32) {
		dec.Build(d)
		enc.Build(d)
		if dec.Log() != uint(d.Log) || enc.Log() != uint(d.Log) {
			t.Fatal("wrong log")
		}
		size := uint32(1) << d.Log
		var seen [MaxSymbols]uint32
		for u, want := range slowSpread(d) {
			s, base, n := dec.Symbol(uint32(u))
			if s != want {
				t.Fatalf("cell %d has symbol %d, want %d", u, s, want)
			}
			// Cell k of a symbol with probability p stands for the states that lead to p+k.
			x := uint32(weight(int(d.Prob[s]))) + seen[s]
			seen[s]++
			if base+size != x<<n || x<<n < size || x<<n >= 2*size {
				t.Fatalf("cell %d: base %d, %d bits, for %d", u, base, n, x)
			}
			// The bits that the decoder reads are those that the encoder emits from each of these
			// states.
			for low := range uint32(1) << n {
				state := size + base + low
				next, bits := enc.Next(state, s)
				if next != size+uint32(u) || bits != n {
					t.Fatalf("state %d, symbol %d: next %d, %d bits, want %d, %d",
						state, s, next, bits, size+uint32(u), n)
				}
			}
		}
		for s := range d.Len {
			if d.Prob[s] == 0 {
				continue
			}
			state := enc.Start(uint8(s))
			if state < size || state >= 2*size {
				t.Fatalf("symbol %d: starts with state %d", s, state)
			}
			if got, _, _ := dec.Symbol(state - size); got != uint8(s) {
				t.Fatalf("symbol %d: starts with a state of symbol %d", s, got)
			}
		}
	})
}

func TestOneSymbol(t *testing.T) {
	var enc Encoder
	var dec DecTable
	for _, s := range []uint8{0, 7, 255} {
		enc.Table.BuildSymbol(s)
		dec.BuildSymbol(s)
		src := bytes.Repeat([]byte{s}, 1000)
		for states := 1; states <= 2; states++ {
			code := enc.Append(nil, src, states)
			got := make([]byte, len(src))
			err := dec.Decode(got, code, states)
			if err != nil || !bytes.Equal(got, src) || len(code) != 1 {
				t.Errorf("symbol %d: %v, %d bytes", s, err, len(code))
			}
		}
	}
}

// sizes are around the limits of the loops.
var sizes = []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 31, 100, 1001, 20_000}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	var dec DecTable
	for _, k := range corpus.Kinds() {
		all := k.Make(sizes[len(sizes)-1])
		for log := MinLog; log <= MaxLog; log++ {
			for _, n := range sizes {
				src := all[:n]
				counts := histogram(src)
				if used := distinct(counts); used < 2 || used > 1<<log {
					continue
				}
				var d Distribution
				d.Normalize(counts, log, n%2 == 0)
				e.Table.Build(&d)
				dec.Build(&d)
				got := make([]byte, n)
				for states := 1; states <= 2; states++ {
					what := fmt.Sprintf("%s, %d symbols, log %d, %d states", k.Name, n, log, states)
					code := e.Append([]byte("before"), src, states)
					if string(code[:6]) != "before" {
						t.Fatal("Append changed the bytes before its output")
					}
					code = code[6:]
					clear(got)
					err := dec.Decode(got, code, states)
					if err != nil || !bytes.Equal(got, src) {
						t.Fatalf("%s: %v", what, err)
					}
					err = dec.Decode(got[:n-1], code, states)
					if err == nil && n > states && d.Prob[src[n-1-states]] < 1<<(log-1) {
						t.Fatalf("%s: one symbol fewer is accepted", what)
					}
					cost, ok := d.CostOf(counts)
					size, want := uint64(len(code))*8, cost/CostBit
					if !ok || n > 1000 && (size > want*102/100+40 || size < want*60/100) {
						t.Errorf("%s: %d bits, cost %d", what, size, want)
					}
				}
				code := e.Append(nil, src, 2)
				all := make([]byte, n+1)
				m, err := dec.DecodeAll(all, code)
				if err != nil || !bytes.Equal(all[:m], src) {
					t.Fatalf("%s, %d symbols, log %d: DecodeAll returns %d, %v",
						k.Name, n, log, m, err)
				}
				if _, err := dec.DecodeAll(all[:n-1], code); err == nil {
					t.Fatal("DecodeAll beyond its room")
				}
			}
		}
	}
}

func TestAutoLog(t *testing.T) {
	// results of zstd's FSE_optimalTableLog
	for _, c := range []struct{ limit, n, maxSymbol, want int }{
		{9, 100, 35, 7}, {9, 1000, 35, 7}, {9, 100_000, 52, 9}, {8, 100_000, 28, 8},
		{6, 255, 11, 5}, {6, 20, 11, 5}, {12, 1 << 20, 255, 12}, {12, 300, 255, 9},
		{11, 4096, 255, 9}, {12, 40, 255, 6},
	} {
		if got := AutoLog(c.limit, c.n, c.maxSymbol); got != c.want {
			t.Errorf("AutoLog(%d, %d, %d) = %d, want %d", c.limit, c.n, c.maxSymbol, got, c.want)
		}
	}
}

func TestLog2(t *testing.T) {
	for n := range 32 {
		if got := log2(1 << n); got != uint32(n)*CostBit {
			t.Errorf("2^%d: %d", n, got)
		}
	}
	last := uint32(0)
	for x := uint32(1); x < 1<<16; x++ {
		v := log2(x)
		if v < last {
			t.Fatalf("Log2(%d) is less than the one before", x)
		}
		last = v
	}
	if got := log2(3); got < 103871 || got > 103873+60 {
		t.Errorf("Log2(3) = %d", got)
	}
}

func TestAppendAllocs(t *testing.T) {
	src := corpus.ByName("text").Make(10_000)
	counts := histogram(src)
	var e Encoder
	var dec DecTable
	var d Distribution
	dst, got := make([]byte, 0, len(src)+1000), make([]byte, len(src))
	run := func() {
		d.Normalize(counts, 9, true)
		dst = d.Append(dst[:0])
		n, err := d.Read(dst, 9, MaxSymbols)
		e.Table.Build(&d)
		dec.Build(&d)
		dst = e.Append(dst, src, 2)
		if err != nil || dec.Decode(got, dst[n:], 2) != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
