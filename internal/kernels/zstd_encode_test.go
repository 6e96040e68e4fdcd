package kernels

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// lengthCodesForTests are arbitrary codes of short lengths, with up to four extra bits.
func lengthCodesForTests(r *rand.Rand) *LengthCodes {
	c := new(LengthCodes)
	for i := range c.Lits {
		c.Lits[i], c.LitBits[i] = uint8(r.Uint32N(64)), uint8(r.Uint32N(5))
	}
	for i := range c.Matches {
		c.Matches[i], c.MatchBits[i] = uint8(r.Uint32N(64)), uint8(r.Uint32N(5))
	}
	return c
}

// sequenceCodesNaively is the definition of SequenceCodes.
func sequenceCodesNaively(
	counts *CodeCounts, repeats *[3]uint32, codes *LengthCodes, seqs []sequence,
) (dst []SequenceCode) {
	code := func(n uint32, codes, extra []uint8, base uint8) (uint8, uint8) {
		if n < uint32(len(codes)) {
			return codes[n], extra[n]
		}
		log := uint8(bits.Len32(n)) - 1
		return (base + log) % 64, log
	}
	for _, q := range seqs {
		value, list := q.Offset+3, *repeats
		p := *repeats
		*repeats = [3]uint32{q.Offset, p[0], p[1]}
		if q.LitLen == 0 {
			list = [3]uint32{p[1], p[2], p[0] - 1}
		}
		if i := slices.Index(list[:], q.Offset); i >= 0 {
			value = uint32(i) + 1
		}
		switch q.Offset {
		case list[0]:
			*repeats = p
			if q.LitLen == 0 {
				*repeats = [3]uint32{p[1], p[0], p[2]}
			}
		case p[1]:
			*repeats = [3]uint32{p[1], p[0], p[2]}
		}
		var c SequenceCode
		match := q.MatchLen - 3
		lc, ln := code(q.LitLen, codes.Lits[:], codes.LitBits[:], 19)
		mc, mn := code(match, codes.Matches[:], codes.MatchBits[:], 36)
		oc := uint8(bits.Len32(value)) - 1
		c.Codes = [3]uint8{lc, oc, mc}
		c.ExtraBits = ln + mn + oc
		c.Extra = uint64(q.LitLen)&(1<<ln-1) | uint64(match)&(1<<mn-1)<<ln |
			uint64(value)&(1<<oc-1)<<(ln+mn)
		dst = append(dst, c)
		for k, code := range c.Codes {
			counts[k][code]++
		}
	}
	return dst
}

// repeatingSequences returns n sequences, many of which repeat an offset or are near one.
func repeatingSequences(r *rand.Rand, n int) []sequence {
	seqs := make([]sequence, n)
	for i := range seqs {
		q := &seqs[i]
		*q = sequence{r.Uint32N(3), 3 + r.Uint32N(40), 1 + r.Uint32()>>(2+r.IntN(29))}
		if i > 0 && r.IntN(2) == 0 {
			q.Offset = max(1, seqs[i-1-r.IntN(min(i, 4))].Offset-r.Uint32N(2))
		}
		if r.IntN(10) == 0 {
			q.LitLen = r.Uint32() >> (15 + r.IntN(17))
		}
		if r.IntN(10) == 0 {
			q.MatchLen = 3 + r.Uint32()>>(15+r.IntN(17))
		}
	}
	return seqs
}

// trySequenceCodes compares SequenceCodes with the definition.
func trySequenceCodes(t *testing.T, r *rand.Rand, dst []SequenceCode, seqs []sequence) {
	t.Helper()
	codes := lengthCodesForTests(r)
	counts := CodeCounts{{1, 2, 3}, {4}, {5, 6}}
	repeats := [3]uint32{1 + r.Uint32N(5), 4, 8}
	wantCounts, wantRepeats := counts, repeats
	want := sequenceCodesNaively(&wantCounts, &wantRepeats, codes, seqs)
	ok := SequenceCodes(dst, &counts, &repeats, codes, seqs)
	if ok != hasKernels() {
		t.Fatalf("SequenceCodes: kernel %v, want %v", ok, !ok)
	}
	if !ok {
		return
	}
	for i, c := range dst {
		if c.Extra != want[i].Extra || c.Codes != want[i].Codes || c.ExtraBits != want[i].ExtraBits {
			t.Fatalf("sequence %d of %d, %v: %+v, want %+v", i, len(seqs), seqs[i], c, want[i])
		}
	}
	if counts != wantCounts || repeats != wantRepeats {
		t.Fatalf("%d sequences: counts or repeat offsets %v differ, want %v", len(seqs), repeats,
			wantRepeats)
	}
}

func TestSequenceCodes(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(141, 142))
		for range scaled(2000) {
			seqs := repeatingSequences(r, r.IntN(1+r.IntN(1200)))
			trySequenceCodes(t, r, make([]SequenceCode, len(seqs)), seqs)
		}
	})
}

