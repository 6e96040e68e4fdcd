package lz77

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// fastSettings are settings of parsers whose finders make no offset below MinOffset.
var fastSettings = []*Params{&Levels[1], &Levels[2], &Levels[3], &Levels[4]}

// TestShortPeriods: a period of 1 to 15 bytes is one match at that offset, which begins behind the
// first period, if the limits allow the offset.
func TestShortPeriods(t *testing.T) {
	for _, p := range fastSettings {
		for _, least := range []int{1, 4, 15} {
			l := blockLimits
			l.MinOffset = least
			for period := least; period < MinOffset; period++ {
				src := bytes.Repeat(corpus.ByName("random").Make(period), 3000/period)
				seqs := new(Matcher).Parse(nil, src, p, l)
				if err := valid(src, seqs, l); err != nil {
					t.Fatalf("finder %d, period %d, least %d: %v", p.Finder, period, least, err)
				}
				one := Sequence{
					LitLen: uint32(period), MatchLen: uint32(len(src) - period), Offset: uint32(period),
				}
				if len(seqs) != 1 || seqs[0] != one {
					t.Errorf("finder %d, period %d, least %d: %v", p.Finder, period, least, seqs)
				}
			}
		}
	}
}

// TestShortPeriodsAfterRareBytes: zeros with rare other bytes take one match with offset 1 for each
// run, also where an equal run is far before.
func TestShortPeriodsAfterRareBytes(t *testing.T) {
	src := make([]byte, 1<<17)
	r := rand.New(rand.NewPCG(1, 2))
	runs := 1
	for i := 600 + r.IntN(1000); i < len(src)-700; i += 600 + r.IntN(4000) {
		src[i] = byte(1 + r.IntN(255))
		runs++
	}
	for _, p := range fastSettings {
		seqs := new(Matcher).Parse(nil, src, p, blockLimits)
		if err := valid(src, seqs, blockLimits); err != nil {
			t.Fatalf("finder %d: %v", p.Finder, err)
		}
		far := 0
		for _, s := range seqs {
			if s.Offset > 1 {
				far++
			}
		}
		if len(seqs) > runs+runs/8 || far > runs/8 {
			t.Errorf("finder %d: %d sequences for %d runs, %d with far offsets",
				p.Finder, len(seqs), runs, far)
		}
	}
}

// TestShortenPeriods: shortenPeriods turns valid sequences of any content into valid ones with no
// more sequences, and does not touch those before first.
func TestShortenPeriods(t *testing.T) {
	contents := corpus.Adverse(20_000)
	for _, k := range corpus.Kinds() {
		contents[k.Name] = k.Make(20_000)
	}
	r := rand.New(rand.NewPCG(3, 4))
	contents["periods"] = periodic(r, 40_000)
	changed := 0
	for name, src := range contents {
		for _, p := range fastSettings {
			start := r.IntN(2) * r.IntN(len(src))
			l := Limits{MinMatch: 3 + r.IntN(6), MaxOffset: 1 << (6 + r.IntN(10))}
			before := make([]Sequence, r.IntN(3))
			old := new(Matcher).ParseFrom(slices.Clone(before), src, start, p, l)
			var m Matcher
			m.limits = l
			m.limits.MinOffset = 1 + r.IntN(15)*r.IntN(2)
			got := m.shortenPeriods(slices.Clone(old), len(before), src, start)
			what := fmt.Sprintf("%s from %d, finder %d, %+v", name, start, p.Finder, m.limits)
			if !slices.Equal(got[:len(before)], before) || len(got) > len(old) {
				t.Fatalf("%s: %d sequences, of %d", what, len(got), len(old))
			}
			if !Valid(got[len(before):], src, start, m.limits, nil) {
				t.Fatalf("%s: sequences are not valid", what)
			}
			if !slices.Equal(got, old) {
				changed++
			}
			m.limits.MinOffset = 0
			got = m.shortenPeriods(slices.Clone(old), len(before), src, start)
			if !slices.Equal(got, old) {
				t.Errorf("%s: changed against the limits", what)
			}
		}
	}
	if changed < 50 {
		t.Errorf("only %d parses changed", changed)
	}
}

