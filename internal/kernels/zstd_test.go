package kernels

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// nearCopies is randomCopies with offsets from 1 on.
func nearCopies(r *rand.Rand, n, at, bad int) (seqs []sequence, lits, size int) {
	seqs, lits, size = randomCopies(r, n, at, bad)
	for i := range seqs {
		if r.IntN(4) == 0 {
			seqs[i].Offset = 1 + r.Uint32N(16)
		}
	}
	return seqs, lits, size
}

// runExecuteNear compares ExecuteNear with the definition.
func runExecuteNear(t *testing.T, dst []byte, at int, lits []byte, seqs []sequence) {
	t.Helper()
	checkExecute(t, ExecuteNear[sequence], hasKernels(), dst, at, lits, seqs)
}

func TestExecuteNear(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(123, 124))
		for i := range scaled(10_000) {
			at, n := r.IntN(2)*r.IntN(60), r.IntN(12)
			switch {
			case i%200 == 0:
				n = r.IntN(4000)
			case i%10 == 0: // enough for the kernel to sample lengths
				n = 60 + r.IntN(100)
			}
			seqs, lits, size := nearCopies(r, n, at, r.IntN(2)*(30+3*n))
			dst := make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			from := make([]byte, max(0, lits+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			for _, p := range [][]byte{dst, from} {
				for i := range p {
					p[i] = byte(r.Uint32())
				}
			}
			runExecuteNear(t, dst, at, from, seqs)
		}
		// Every short offset with every length; 60 times so that both kernels take part.
		for off := uint32(1); off <= 40; off++ {
			for n := range uint32(110) {
				lits := make([]byte, 100+CopySlack)
				for i := range lits {
					lits[i] = byte(i*7 + 1)
				}
				runExecuteNear(t, make([]byte, 40+n+CopySlack), 0, lits, []sequence{{40, n, off}})
				seqs := repeated(sequence{0, n, off}, 64)
				seqs[0].LitLen = 40
				runExecuteNear(t, make([]byte, 40+64*n+CopySlack), 0, lits, seqs)
			}
		}
	})
}

// repeated returns n times v.
func repeated(v sequence, n int) (all []sequence) {
	for range n {
		all = append(all, v)
	}
	return all
}

// huffmanTable returns the table of a random complete code.
func huffmanTable(r *rand.Rand) *[1 << HuffmanBits]uint16 {
	t := new([1 << HuffmanBits]uint16)
	for at := 0; at < len(t); {
		log := min(r.IntN(HuffmanBits), bits.TrailingZeros(uint(at|len(t)/2)))
		symbol := uint16(r.Uint32N(256))
		for i := range 1 << log {
			t[at+i] = symbol<<8 | uint16(HuffmanBits-log)
		}
		at += 1 << log
	}
	return t
}

// tryHuffman4 decodes rounds of random streams and compares with single steps.
func tryHuffman4(t *testing.T, r *rand.Rand, src, dst []byte, rounds int) {
	t.Helper()
	table := huffmanTable(r)
	part := HuffmanRound*rounds + r.IntN(5)
	var s HuffmanStreams
	for i := range 4 {
		s.In[i] = HuffmanRoundInput*rounds + r.IntN(len(src)-8-HuffmanRoundInput*rounds+1)
		s.Out[i] = i * part
		s.Bits[i] = (binary.LittleEndian.Uint64(src[s.In[i]:]) | 1) << r.IntN(9)
	}
	want, content := s, make([]byte, len(dst))
	for i := range 4 {
		for range rounds {
			for range HuffmanRound {
				e := table[want.Bits[i]>>(64-HuffmanBits)]
				want.Bits[i] <<= e & 63
				content[want.Out[i]] = byte(e >> 8)
				want.Out[i]++
			}
			used := bits.TrailingZeros64(want.Bits[i])
			want.In[i] -= used / 8
			want.Bits[i] = (binary.LittleEndian.Uint64(src[want.In[i]:]) | 1) << (used % 8)
		}
	}
	ok := DecodeHuffman4(&s, table, dst, src, rounds)
	if ok != hasKernels() {
		t.Fatalf("DecodeHuffman4: kernel %v, want %v", ok, !ok)
	}
	if ok && (s != want || !bytes.Equal(dst, content)) {
		t.Fatalf("%d rounds: %+v, want %+v; or content differs", rounds, s, want)
	}
}

