package kernels

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// encodeOffsetsNaively is the definition of EncodeOffsets, bit by bit.
func encodeOffsetsNaively(tokens []byte, seqs []sequence, initial uint32) (codes, extra []byte) {
	list := [3]uint32{initial, initial, initial}
	bit := 0
	for i, q := range seqs {
		place := slices.Index(list[:], q.Offset)
		if place < 0 {
			place = 3
			v, e := q.Offset/4+1, 0
			for v>>e > 1 {
				e++
			}
			codes = append(codes, byte(e)<<2|byte(q.Offset%4))
			for k := range e {
				if bit%8 == 0 {
					extra = append(extra, 0)
				}
				extra[bit/8] |= byte(v>>k&1) << (bit % 8)
				bit++
			}
		}
		tokens[i] = byte(place) << 6
		last := min(place, 2)
		copy(list[1:last+1], list[:last])
		list[0] = q.Offset
	}
	return codes, extra
}

// encodeLengthsNaively is the definition of EncodeLengths, for lengths of at most a byte.
func encodeLengthsNaively(tokens []byte, seqs []sequence) (lits, matches []byte) {
	for i, q := range seqs {
		lit, match := q.LitLen, q.MatchLen-4
		if lit >= 3 {
			lits = append(lits, byte(lit-3))
			lit = 3
		}
		if match >= 15 {
			matches = append(matches, byte(match-15))
			match = 15
		}
		tokens[i] |= byte(lit | match<<2)
	}
	return lits, matches
}

// randomSequences makes n sequences. Offsets repeat often, and lengths lie around the limits. One
// in long has a length of more than a byte; 0 means none.
func randomSequences(r *rand.Rand, n, long int) []sequence {
	seqs := make([]sequence, n)
	used := []uint32{64, 64, 64, 100}
	for i := range seqs {
		q := &seqs[i]
		q.LitLen, q.MatchLen = r.Uint32N(256)>>r.IntN(8), 4+r.Uint32N(256)>>r.IntN(8)
		if long > 0 && r.IntN(long) == 0 {
			q.LitLen = 250 + r.Uint32N(1000)
		}
		if long > 0 && r.IntN(long) == 0 {
			q.MatchLen = 250 + r.Uint32()>>r.IntN(24)
		}
		q.Offset = used[r.IntN(len(used))]
		if r.IntN(3) == 0 {
			q.Offset = 16 + r.Uint32()>>(6+r.IntN(26))
		}
		if r.IntN(50) == 0 {
			q.Offset = r.Uint32() // invalid in every layout; the kernel must stay within its slices
		}
		used[r.IntN(len(used))] = q.Offset
	}
	return seqs
}

// encodeOffsets calls EncodeOffsets twice, the first time for cut sequences.
func encodeOffsets(
	tokens, codes, extra []byte, seqs []sequence, cut int,
) (usedCodes, usedExtra int, ok bool) {
	st := OffsetState{Repeats: [4]uint32{64, 64, 64}}
	c, e, ok := EncodeOffsets(tokens[:cut], codes, extra, seqs[:cut], &st)
	if !ok {
		return 0, 0, false
	}
	c2, e2, ok := EncodeOffsets(tokens[cut:], codes[c:], extra[e:], seqs[cut:], &st)
	c, e = c+c2, e+e2
	if st.Have > 0 {
		extra[e] = byte(st.Acc)
		e++
	}
	return c, e, ok
}