// periodic returns n bytes: stretches of short periods, some of them with errors, between random
// bytes.
func periodic(r *rand.Rand, n int) (src []byte) {
	for len(src) < n {
		for range 1 + r.IntN(20) {
			src = append(src, byte(r.Uint32N(3)))
		}
		d := 1 + r.IntN(min(len(src), 31))
		for range r.IntN(80) + r.IntN(2)*r.IntN(1000) {
			src = append(src, src[len(src)-d])
		}
	}
	return src[:n]
}

// TestShortenOne pins what becomes of single sequences.
func TestShortenOne(t *testing.T) {
	zeros := func(n int) []byte { return make([]byte, n) }
	abc := bytes.Repeat([]byte("abc"), 200)
	for i, c := range []struct {
		src       []byte
		seqs, out [][3]uint32 // literals, length and offset
	}{
		// The least multiple becomes the period, and the literals part of the match.
		{zeros(100), [][3]uint32{{16, 84, 16}}, [][3]uint32{{1, 99, 1}}},
		{abc[:90], [][3]uint32{{18, 72, 18}}, [][3]uint32{{3, 87, 3}}},
		// The match has no such period.
		{append([]byte("0123456789abcdef"), "0123456789abcdef0123"...),
			[][3]uint32{{16, 20, 16}}, [][3]uint32{{16, 20, 16}}},
		// The shortest period counts.
		{zeros(100), [][3]uint32{{30, 70, 30}}, [][3]uint32{{1, 99, 1}}},
		// A match before becomes part, but for the byte that the period begins with.
		{slices.Concat(zeros(60), []byte{7}, zeros(60)),
			[][3]uint32{{1, 59, 1}, {1, 16, 17}, {0, 44, 16}},
			[][3]uint32{{1, 59, 1}, {2, 59, 1}}},
		// A match before that keeps 3 bytes stays as it is.
		{slices.Concat(zeros(60), []byte{7, 8, 9}, zeros(60), []byte{7, 8, 9}, zeros(60)),
			[][3]uint32{{1, 59, 1}, {4, 59, 1}, {0, 19, 63}, {0, 44, 16}},
			[][3]uint32{{1, 59, 1}, {4, 59, 1}, {0, 19, 63}, {0, 44, 1}}},
		// A long match at a far offset.
		{slices.Concat(zeros(900), []byte{7}, zeros(800)),
			[][3]uint32{{1, 899, 1}, {1, 800, 901}}, [][3]uint32{{1, 899, 1}, {2, 799, 1}}},
		// It is too short.
		{slices.Concat(zeros(900), []byte{7}, zeros(250)),
			[][3]uint32{{1, 899, 1}, {1, 250, 901}}, [][3]uint32{{1, 899, 1}, {1, 250, 901}}},
		// It has another byte in it.
		{slices.Concat(zeros(500), []byte{7}, zeros(500), zeros(400), []byte{7}, zeros(400)),
			[][3]uint32{{1, 499, 1}, {2, 499, 1}, {0, 801, 901}},
			[][3]uint32{{1, 499, 1}, {2, 499, 1}, {0, 801, 901}}},
	} {
		m := Matcher{limits: Limits{MinMatch: 3, MaxOffset: 1 << 15, MinOffset: 1}}
		seqs, want := sequencesOf(c.seqs), sequencesOf(c.out)
		if err := valid(c.src, seqs, m.limits); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if got := m.shortenPeriods(seqs, 0, c.src, 0); !slices.Equal(got, want) {
			t.Errorf("case %d: %v, want %v", i, got, want)
		}
	}
}

func sequencesOf(list [][3]uint32) (seqs []Sequence) {
	for _, s := range list {
		seqs = append(seqs, Sequence{LitLen: s[0], MatchLen: s[1], Offset: s[2]})
	}
	return seqs
}
