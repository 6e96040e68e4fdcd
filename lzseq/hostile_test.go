package lzseq

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// agree compares the decoder with the naive one: both must return the same content or reject the
// streams. It reports which.
func agree(t testing.TB, l *Layout, s *Streams, size int) (accepted bool) {
	t.Helper()
	want, ok := naiveDecode(l, s, size)
	// Bytes behind the slack must not change.
	const guard = 64
	var first error
	for i := range 2 * len(simd.Tiers()) {
		tier, slack := simd.Tiers()[i/2], i%2*lz77.Slack
		defer simd.SetTier(simd.SetTier(tier))
		all := bytes.Repeat([]byte{0x5a}, size+slack+guard)
		dst := all[: size : size+slack]
		err := copyOf(s).Decode(l, dst, 0)
		if ce := CorruptError(""); err != nil && !errors.As(err, &ce) {
			t.Fatalf("%s: error %T: %v", tier, err, err)
		}
		if (err == nil) != ok {
			t.Fatalf("%s: %v, naive decoder accepts: %v", tier, err, ok)
		}
		if ok && !bytes.Equal(dst, want) {
			t.Fatalf("%s: the naive decoder returns other bytes", tier)
		}
		if !bytes.Equal(all[size+slack:], bytes.Repeat([]byte{0x5a}, guard)) {
			t.Fatalf("%s: wrote behind the slack", tier)
		}
		if i == 0 {
			first = err
		} else if err != first {
			t.Fatalf("%s: %v, but %s: %v", tier, err, simd.Tiers()[0], first)
		}
	}
	return ok
}

// TestCut checks that a stream does not fit the others if bytes at its end are missing or added.
func TestCut(t *testing.T) {
	forEachLayout(t, func(t *testing.T, l *Layout) {
		r := rand.New(rand.NewPCG(11, 12))
		src, seqs := randomBlock(r, l, 60, 600)
		var s Streams
		s.Encode(l, src, seqs)
		for name, whole := range s.named() {
			if len(*whole) == 0 {
				if name != "Extra" || l != Plain {
					t.Errorf("%s is empty", name)
				}
				continue
			}
			for n := range len(*whole) {
				c := copyOf(&s)
				p := c.named()[name]
				*p = (*p)[:n]
				if agree(t, l, c, len(src)) {
					t.Errorf("%s cut to %d of %d: accepted", name, n, len(*whole))
				}
			}
		}
		for name := range s.named() {
			for n := 1; n < 20; n++ {
				for _, fill := range []byte{0, 0xff, 0xaa} {
					c := copyOf(&s)
					p := c.named()[name]
					*p = append(*p, bytes.Repeat([]byte{fill}, n)...)
					if agree(t, l, c, len(src)) {
						t.Errorf("%s with %d bytes more: accepted", name, n)
					}
				}
			}
		}
		for _, size := range []int{0, 1, len(src) - 1, len(src) + 1, 2 * len(src)} {
			if agree(t, l, &s, size) {
				t.Errorf("size %d: accepted", size)
			}
		}
	})
}

// TestStaleOffsets decodes tokens that need more offsets than there are. The memory behind the
// offsets has others, of an earlier block.
func TestStaleOffsets(t *testing.T) {
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for n := range 200 {
			s := &Streams{
				Lits: make([]byte, 64, 64+lz77.Slack), Tokens: bytes.Repeat([]byte{newOffset << 6}, 300),
				Offsets: bytes.Repeat([]byte{3 << 2}, 500)[:n], Extra: make([]byte, 2000),
			}
			s.Tokens[0] |= repeatLitEscape
			s.LitLens = []byte{61}
			err := s.Decode(Repeat, make([]byte, 64+300*repeatMinMatch), 0)
			if ce := CorruptError(""); !errors.As(err, &ce) {
				t.Fatalf("%s, %d offsets: %v", tier, n, err)
			}
		}
	}
}

