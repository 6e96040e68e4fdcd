package kernels

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// manyTokens is more tokens than one call of a kernel takes.
const manyTokens = 1 << 18

// tryMarkRunStarts compares MarkRunStarts with the definition, and checks that it does not stop too
// soon.
func tryMarkRunStarts(t *testing.T, bits []uint64, at int, tokens, litLens []byte) {
	t.Helper()
	want := slices.Clone(bits)
	done, used, end, ok := MarkRunStarts(bits, uint64(at), tokens, litLens)
	if ok != hasKernels() || !ok && done > 0 {
		t.Fatalf("MarkRunStarts: %d tokens; kernel %v, want %v", done, ok, hasKernels())
	}
	for _, token := range tokens[:done] {
		if at < 64*len(want) {
			want[at/64] |= 1 << (at % 64)
		}
		at += int(token & 3)
		if token&3 == 3 {
			if litLens[0] == 255 {
				t.Fatal("MarkRunStarts used a length of more than a byte")
			}
			at += int(litLens[0])
			litLens = litLens[1:]
			used--
		}
	}
	if used != 0 || int(end) != at || !slices.Equal(bits, want) {
		t.Fatalf("%d tokens: end %d, want %d; %d lengths too many; marks %x, want %x",
			done, end, at, used, bits, want)
	}
	if tokens = tokens[done:]; !ok || len(tokens) < MarkStep || at >= 64*len(bits) ||
		done >= manyTokens/2 {
		return
	}
	lits := 0
	for _, token := range tokens[:MarkStep] {
		lits += int(token & 3)
		if token&3 == 3 {
			if len(litLens) == 0 {
				return
			}
			lits += int(litLens[0])
			litLens = litLens[1:]
		}
	}
	if lits <= 63 {
		t.Fatalf("MarkRunStarts stopped after %d tokens; the next step has %d literals", done, lits)
	}
}

// randomRuns makes n tokens and lengths for their long runs. One length in a hundred is very long.
// There may be too few lengths or too many.
func randomRuns(r *rand.Rand, n int) (tokens, litLens []byte) {
	often, most := r.IntN(256), 1+r.IntN(40)
	for range n {
		token := byte(r.Uint32())&^3 | byte(r.IntN(3))
		if r.IntN(256) < often {
			token |= 3
			length := byte(r.IntN(most))
			if r.IntN(100) == 0 {
				length = byte(r.Uint32()) | 0x80
			}
			litLens = append(litLens, length)
		}
		tokens = append(tokens, token)
	}
	switch cut := r.IntN(20); {
	case r.IntN(5) > 0:
	case cut > 9:
		litLens = append(litLens, make([]byte, cut)...)
	default:
		litLens = litLens[:max(0, len(litLens)-cut)]
	}
	return tokens, litLens
}

// randomBits clears bits, returns the number of a literal, and sets random bits before it.
func randomBits(r *rand.Rand, bits []uint64) (at int) {
	clear(bits)
	if len(bits) > 0 {
		at = r.IntN(64 * min(3, len(bits)))
		bits[at/64] = r.Uint64() & (1<<(at%64) - 1)
	} else if r.IntN(2) == 0 {
		at = r.IntN(100)
	}
	return at
}

func TestMarkRunStarts(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 72))
		for range scaled(20_000) {
			tokens, litLens := randomRuns(r, r.IntN(100))
			bits := make([]uint64, r.IntN(20))
			tryMarkRunStarts(t, bits, randomBits(r, bits), tokens, litLens)
		}
		bits := make([]uint64, manyTokens/8)
		tryMarkRunStarts(t, bits, 5, bytes.Repeat([]byte{0, 1, 0x82, 0x43}, manyTokens/4),
			make([]byte, manyTokens))
	})
}

func BenchmarkMarkRunStarts(b *testing.B) {
	r := rand.New(rand.NewPCG(73, 74))
	tokens, litLens := make([]byte, 1<<16), make([]byte, 1<<16)
	for i := range tokens {
		tokens[i] = byte(r.IntN(256))
		litLens[i] = byte(r.IntN(8))
	}
	bits := make([]uint64, len(tokens)/8)
	benchTiers(b, func(b *testing.B) {
		if _, _, _, ok := MarkRunStarts(bits, 0, nil, nil); !ok {
			b.Skip("no kernel")
		}
		b.SetBytes(int64(len(tokens)))
		for b.Loop() {
			MarkRunStarts(bits, 0, tokens, litLens)
			clear(bits)
		}
	})
}