// huffmanSize returns the least room that tryHuffman4 needs.
func huffmanSize(rounds int) int { return 4*HuffmanRound*rounds + 12 }

func TestDecodeHuffman4(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(125, 126))
		for range scaled(3000) {
			rounds := 1 + r.IntN(40)
			src := make([]byte, 8+HuffmanRoundInput*rounds+r.IntN(100))
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			tryHuffman4(t, r, src, make([]byte, huffmanSize(rounds)), rounds)
		}
		for _, change := range []func(s *HuffmanStreams){
			func(s *HuffmanStreams) { s.In[2] = 6 },
			func(s *HuffmanStreams) { s.In[1] = 93 },
			func(s *HuffmanStreams) { s.Out[3] = 16 },
			func(s *HuffmanStreams) { s.Out = [4]int{0, 6, 12, 18} },
			func(s *HuffmanStreams) { s.Out = [4]int{-5, 0, 5, 10} },
		} {
			s := HuffmanStreams{In: [4]int{7, 7, 7, 7}, Out: [4]int{0, 5, 10, 15}}
			change(&s)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v: no panic", s)
					}
				}()
				DecodeHuffman4(&s, huffmanTable(r), make([]byte, 20), make([]byte, 100), 1)
			}()
		}
	})
}

// sequenceCells returns random tables. Extra bits are many if long is set.
func sequenceCells(r *rand.Rand, long bool) *SequenceCells {
	c := new(SequenceCells)
	most := [3]int{6, 22, 6}
	if long {
		most = [3]int{17, 32, 17}
	}
	for k := range c {
		for i := range c[k] {
			extra, n := r.IntN(most[k]), r.IntN(10)
			base := r.Uint32N(100)
			if k == 1 {
				extra = r.IntN(1 + r.IntN(most[k]))
				base = 1<<extra - 3
			}
			next := r.IntN(len(c[k]) - 1<<n + 1)
			c[k][i] = uint64(base)<<32 | uint64(next)<<16 | uint64(n)<<8 | uint64(extra)
		}
	}
	return c
}

// decodeSequencesNaively is the definition of DecodeSequences. It decodes n sequences.
func decodeSequencesNaively(
	s *SequenceBits, cells *SequenceCells, src []byte, n int,
) (seqs []sequence) {
	take := func(n uint64) (v uint32) {
		for range n & 0xFF {
			s.Left--
			v = v<<1 | uint32(src[s.Left>>3]>>(s.Left&7)&1)
		}
		return v
	}
	for range n {
		var c [3]uint64
		for k := range c {
			c[k] = cells[k][s.State[k]]
		}
		q := sequence{}
		off := uint32(c[1]>>32) + take(c[1])
		q.MatchLen = uint32(c[2]>>32) + take(c[2])
		q.LitLen = uint32(c[0]>>32) + take(c[0])
		for _, k := range []int{0, 2, 1} {
			s.State[k] = uint32(c[k]>>16)&0xFFFF + take(c[k]>>8)
		}
		p := &s.Repeats
		i := off + 2
		if i <= 2 && q.LitLen == 0 {
			i++
		}
		switch {
		case off+2 > 2:
			*p = [3]uint32{off, p[0], p[1]}
		case i == 1:
			*p = [3]uint32{p[1], p[0], p[2]}
		case i == 2:
			*p = [3]uint32{p[2], p[0], p[1]}
		case i == 3 && p[0] == 1:
			*p = [3]uint32{1<<32 - 1, p[0], p[1]}
		case i == 3:
			*p = [3]uint32{p[0] - 1, p[0], p[1]}
		}
		q.Offset = p[0]
		s.Lits += uint64(q.LitLen)
		s.Matches += uint64(q.MatchLen)
		s.MaxOffset = max(s.MaxOffset, q.Offset)
		seqs = append(seqs, q)
	}
	return seqs
}

