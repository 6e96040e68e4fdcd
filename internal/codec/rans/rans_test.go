package rans

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// skewed returns n bytes of about bits bits of entropy each; low values are the most frequent.
func skewed(r *rand.Rand, n, bits int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(int(r.ExpFloat64()*float64(int(1)<<bits)/3)) % 251
	}
	return p
}

// eachTier runs f on every tier of the machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, tier := range simd.Tiers() {
		t.Run(tier, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(tier))
			f(t)
		})
	}
}

// roundTrip encodes and decodes the streams on every tier and returns their code.
func roundTrip(t testing.TB, e *Encoder, d *Decoder, streams ...[]byte) (code []byte) {
	t.Helper()
	for i, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		c := e.Append([]byte("head"), 0, streams...)[4:]
		if i == 0 {
			code = c
		} else if !bytes.Equal(c, code) {
			t.Fatalf("%s codes differently", tier)
		}
		out := make([][]byte, len(streams))
		ptr := make([]*[]byte, len(streams))
		limit := 0
		for i := range out {
			ptr[i] = &out[i]
			limit = max(limit, len(streams[i]))
		}
		rest, err := d.Decode(append(code[:len(code):len(code)], "tail"...), same(limit), ptr...)
		if err != nil {
			t.Fatalf("%s: %v", tier, err)
		}
		if string(rest) != "tail" {
			t.Fatalf("%s: %d bytes left over, want 4", tier, len(rest))
		}
		for i := range out {
			if !bytes.Equal(out[i], streams[i]) {
				t.Fatalf("%s: stream %d of %d bytes differs", tier, i, len(streams[i]))
			}
			if cap(out[i]) < len(out[i])+Slack {
				t.Fatalf("stream %d has no slack", i)
			}
		}
	}
	return code
}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 2))
	const unit, small = histogramUnit, model.SmallLimit
	sizes := []int{
		0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, minSegment,
		unit - 1, unit, unit + 1, unit + minSegment - 1, unit + minSegment,
		small - 1, small, small + 1, small + 31, small + 32, small + 33, 100_001, 300_000,
	}
	for _, n := range sizes {
		for bits := range 9 {
			roundTrip(t, &e, &d, skewed(r, n, bits))
		}
		roundTrip(t, &e, &d, make([]byte, n))
		a, b, c := skewed(r, n/2, 6), skewed(r, n/3, 3), skewed(r, n/7, 1)
		roundTrip(t, &e, &d, make([]byte, n), a, nil, b, c)
	}
}

// TestSplit checks that changing statistics give several segments, which reduce the size.
func TestSplit(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(3, 4))
	var p []byte
	for range 4 {
		p = append(p, skewed(r, 50_000, 5)...)
		p = append(p, make([]byte, 30_000)...)
		for _, c := range skewed(r, 60_000, 5) {
			p = append(p, 255-c)
		}
	}
	code := roundTrip(t, &e, &d, p)
	if len(e.segs) < 8 {
		t.Errorf("%d segments", len(e.segs))
	}
	var f model.Freqs
	var counts [256]uint32
	for _, c := range p {
		counts[c]++
	}
	f.Normalize(&counts, uint32(len(p)))
	if whole := f.Cost(&counts) / model.CostBit / 8; uint64(len(code)) > whole*9/10 {
		t.Errorf("%d bytes in segments, %d in one", len(code), whole)
	}
}

// TestSize compares sizes with the entropy. The coder may exceed it by 0.2% and the states, or by
// 1.2% where symbols are rarer than 1 in 2048.
func TestSize(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(5, 6))
	for bits := 1; bits < 8; bits++ {
		p := skewed(r, 200_000, bits)
		var counts [256]uint32
		for _, c := range p {
			counts[c]++
		}
		want := int(model.Entropy(&counts, uint32(len(p))) / model.CostBit / 8)
		got := len(roundTrip(t, &e, &d, p))
		slack := want / 500
		if bits > 4 {
			slack = want * 12 / 1000
		}
		if got > want+slack+256+300 {
			t.Errorf("entropy %d bytes, coded %d", want, got)
		}
	}
}

// TestDamage flips bits and truncates: the decoder must return an error or other bytes.
func TestDamage(t *testing.T) {
	eachTier(t, testDamage)
}