// runEncode compares both kernels with the definitions. place returns the memory for an argument.
func runEncode(t *testing.T, r *rand.Rand, seqs []sequence, place func(k int, p []byte) []byte) {
	t.Helper()
	n := len(seqs)
	wantTokens, tokens := make([]byte, n), place(0, bytes.Repeat([]byte{0x5a}, n))
	wantCodes, wantExtra := encodeOffsetsNaively(wantTokens, seqs, 64)
	codes := place(1, make([]byte, n+1))
	extra := place(2, make([]byte, len(wantExtra)+8+r.IntN(3)))
	c, e, ok := encodeOffsets(tokens, codes, extra, seqs, r.IntN(n+1))
	if ok != hasKernels() {
		t.Fatalf("EncodeOffsets: kernel %v, want %v", ok, !ok)
	}
	if !ok {
		copy(tokens, wantTokens)
	} else if !bytes.Equal(tokens, wantTokens) || !bytes.Equal(codes[:c], wantCodes) ||
		!bytes.Equal(extra[:e], wantExtra) {
		t.Fatalf("EncodeOffsets of %d sequences: %d codes and %d extra bytes, want %d and %d; "+
			"or contents differ", n, c, e, len(wantCodes), len(wantExtra))
	}
	lits, matches := place(1, make([]byte, n)), place(2, make([]byte, n))
	done, l, m, ok := EncodeLengths(tokens, lits, matches, seqs)
	first := slices.IndexFunc(seqs, func(q sequence) bool {
		return q.LitLen > 255 || q.MatchLen > 4+255
	})
	if first < 0 {
		first = n
	}
	want := min(first, n, maxCallTokens) &^ 7
	if ok != hasKernels() || ok && done != want || !ok && done+l+m != 0 {
		t.Fatalf("EncodeLengths: %d of %d sequences, want %d; kernel %v", done, n, want, ok)
	}
	wantLits, wantMatches := encodeLengthsNaively(wantTokens, seqs[:done])
	if !bytes.Equal(tokens, wantTokens) || !bytes.Equal(lits[:l], wantLits) ||
		!bytes.Equal(matches[:m], wantMatches) {
		t.Fatalf(
			"EncodeLengths of %d of %d sequences: %d and %d bytes, want %d and %d; or contents differ",
			done, n, l, m, len(wantLits), len(wantMatches))
	}
}

func TestEncodeSequences(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		for i := range scaled(5000) {
			n := i % 60
			if i%50 == 0 {
				n = r.IntN(4000)
			}
			seqs := randomSequences(r, n, r.IntN(3)*r.IntN(400))
			runEncode(t, r, seqs, func(_ int, p []byte) []byte { return p })
		}
	})
}

// TestEncodeSequencesRoom checks that the functions panic without room for their results.
func TestEncodeSequencesRoom(t *testing.T) {
	seqs := randomSequences(rand.New(rand.NewPCG(43, 44)), 100, 0)
	for i := range seqs {
		seqs[i].Offset = 1<<20 + 5*uint32(i) // new offsets, with 18 bits
	}
	for _, c := range []struct {
		tokens, codes, extra, lits, matches int
		panics                              [2]bool
	}{
		{100, 101, 240, 100, 100, [2]bool{false, false}},
		{99, 101, 240, 100, 100, [2]bool{true, true}},
		{101, 101, 240, 100, 100, [2]bool{true, true}},
		{100, 100, 240, 99, 100, [2]bool{true, true}},
		{100, 101, 240, 100, 99, [2]bool{false, true}},
		{100, 101, 100, 100, 100, [2]bool{hasKernels(), false}},
		{100, 101, 0, 100, 100, [2]bool{hasKernels(), false}},
		{100, 101, -1, 100, 100, [2]bool{hasKernels(), false}},
	} {
		var extra []byte // nil for a size of -1
		if c.extra >= 0 {
			extra = make([]byte, c.extra)
		}
		for i, f := range []func(){
			func() {
				st := OffsetState{Repeats: [4]uint32{64, 64, 64}}
				EncodeOffsets(make([]byte, c.tokens), make([]byte, c.codes), extra, seqs, &st)
			},
			func() {
				lits, matches := make([]byte, c.lits), make([]byte, c.matches)
				EncodeLengths(make([]byte, c.tokens), lits, matches, seqs)
			},
		} {
			func() {
				defer func() {
					if p := recover() != nil; p != c.panics[i] {
						t.Errorf("room %+v, function %d: panic %v", c, i, p)
					}
				}()
				f()
			}()
		}
	}
}
