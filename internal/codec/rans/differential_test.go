package rans

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

// agree decodes code on every tier and with the reference decoder. All must return the same streams
// and rest or all reject it, and the tiers must return the same error.
func agree(t testing.TB, d *Decoder, code []byte, limit, count int) (accepted bool) {
	t.Helper()
	want, wantRest, wantErr := refDecode(code, limit, count)
	var first error
	for i, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		got := make([][]byte, count)
		ptr := make([]*[]byte, count)
		for i := range got {
			ptr[i] = &got[i]
		}
		rest, err := d.Decode(code[:len(code):len(code)], same(limit), ptr...)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, reference: %v", tier, err, wantErr)
		}
		if i == 0 {
			first = err
		} else if err != first {
			t.Fatalf("%s: %v, portable: %v", tier, err, first)
		}
		if err != nil {
			continue
		}
		if !bytes.Equal(rest, wantRest) {
			t.Fatalf("%s: %d bytes left, reference: %d", tier, len(rest), len(wantRest))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%s: stream %d (%d bytes) differs from the reference",
					tier, i, len(want[i]))
			}
		}
	}
	return wantErr == nil
}

// changing returns n bytes whose statistics change every few thousand bytes. Their segments have
// all modes.
func changing(r *rand.Rand, n int) []byte {
	var p []byte
	for len(p) < n {
		m := 1 + r.IntN(3*histogramUnit)
		switch r.IntN(4) {
		case 0:
			p = append(p, make([]byte, m)...)
		case 1:
			for range m {
				p = append(p, byte(r.Uint32()))
			}
		default:
			first := byte(r.Uint32())
			for _, c := range skewed(r, m, 1+r.IntN(6)) {
				p = append(p, first+c)
			}
		}
	}
	return p[:n]
}

// TestReference decodes the encoder's output with the reference and on every tier.
func TestReference(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(21, 22))
	modes := map[mode]int{}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		streams := make([][]byte, 1+round%6)
		limit := 0
		for i := range streams {
			streams[i] = changing(r, r.IntN(1<<(4+r.IntN(14))))
			limit = max(limit, len(streams[i]))
		}
		stored := r.IntN(len(streams) + 1)
		code := e.Append(nil, stored, streams...)
		for i := range e.segs {
			modes[e.segs[i].mode]++
		}
		code = append(code, make([]byte, r.IntN(3)*50)...)
		got, _, err := refDecode(code, limit, len(streams))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !bytes.Equal(got[i], streams[i]) {
				t.Fatalf("round %d: the reference decodes stream %d wrongly", round, i)
			}
		}
		agree(t, &d, code, limit, len(streams))
	}
	for m := range mode(3) {
		if modes[m] == 0 {
			t.Errorf("no segment of mode %d was tried", m)
		}
	}
}

func TestReferenceCorpus(t *testing.T) {
	var e Encoder
	var d Decoder
	for _, k := range corpus.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			for _, n := range []int{1, 100, 5000, model.SmallLimit, 40_003} {
				p := k.Make(n)
				code := e.Append(nil, 0, p)
				if !agree(t, &d, code, n, 1) {
					t.Fatal("decoder and reference reject it")
				}
				if len(code) > n+20 {
					t.Errorf("%d bytes became %d", n, len(code))
				}
			}
		})
	}
}

// TestReferenceDamage checks that tiers and reference treat damaged input alike.
func TestReferenceDamage(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(23, 24))
	accepted := 0
	for _, n := range []int{40, 300, 4096 + 50, 2 * histogramUnit, model.SmallLimit + 100} {
		code := e.Append(nil, 1, changing(r, n), skewed(r, n/4, 3), skewed(r, 30, 8))
		rounds := 400_000 / (n + 1000)
		if testing.Short() {
			rounds /= 8
		}
		for range rounds {
			bad := bytes.Clone(code)
			for range 1 + r.IntN(2) {
				// Half of the damage hits the front, which holds the heads and tables.
				at := r.IntN(len(bad))
				if r.IntN(2) == 0 {
					at = r.IntN(min(len(bad), 150))
				}
				switch r.IntN(4) {
				case 0:
					bad = append(bad[:at], bad[at+1:]...)
				case 1:
					bad = append(bad[:at+1], bad[at:]...)
				default:
					bad[at] ^= 1 << r.IntN(8)
				}
			}
			if agree(t, &d, bad, n, 3) {
				accepted++
			}
		}
	}
	if accepted == 0 {
		t.Error("no damaged input was accepted, so the test never compared streams")
	}
}

// TestEncoderReference compares the encoder's words with those of the reference encoder, for
// frequencies from 1 to 2047.
func TestEncoderReference(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(25, 26))
	for round := range 300 {
		e.segs, e.coded = e.segs[:0], 0
		width := Lanes
		if round%3 == 0 {
			width = smallLanes
		}
		var syms []byte
		var tables []*model.Freqs
		var lane []int
		from := 0
		for range 1 + r.IntN(3) {
			s := growSegments(&e.segs)
			s.mode, s.data = modeCoded, changing(r, 2+r.IntN(300))
			s.data[0], s.data[1] = 3, 200
			var counts [256]uint32
			for _, c := range s.data {
				counts[c]++
			}
			if r.IntN(2) == 0 {
				counts[3] += 1 << 20 // one frequency near 2048, all others 1
			}
			n := uint32(0)
			for _, c := range counts {
				n += c
			}
			s.freq.Normalize(&counts, n)
			e.coded += len(s.data)
		}
		to := e.coded
		if width == Lanes {
			from = r.IntN(e.coded) &^ (Lanes - 1)
			to = from + r.IntN(e.coded-from) + 1
		}
		at := 0
		for i := range e.segs {
			s := &e.segs[i]
			for k, first := 0, -1; k < len(s.data); k++ {
				at++
				if at > from && at <= to {
					if first < 0 {
						first = k
					}
					syms, tables = append(syms, s.data[k]), append(tables, &s.freq)
					lane = append(lane, (k-first)%width)
				}
			}
		}
		want := refGroup(syms, tables, lane, width)
		for _, tier := range simd.Tiers() {
			defer simd.SetTier(simd.SetTier(tier))
			if got := e.encodeGroup(nil, from, to, width); !bytes.Equal(got, want) {
				t.Fatalf("round %d: symbols [%d, %d) of %d in %d lanes: %s differs from the reference",
					round, from, to, e.coded, width, tier)
			}
		}
	}
}

// FuzzReference searches for input on which the decoder and the reference differ.
func FuzzReference(f *testing.F) {
	var e Encoder
	r := rand.New(rand.NewPCG(27, 28))
	f.Add(e.Append(nil, 0, nil, nil))
	f.Add(e.Append(nil, 0, skewed(r, 100, 3), make([]byte, 50)))
	f.Add(e.Append(nil, 1, skewed(r, 60, 2), skewed(r, 50, 8)))
	f.Add(e.Append(nil, 0, changing(r, 9000), skewed(r, model.SmallLimit, 2)))
	f.Fuzz(func(t *testing.T, code []byte) {
		var d Decoder
		agree(t, &d, code, 1<<16, 2)
	})
}
