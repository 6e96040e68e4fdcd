package lzseq

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

var layouts = map[string]*Layout{"plain": Plain, "repeat": Repeat, "dense": Dense}

func forEachLayout(t *testing.T, f func(t *testing.T, l *Layout)) {
	for _, name := range []string{"plain", "repeat"} {
		t.Run(name, func(t *testing.T) { f(t, layouts[name]) })
	}
}

// roundTrip encodes a block and checks the streams with the naive decoder and with Decode.
func roundTrip(t *testing.T, s *Streams, l *Layout, src []byte, seqs []lz77.Sequence) {
	t.Helper()
	for i, tier := range simd.Tiers() {
		before := copyOf(s)
		defer simd.SetTier(simd.SetTier(tier))
		s.Encode(l, src, seqs)
		if i > 0 && !slices.EqualFunc(s.streams(), before.streams(), bytes.Equal) {
			t.Fatalf("%d sequences, %d bytes: %s encodes them differently",
				len(seqs), len(src), tier)
		}
	}
	got, ok := naiveSequences(l, s)
	if !ok || !slices.Equal(got, seqs) {
		for i := range min(len(got), len(seqs)) {
			if got[i] != seqs[i] {
				t.Fatalf("sequence %d of %d: %v encoded as %v", i, len(seqs), seqs[i], got[i])
			}
		}
		t.Fatalf("%d sequences encoded as %d, accepted: %v", len(seqs), len(got), ok)
	}
	if out, ok := naiveDecode(l, s, len(src)); !ok || !bytes.Equal(out, src) {
		t.Fatalf("%d sequences, %d bytes: wrong literals", len(seqs), len(src))
	}
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		n := len(src)
		for _, dst := range [][]byte{roomy(make([]byte, n)), make([]byte, n)[:n:n]} {
			if err := copyOf(s).Decode(l, dst, 0); err != nil {
				t.Fatalf("%s: %v", tier, err)
			}
			if !bytes.Equal(dst, src) {
				t.Fatalf("%s: %d sequences, %d bytes, capacity %d: decoded wrongly",
					tier, len(seqs), n, cap(dst))
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	forEachLayout(t, func(t *testing.T, l *Layout) {
		r := rand.New(rand.NewPCG(1, 2))
		var s Streams
		for i := range rounds {
			src, seqs := randomBlock(r, l, r.IntN(40), 1+r.IntN(1<<(1+i%12)))
			roundTrip(t, &s, l, src, seqs)
		}
		// around the size of a batch
		for _, n := range []int{batchSize - 1, batchSize, batchSize + 1, 3*batchSize + 7} {
			src, seqs := randomBlock(r, l, n, 40)
			roundTrip(t, &s, l, src, seqs)
		}
		roundTrip(t, &s, l, nil, nil)
		roundTrip(t, &s, l, []byte("only literals"), nil)
	})
}

// TestLengths tries the lengths at which the encoding changes, alone and in pairs.
func TestLengths(t *testing.T) {
	forEachLayout(t, func(t *testing.T, l *Layout) {
		var edges []int
		for _, form := range []int{0, 3, 15, 255, 1 << 16} {
			for _, token := range []int{0, 3, 15} {
				for d := -2; d <= 2; d++ {
					edges = append(edges, form+token+d)
				}
			}
		}
		slices.Sort(edges)
		edges = slices.Compact(edges)
		src := bytes.Repeat([]byte("period of 16 abc"), 1<<14+10)
		var s Streams
		for _, n := range edges {
			lit, match, again := max(n, 16), l.Limits.MinMatch+max(n, 0), minRepeat(l)+max(n, 0)
			q := lz77.Sequence{LitLen: uint32(lit), MatchLen: uint32(match), Offset: 16}
			roundTrip(t, &s, l, src[:lit+match], []lz77.Sequence{q})
			second := max(n, 0)
			roundTrip(t, &s, l, src[:lit+match+second+again], []lz77.Sequence{
				q, {LitLen: uint32(second), MatchLen: uint32(again), Offset: 16},
			})
		}
	})
}

// TestOffsets encodes offsets around each power of two up to the limit. It compares sequences only,
// because blocks would need 64 MiB.
func TestOffsets(t *testing.T) {
	forEachLayout(t, func(t *testing.T, l *Layout) {
		var seqs []lz77.Sequence
		for k := 4; 1<<k <= l.Limits.MaxOffset+1; k++ {
			for d := -5; d <= 5; d++ {
				if off := 1<<k + d; off >= 16 && off <= l.Limits.MaxOffset {
					seqs = append(seqs, lz77.Sequence{LitLen: 1, MatchLen: 5, Offset: uint32(off)})
				}
			}
		}
		if last := int(seqs[len(seqs)-1].Offset); last != l.Limits.MaxOffset {
			t.Fatalf("the last offset is %d", last)
		}
		r := rand.New(rand.NewPCG(3, 4))
		var s Streams
		for range 50 {
			src := make([]byte, 6*len(seqs))
			s.Encode(l, src, seqs)
			if got, ok := naiveSequences(l, &s); !ok || !slices.Equal(got, seqs) {
				t.Fatal("encoded wrongly")
			}
			var got []lz77.Sequence
			err := copyOf(&s).Sequences(l, len(src), func(q []lz77.Sequence) error {
				got = append(got, q...)
				return nil
			})
			if err != nil || !slices.Equal(got, seqs) {
				t.Fatalf("decoded wrongly: %v", err)
			}
			r.Shuffle(len(seqs), func(i, j int) { seqs[i], seqs[j] = seqs[j], seqs[i] })
		}
	})
}

// minRepeat returns the minimum length of a match with a repeat offset.
func minRepeat(l *Layout) int { return cmp.Or(l.Limits.MinRepeat, l.Limits.MinMatch) }

// TestRepeats tries all short walks over four offsets. Each position of the repeat offsets is used
// in each state, and no repeat offset may be coded as new.
func TestRepeats(t *testing.T) {
	const steps = 7
	offsets := [4]uint32{64, 16, 1000, 1001}
	src := make([]byte, 2000+steps*4)
	var s Streams
	for walk := range 1 << (2 * steps) {
		seqs := make([]lz77.Sequence, steps)
		list := []uint32{64, 64, 64}
		want := 0 // number of new offsets
		for i := range seqs {
			off := offsets[walk>>(2*i)&3]
			seqs[i] = lz77.Sequence{MatchLen: 4, Offset: off}
			at := slices.Index(list, off)
			if at < 0 {
				want++
				at = 2
			}
			list = slices.Insert(slices.Delete(list, at, at+1), 0, off)
		}
		seqs[0].LitLen = 2000
		for _, l := range []*Layout{Repeat, Dense} {
			s.Encode(l, src, seqs)
			got, ok := naiveSequences(l, &s)
			if !ok || !slices.Equal(got, seqs) || len(s.Offsets) != want {
				t.Fatalf("walk %#x: %d new offsets, want %d; accepted: %v",
					walk, len(s.Offsets), want, ok)
			}
			if walk%16 == 0 {
				roundTrip(t, &s, l, src, seqs)
			}
		}
	}
}

// TestCorpus encodes what the match finders find in all kinds of data.
func TestCorpus(t *testing.T) {
	size := 40_000
	if testing.Short() {
		size = 10_000
	}
	forEachLayout(t, func(t *testing.T, l *Layout) {
		var s Streams
		var m lz77.Matcher
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			for _, level := range []int{1, 4, 7} {
				t.Run(fmt.Sprintf("%s/%d", k.Name, level), func(t *testing.T) {
					roundTrip(t, &s, l, src, m.Parse(nil, src, &lz77.Levels[level], l.Limits))
				})
			}
		}
	})
}

func TestLayoutByID(t *testing.T) {
	for id := range 256 {
		l := LayoutByID(uint8(id))
		want := map[int]*Layout{1: Plain, 2: Repeat}[id]
		if l != want || l != nil && int(l.ID) != id {
			t.Errorf("layout %d: %v", id, l)
		}
	}
}

func TestAllocs(t *testing.T) {
	forEachLayout(t, func(t *testing.T, l *Layout) {
		src, seqs := randomBlock(rand.New(rand.NewPCG(5, 6)), l, 3000, 60)
		var s Streams
		s.Encode(l, src, seqs)
		if n := testing.AllocsPerRun(5, func() { s.Encode(l, src, seqs) }); n != 0 {
			t.Errorf("encoding: %v allocations", n)
		}
		c, dst := copyOf(&s), roomy(make([]byte, len(src)))
		n := testing.AllocsPerRun(5, func() {
			if err := c.Decode(l, dst, 0); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("decoding: %v allocations", n)
		}
	})
}