// TestFlips damages bits and bytes of every stream and compares the decoder with the naive one.
func TestFlips(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 500
	}
	forEachLayout(t, func(t *testing.T, l *Layout) {
		r := rand.New(rand.NewPCG(13, 14))
		// Several batches, so that damage in a later one follows bytes already written.
		src, seqs := randomBlock(r, l, batchSize+100, 12)
		// Here the streams of long lengths hold more.
		long, longSeqs := randomBlock(r, l, 30, 2000)
		for _, b := range []struct {
			src  []byte
			seqs []lz77.Sequence
		}{{src, seqs}, {long, longSeqs}} {
			var s Streams
			s.Encode(l, b.src, b.seqs)
			for name, p := range s.named() {
				if len(*p) == 0 {
					continue
				}
				accepted := 0
				for range rounds / 10 {
					c := copyOf(&s)
					q := *c.named()[name]
					at := r.IntN(len(q))
					q[at] ^= 1 << r.IntN(8)
					if r.IntN(4) == 0 {
						q[r.IntN(len(q))] = byte(r.Uint32())
					}
					if agree(t, l, c, len(b.src)) {
						accepted++
					}
				}
				if name == "Lits" && accepted == 0 {
					t.Error("no damaged literal was accepted, so contents were never compared")
				}
			}
		}
	})
}

// TestHugeLengths decodes lengths whose sum overflows, in one batch and over several.
func TestHugeLengths(t *testing.T) {
	forEachLayout(t, func(t *testing.T, l *Layout) {
		huge := []byte{255, 0xff, 0xff, 0xff, 0x3f} // 2³⁰−1, the maximum
		for _, n := range []int{1, 4, 5, batchSize, 2 * batchSize} {
			s := &Streams{
				Lits: make([]byte, 100), Tokens: bytes.Repeat([]byte{0x3f}, n),
				LitLens:   bytes.Repeat(huge, n),
				MatchLens: bytes.Repeat(huge, n)}
			if l == Plain {
				s.Tokens, s.Offsets = bytes.Repeat([]byte{0xff}, n), bytes.Repeat([]byte{16, 0}, n)
			}
			for _, size := range []int{0, 100, 1000} {
				if agree(t, l, s, size) {
					t.Errorf("%d sequences of 2³¹ bytes: accepted", n)
				}
			}
		}
		for _, length := range [][]byte{
			{255}, {255, 0, 0, 0}, {255, 254, 0, 0, 0}, {255, 0, 0, 0, 0x40},
			{255, 0xff, 0xff, 0xff, 0xff},
		} {
			s := &Streams{Lits: make([]byte, 400), Tokens: []byte{3}, LitLens: length}
			if l == Plain {
				s.Tokens, s.Offsets = []byte{15}, []byte{16, 0}
			}
			if agree(t, l, s, 400+minRepeat(l)) {
				t.Errorf("length % x: accepted", length)
			}
		}
	})
}

// FuzzDecode splits arbitrary bytes into the six streams.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, plain := range []bool{true, false} {
		l := Repeat
		if plain {
			l = Plain
		}
		for _, n := range []int{0, 3, 40} {
			src, seqs := randomBlock(r, l, n, 50)
			var s Streams
			s.Encode(l, src, seqs)
			all := [][]byte{s.Tokens, s.Offsets, s.LitLens, s.MatchLens, s.Extra, s.Lits}
			f.Add(bytes.Join(all, nil), plain, uint16(len(src)), uint16(len(s.Tokens)),
				uint16(len(s.Offsets)), uint16(len(s.LitLens)), uint16(len(s.MatchLens)),
				uint16(len(s.Extra)))
		}
	}
	f.Fuzz(func(
		t *testing.T, data []byte, plain bool,
		size, tokens, offsets, litLens, matchLens, extra uint16,
	) {
		take := func(n uint16) []byte {
			p := data[:min(int(n), len(data))]
			data = data[len(p):]
			return p
		}
		s := &Streams{
			Tokens: take(tokens), Offsets: take(offsets), LitLens: take(litLens),
			MatchLens: take(matchLens), Extra: take(extra),
		}
		s.Lits = data
		if plain {
			agree(t, Plain, s, int(size))
			return
		}
		agree(t, Repeat, s, int(size))
		agree(t, Dense, s, int(size))
	})
}