// bitsNaively collects bits, the lowest first.
type bitsNaively struct {
	out []byte
	n   int
}

func (w *bitsNaively) put(v uint64, n int) {
	for range n {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// stateTable returns a random table with all symbols.
func stateTable(r *rand.Rand) *StateTable {
	t := new(StateTable)
	for i := range t.States {
		t.States[i] = 2048 + uint16(r.Uint32N(2048))
	}
	for i := range t.Symbols {
		n := 3 + r.Uint32N(9) // or one more
		t.Symbols[i].Bits = n<<16 + 1<<16 - 2048 - r.Uint32N(2048)
		t.Symbols[i].Place = -int32(2048>>n) / 2
		if n < 12 {
			t.Symbols[i].Place += r.Int32N(2048)
		}
	}
	return t
}

// tryEncodeSequences compares EncodeSequences with the definition.
func tryEncodeSequences(t *testing.T, r *rand.Rand, seqs []SequenceCode, dst []byte) {
	t.Helper()
	tables := [3]*StateTable{stateTable(r), stateTable(r), stateTable(r)}
	s := SequenceStates{Have: r.Uint32N(8)}
	s.Acc = r.Uint64N(1 << s.Have)
	for i := range s.State {
		s.State[i] = 2048 + r.Uint32N(2048)
	}
	want := s
	var w bitsNaively
	w.put(s.Acc, int(s.Have))
	for i := range seqs {
		c := &seqs[i]
		*c = SequenceCode{ExtraBits: uint8(r.Uint32N(30))}
		if r.IntN(5) == 0 {
			c.ExtraBits = uint8(r.Uint32N(64))
		}
		c.Extra = r.Uint64() & (1<<c.ExtraBits - 1)
		for k := range c.Codes {
			c.Codes[k] = uint8(r.Uint32())
		}
	}
	for _, c := range slices.Backward(seqs) {
		for _, k := range []int{1, 2, 0} {
			q := tables[k].Symbols[c.Codes[k]]
			n := (want.State[k] + q.Bits) >> 16
			w.put(uint64(want.State[k]), int(n))
			want.State[k] = uint32(tables[k].States[int32(want.State[k]>>n)+q.Place])
		}
		w.put(c.Extra, int(c.ExtraBits))
	}
	used, ok := EncodeSequences(&s, tables, seqs, dst)
	if ok != hasKernels() {
		t.Fatalf("EncodeSequences: kernel %v, want %v", ok, !ok)
	}
	if !ok {
		return
	}
	if s.State != want.State || used != w.n/8 || int(s.Have) != w.n%8 {
		t.Fatalf("%d sequences: %d bytes, %+v, want %d, %+v", len(seqs), used, s, w.n/8, want)
	}
	got := append(bytes.Clone(dst[:used]), byte(s.Acc))
	if s.Acc>>s.Have != 0 || !bytes.Equal(got[:len(w.out)], w.out) {
		t.Fatalf("%d sequences: bits differ", len(seqs))
	}
}

// sequenceRoom is the room that always suffices for n sequences.
func sequenceRoom(n int) int { return 16 * n }

func TestEncodeSequenceBits(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(143, 144))
		for range scaled(2000) {
			n := r.IntN(1 + r.IntN(1200))
			tryEncodeSequences(t, r, make([]SequenceCode, n), make([]byte, sequenceRoom(n)))
		}
		if !hasKernels() {
			return
		}
		for _, c := range []struct {
			have       uint32
			seqs, room int
		}{{8, 0, 100}, {0, 1, 15}, {0, 1, 0}, {7, 20, 20 * 9}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v: no panic", c)
					}
				}()
				seqs := make([]SequenceCode, c.seqs)
				for i := range seqs {
					seqs[i].ExtraBits = 63
				}
				table := stateTable(r)
				EncodeSequences(&SequenceStates{State: [3]uint32{2048, 2048, 2048}, Have: c.have},
					[3]*StateTable{table, table, table}, seqs, make([]byte, c.room))
			}()
		}
	})
}

// tryHuffman2 encodes rounds of two streams and compares with the definition.
func tryHuffman2(t *testing.T, r *rand.Rand, dst, a, b []byte, maxBits, rounds int) {
	t.Helper()
	var codes [256]uint64
	for i := range codes {
		n := 1 + r.IntN(maxBits)
		codes[i] = r.Uint64()>>(64-n)<<(64-n) | uint64(n)
	}
	half := len(dst) / 2
	s := HuffmanWriters{Out: [2]int{0, half}, Have: [2]uint64{r.Uint64N(8), r.Uint64N(8)}}
	var want [2]bitsNaively
	for i, src := range [2][]byte{a, b} {
		first := r.Uint64N(1 << s.Have[i])
		s.Acc[i] = bits.RotateLeft64(first, -int(s.Have[i])) | r.Uint64()>>s.Have[i]
		want[i].put(first, int(s.Have[i]))
		for k := range rounds * HuffmanWriteRound {
			c := codes[src[len(src)-1-k]]
			want[i].put(bits.RotateLeft64(c&^0xFF, int(c&0xFF)), int(c&0xFF))
		}
	}
	ok := EncodeHuffman2(&s, &codes, maxBits, dst, a, b, rounds)
	if ok != hasKernels() {
		t.Fatalf("EncodeHuffman2: kernel %v, want %v", ok, !ok)
	}
	if !ok {
		return
	}
	for i, w := range want {
		from := i * half
		have := int(s.Have[i])
		if n := s.Out[i] - from; n != w.n/8 || have != w.n%8 {
			t.Fatalf("%d rounds: %d bytes and %d bits, want %d bits", rounds, n, have, w.n)
		}
		got := binary.LittleEndian.AppendUint64(bytes.Clone(dst[from:s.Out[i]]),
			bits.RotateLeft64(s.Acc[i], have)&(1<<have-1))
		if !bytes.Equal(got[:len(w.out)], w.out) {
			t.Fatalf("%d rounds, stream %d: bits differ", rounds, i)
		}
	}
}