// tryDecodeSequences decodes sequences from src and compares with the definition.
func tryDecodeSequences(t *testing.T, r *rand.Rand, src []byte, seqs []sequence) {
	t.Helper()
	s := SequenceBits{
		State:     [3]uint32{r.Uint32N(512), r.Uint32N(512), r.Uint32N(512)},
		Repeats:   [3]uint32{1 + r.Uint32N(3), 1 + r.Uint32N(9), 1 + r.Uint32()>>1},
		MaxOffset: r.Uint32() >> r.IntN(32), Lits: uint64(r.Uint32()), Matches: uint64(r.Uint32()),
		Left: max(0, 8*len(src)-1-r.IntN(8)),
	}
	cells, want := sequenceCells(r, r.IntN(2) == 0), s
	n, ok := DecodeSequences(&s, cells, src, seqs)
	if ok != hasKernels() {
		t.Fatalf("DecodeSequences: kernel %v, want %v", ok, !ok)
	}
	all := decodeSequencesNaively(&want, cells, src, n)
	if s != want {
		t.Fatalf("%d sequences: %+v, want %+v", n, s, want)
	}
	for i, q := range all {
		if seqs[i] != q {
			t.Fatalf("sequence %d of %d: %v, want %v", i, n, seqs[i], q)
		}
	}
	if ok && n < min(len(seqs), maxCallTokens) && s.Left >= 128 {
		t.Fatalf("%d of %d sequences with %d bits left", n, len(seqs), s.Left)
	}
}

func TestDecodeSequences(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(127, 128))
		for range scaled(3000) {
			src := make([]byte, r.IntN(400)*(1+19*(r.IntN(20)/19)))
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			tryDecodeSequences(t, r, src, make([]sequence, r.IntN(1100)))
		}
		for _, s := range []SequenceBits{{Left: 80}, {Left: 79, State: [3]uint32{0, 512, 0}}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v: no panic", s)
					}
				}()
				DecodeSequences(&s, new(SequenceCells), make([]byte, 10), make([]sequence, 3))
			}()
		}
	})
}

func zstdKernelsRun() []func() (name string, ran bool) {
	return []func() (string, bool){
		func() (string, bool) {
			_, _, _, ok := ExecuteNear(nil, 0, nil, []sequence(nil))
			return "ExecuteNear", ok
		},
		func() (string, bool) {
			s := HuffmanStreams{
				In: [4]int{7, 7, 7, 7}, Out: [4]int{0, 5, 10, 15}, Bits: [4]uint64{1, 1, 1, 1},
			}
			var table [1 << HuffmanBits]uint16
			ok := DecodeHuffman4(&s, &table, make([]byte, 20), make([]byte, 15), 1)
			return "DecodeHuffman4", ok && s.Out[0] == 5
		},
		func() (string, bool) {
			_, ok := DecodeSequences(new(SequenceBits), new(SequenceCells), nil, []sequence(nil))
			return "DecodeSequences", ok
		},
		func() (string, bool) {
			ok := SequenceCodes(nil, new(CodeCounts), new([3]uint32), nil, []sequence(nil))
			return "SequenceCodes", ok
		},
		func() (string, bool) {
			_, _, _, ok := CopyLiterals(nil, nil, []sequence(nil))
			return "CopyLiterals", ok
		},
		func() (string, bool) {
			_, ok := EncodeSequences(new(SequenceStates), [3]*StateTable{}, nil, nil)
			return "EncodeSequences", ok
		},
		func() (string, bool) {
			s := HuffmanWriters{Out: [2]int{0, 14}}
			ok := EncodeHuffman2(&s, &[256]uint64{11}, 11, make([]byte, 28), make([]byte, 4),
				make([]byte, 4), 1)
			return "EncodeHuffman2", ok && s.Out[0] == 5
		},
	}
}
