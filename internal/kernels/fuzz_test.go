package kernels

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// FuzzLanes compares all tiers with the definition. The seed determines tables and states.
func FuzzLanes(f *testing.F) {
	f.Add(uint64(1), uint16(70), uint16(100), []byte("not many words"))
	f.Add(uint64(2), uint16(32), uint16(3000), bytes.Repeat([]byte{0xff, 0, 1}, 100))
	f.Add(uint64(3), uint16(999), uint16(1000), make([]byte, 1000))
	f.Fuzz(func(t *testing.T, seed uint64, sizeA, sizeB uint16, words []byte) {
		size := [2]int{int(sizeA % 4096), int(sizeB % 4096)}
		cut := int(seed % uint64(len(words)+1))
		in := [2][]byte{words[:cut:cut], words[cut:len(words):len(words)]}
		for count := 1; count <= 2; count++ {
			var start []DecodeGroup
			var want []*DecodeGroup
			var freqs []*[256]uint16
			var wantOut [][]byte
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range count {
				g, f := randomGroup(r, 0, size[i], 0)
				g.Words = in[i]
				start, want = append(start, *g), append(want, g)
				freqs, wantOut = append(freqs, f), append(wantOut, g.Dst)
			}
			decodeAll(want, freqs)
			for _, tier := range cpu.Tiers() {
				defer cpu.SetTier(cpu.SetTier(tier))
				got := slices.Clone(start)
				var out [][]byte
				for i := range got {
					got[i].Dst = make([]byte, size[i])
					out = append(out, got[i].Dst)
				}
				if count == 1 {
					DecodeLanes(&got[0])
				} else {
					DecodeLanes2(&got[0], &got[1])
				}
				for i := range got {
					if got[i].States != want[i].States || len(got[i].Words) != len(want[i].Words) ||
						len(got[i].Dst) != len(want[i].Dst) ||
						!bytes.Equal(out[i], wantOut[i]) {
						t.Fatalf("tier %s: group %d of %d differs from the definition", tier, i,
							count)
					}
				}
			}
		}
	})
}

// FuzzParseSingle compares all tiers with the definition. The seed determines all but the content.
func FuzzParseSingle(f *testing.F) {
	r := rand.New(rand.NewPCG(39, 40))
	for seed := range uint64(8) {
		f.Add(seed, randomContent(r, 100+int(seed)*50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, src []byte) {
		if len(src) < 16 {
			return
		}
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			r := rand.New(rand.NewPCG(seed, 0))
			p, table := randomParse(r, src)
			runParse(t, p, src, table, make([]sequence, r.IntN(len(src))))
		}
	})
}

// FuzzCtx compares all tiers with the definition. The seed determines tables, lanes and marks.
func FuzzCtx(f *testing.F) {
	f.Add(uint64(1), uint16(70), []byte("not many words"))
	f.Add(uint64(2), uint16(3000), bytes.Repeat([]byte{0xff, 0, 1}, 1000))
	f.Add(uint64(3), uint16(999), make([]byte, 4000))
	tab := new(CtxTable)
	f.Fuzz(func(t *testing.T, seed uint64, size uint16, words []byte) {
		randomCtxTable(rand.New(rand.NewPCG(seed, 1)), tab)
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			r := rand.New(rand.NewPCG(seed, 0))
			tryCtx(t, r, tab, randomMarks(r, r.IntN(64)), make([]byte, size%4096),
				[2][]byte{words, words[len(words)/3:]})
		}
	})
}

// FuzzMarkRunStarts compares all tiers with the definition.
func FuzzMarkRunStarts(f *testing.F) {
	f.Add(uint64(1), []byte("tokens"), []byte("lengths"))
	f.Add(uint64(2), bytes.Repeat([]byte{0, 3, 1, 2, 3}, 30), bytes.Repeat([]byte{7, 0, 200}, 20))
	f.Add(uint64(3), bytes.Repeat([]byte{3}, 100), bytes.Repeat([]byte{1, 255, 9, 1, 0, 0}, 20))
	f.Fuzz(func(t *testing.T, seed uint64, tokens, litLens []byte) {
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			r := rand.New(rand.NewPCG(seed, 0))
			bits := make([]uint64, r.IntN(len(tokens)/8+4))
			tryMarkRunStarts(t, bits, randomBits(r, bits), tokens[:len(tokens):len(tokens)],
				litLens[:len(litLens):len(litLens)])
		}
	})
}