// huffman2Room returns the least room for two streams.
func huffman2Room(rounds, maxBits int) int {
	return 2 * ((rounds*HuffmanWriteRound*maxBits+7)/8 + 8)
}

func TestEncodeHuffman2(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(145, 146))
		for range scaled(2000) {
			rounds, maxBits := r.IntN(60), 1+r.IntN(HuffmanBits)
			var src [2][]byte
			for i := range src {
				src[i] = make([]byte, rounds*HuffmanWriteRound+r.IntN(3))
				for k := range src[i] {
					src[i][k] = byte(r.Uint32())
				}
			}
			room := huffman2Room(rounds, maxBits) + r.IntN(20)
			tryHuffman2(t, r, make([]byte, room), src[0], src[1], maxBits, rounds)
		}
		for _, change := range []func(s *HuffmanWriters, maxBits, rounds *int){
			func(s *HuffmanWriters, _, _ *int) { s.Have[1] = 8 },
			func(s *HuffmanWriters, _, _ *int) { s.Out[0] = -1 },
			func(s *HuffmanWriters, _, _ *int) { s.Out[1] = 16 },
			func(_ *HuffmanWriters, maxBits, _ *int) { *maxBits = HuffmanBits + 1 },
			func(_ *HuffmanWriters, _, rounds *int) { *rounds = 2 },
		} {
			s := HuffmanWriters{Out: [2]int{0, 14}}
			maxBits, rounds := HuffmanBits, 1
			change(&s, &maxBits, &rounds)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v, %d bits, %d rounds: no panic", s, maxBits, rounds)
					}
				}()
				EncodeHuffman2(&s, new([256]uint64), maxBits, make([]byte, 28), make([]byte, 7),
					make([]byte, 7), rounds)
			}()
		}
	})
}

// literalRuns returns sequences for about n bytes of content. Some matches reach behind it if bad
// is set.
func literalRuns(r *rand.Rand, n int, bad bool) (seqs []sequence) {
	for n > 0 {
		q := sequence{LitLen: r.Uint32N(40), MatchLen: r.Uint32N(60)}
		switch r.IntN(20) {
		case 0:
			q.LitLen = r.Uint32N(300)
		case 1:
			q.LitLen = r.Uint32N(2000)
		case 2:
			q.MatchLen = r.Uint32N(2000)
		case 3:
			if bad {
				q.MatchLen = r.Uint32()
			}
		}
		n -= int(q.LitLen + q.MatchLen)
		seqs = append(seqs, q)
	}
	return seqs
}

// tryCopyLiterals compares CopyLiterals with the definition.
func tryCopyLiterals(t *testing.T, dst, src []byte, seqs []sequence) {
	t.Helper()
	done, used, read, ok := CopyLiterals(dst, src, seqs)
	if ok != hasKernels() {
		t.Fatalf("CopyLiterals: kernel %v, want %v", ok, !ok)
	}
	at, n := 0, 0
	for i, q := range seqs {
		if i == done {
			if ok && q.LitLen <= 256 && i < maxCallTokens && len(dst)-n >= 288 && len(src)-at >= 288 {
				t.Fatalf("stop before sequence %d, %v, at %d of %d bytes", i, q, at, len(src))
			}
			break
		}
		if !bytes.Equal(dst[n:][:q.LitLen], src[at:][:q.LitLen]) {
			t.Fatalf("literals of sequence %d differ", i)
		}
		n += int(q.LitLen)
		at += int(q.LitLen) + int(q.MatchLen)
	}
	if used != n || read != at {
		t.Fatalf("%d literals and %d bytes, want %d and %d", used, read, n, at)
	}
}

func TestCopyLiterals(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(149, 150))
		src := make([]byte, 50_000)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		for range scaled(2000) {
			src := src[:r.IntN(1+r.IntN(len(src)))]
			seqs := literalRuns(r, len(src), r.IntN(2) == 0)
			tryCopyLiterals(t, make([]byte, r.IntN(len(src)+300)), src, seqs)
		}
	})
}