func testDamage(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{300, model.SmallLimit + 100} {
		p, q := skewed(r, n, 4), skewed(r, 200, 2)
		code := e.Append(nil, 0, p, q)
		var a, b []byte
		for i := range code {
			if _, err := d.Decode(code[:i], same(n), &a, &b); err == nil {
				t.Fatalf("cut at %d of %d accepted", i, len(code))
			} else if ce := CorruptError(""); !errors.As(err, &ce) {
				t.Fatalf("error %T", err)
			}
		}
		step := 1 + len(code)/2000
		for i := 0; i < len(code)*8; i += step {
			code[i/8] ^= 1 << (i % 8)
			_, err := d.Decode(code, same(n), &a, &b)
			if err == nil && bytes.Equal(a, p) && bytes.Equal(b, q) {
				t.Fatalf("flipping bit %d of %d changes nothing", i, len(code)*8)
			}
			code[i/8] ^= 1 << (i % 8)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	eachTier(t, testNoAllocs)
}

func testNoAllocs(t *testing.T) {
	var e Encoder
	var d Decoder
	p := skewed(rand.New(rand.NewPCG(1, 1)), 200_000, 5)
	var code, out []byte
	f := func() {
		code = e.Append(code[:0], 0, p)
		if _, err := d.Decode(code, same(len(p)), &out); err != nil {
			t.Fatal(err)
		}
	}
	f()
	if n := testing.AllocsPerRun(5, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	var e Encoder
	r := rand.New(rand.NewPCG(11, 12))
	f.Add(e.Append(nil, 0, nil, nil))
	few := Encoder{Defaults: true}
	f.Add(few.Append(nil, 0, fromDefault(r, 0, 300), fromDefault(r, 1, 60)))
	f.Add(e.Append(nil, 0, skewed(r, 100, 3), make([]byte, 50)))
	f.Add(e.Append(nil, 0, skewed(r, 9000, 3), skewed(r, 20_000, 7)))
	f.Add(e.Append(nil, 0, skewed(r, 5000, 4), skewed(r, 1000, 8)))
	f.Fuzz(func(t *testing.T, code []byte) {
		var d Decoder
		var first [2][]byte
		var firstErr error
		equal := func(a, b []byte) bool {
			return bytes.Equal(a, first[0]) && bytes.Equal(b, first[1])
		}
		const limit = 1 << 16
		for i, tier := range simd.Tiers() {
			defer simd.SetTier(simd.SetTier(tier))
			var a, b []byte
			_, err := d.Decode(code, same(limit), &a, &b)
			if err == nil && (len(a) > limit || len(b) > limit) {
				t.Fatal("a stream exceeds its limit")
			}
			if i == 0 {
				first, firstErr = [2][]byte{a, b}, err
			} else if err != firstErr || err == nil && !equal(a, b) {
				t.Fatalf("%s: error %v, portable: %v, or the streams differ", tier, err, firstErr)
			}
		}
		var a, b []byte
		w, _, err := d.Open(code, same(limit), &a, &b)
		if ok := err == nil && doDecode(w); ok != (firstErr == nil) || ok && !equal(a, b) {
			t.Fatalf("Open: error %v, Decode: %v, or the streams differ", err, firstErr)
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 14))
	f.Add(skewed(r, 200, 3), uint16(3))
	f.Add(skewed(r, 20_000, 5), uint16(77))
	f.Fuzz(func(t *testing.T, p []byte, cut uint16) {
		var e Encoder
		var d Decoder
		at := min(int(cut), len(p))
		roundTrip(t, &e, &d, p[:at], p[at:])
	})
}

func benchData(b *testing.B) []byte {
	if name := os.Getenv("PZ_BENCH_FILE"); name != "" {
		p, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return p[:min(len(p), 1<<18)]
	}
	return skewed(rand.New(rand.NewPCG(1, 2)), 1<<18, 5)
}

func BenchmarkEncode(b *testing.B) {
	p := benchData(b)
	var e Encoder
	var code []byte
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		code = e.Append(code[:0], 0, p)
	}
	b.ReportMetric(float64(len(p))/float64(len(code)), "ratio")
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{4096, 1 << 18} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := benchData(b)[:n]
			var e Encoder
			var d Decoder
			var out []byte
			code := e.Append(nil, 0, p)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(code, same(n), &out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// same returns the same limit for up to eight streams.
func same(limit int) []int {
	limits := make([]int, 8)
	for i := range limits {
		limits[i] = limit
	}
	return limits
}