// FuzzParseRowHash compares all tiers with the definition. The seed determines all but the content.
func FuzzParseRowHash(f *testing.F) {
	r := rand.New(rand.NewPCG(55, 56))
	for seed := range uint64(8) {
		f.Add(seed, randomContent(r, 100+int(seed)*50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, src []byte) {
		if len(src) < 16 {
			return
		}
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			r := rand.New(rand.NewPCG(seed, 0))
			c := randomRowHash(r, src)
			c.alone(t)
			c.giveCandidates(r)
			c.alone(t)
		}
	})
}

// FuzzParseDouble compares all tiers with the definition. The seed determines all but the content.
func FuzzParseDouble(f *testing.F) {
	r := rand.New(rand.NewPCG(65, 66))
	for seed := range uint64(8) {
		f.Add(seed, randomContent(r, 100+int(seed)*50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, src []byte) {
		if len(src) < 16 {
			return
		}
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			randomDouble(rand.New(rand.NewPCG(seed, 0)), src).alone(t)
		}
	})
}

// FuzzSequences decodes tokens from arbitrary streams and executes the sequences.
func FuzzSequences(f *testing.F) {
	r := rand.New(rand.NewPCG(27, 28))
	for _, plain := range []bool{true, false} {
		c := randomTokens(r, plain, 40, 20)
		f.Add(slices.Concat(c.tokens, c.codes, c.litLens, c.matchLens, c.extra), plain,
			uint8(len(c.tokens)), uint8(len(c.codes)), uint8(len(c.litLens)),
			uint8(len(c.matchLens)), uint8(3), uint16(5000))
	}
	f.Fuzz(
		func(
			t *testing.T, data []byte, plain bool,
			tokens, codes, litLens, matchLens, bit uint8, size uint16,
		) {
			take := func(n uint8) []byte {
				p := data[:min(int(n), len(data))]
				data = data[len(p):]
				return p[:len(p):len(p)]
			}
			lits := slices.Concat(data, make([]byte, CopySlack))
			start := tokensCase{
				plain:     plain,
				tokens:    take(tokens),
				codes:     take(codes),
				litLens:   take(litLens),
				matchLens: take(matchLens),
				extra:     data,
				bit:       uint(bit),
				repeats:   [4]uint32{64, 64, 64},
				minMatch:  [4]uint32{2, 4, 0, 3},
			}
			seqs := make([]sequence, len(start.tokens))
			for _, tier := range cpu.Tiers() {
				defer cpu.SetTier(cpu.SetTier(tier))
				c := start
				c.run(t, seqs)
				runExecute(t, make([]byte, size), int(size/2), lits, seqs[:c.r.Done])
			}
		},
	)
}

// FuzzMarkX86Displacements compares all tiers with the definition.
func FuzzMarkX86Displacements(f *testing.F) {
	f.Add(displacementBytes(rand.New(rand.NewPCG(1, 1)), 200))
	f.Add(bytes.Repeat([]byte("\x48\x8b\x05\x4c\x8d\x3d\xe8\xe9"), 20))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) < 2 {
			return
		}
		want := make([]uint64, (len(p)-2)/64)
		got := make([]uint64, len(want))
		markDisplacementsNaively(want, p)
		for _, tier := range cpu.Tiers() {
			defer cpu.SetTier(cpu.SetTier(tier))
			MarkX86Displacements(got, p)
			if !slices.Equal(got, want) {
				t.Fatalf("tier %s: masks %x, want %x", tier, got, want)
			}
		}
	})
}
