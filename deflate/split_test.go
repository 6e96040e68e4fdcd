package deflate

import (
	"bytes"
	"compress/flate"
	"math/rand/v2"
	"slices"
	"testing"

	kflate "github.com/klauspost/compress/flate"

	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/internal/corpus"
)

// TestSplit: blocks end where the statistics change, and only there.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	skewed := func(m *maker, first byte, n int) {
		for range n {
			m.literals(first + byte(min(r.IntN(32), r.IntN(32))))
		}
	}
	for _, c := range []struct {
		what string
		make func(m *maker)
		want int
	}{
		{"the same everywhere", func(m *maker) { skewed(m, 'a', 100_000) }, 1},
		{"the same in more units than are looked at together", func(m *maker) { skewed(m, 'a', (2*maxUnits+50)*unitSymbols) }, 1},
		{"a change after more units than that", func(m *maker) { skewed(m, 'a', (maxUnits+50)*unitSymbols); skewed(m, 200, maxUnits*unitSymbols) }, 2},
		{"two alphabets", func(m *maker) { skewed(m, 'a', 30*unitSymbols); skewed(m, 200, 30*unitSymbols) }, 2},
		{"there and back", func(m *maker) {
			skewed(m, 'a', 30*unitSymbols)
			skewed(m, 200, 30*unitSymbols)
			skewed(m, 'a', 30*unitSymbols)
		}, 3},
		{"too short to pay", func(m *maker) { skewed(m, 'a', 30*unitSymbols); skewed(m, 120, 12); skewed(m, 'a', 30*unitSymbols) }, 1},
	} {
		var e Encoder
		m := newMaker(r, 0)
		c.make(m)
		if in := m.check(t, &e); in.blocks[typeDynamic] != c.want {
			t.Errorf("%s: %d blocks, want %d", c.what, in.blocks[typeDynamic], c.want)
		}
	}
}

// TestRecode: for the sequences that others found, our blocks take hardly ever more than theirs.
func TestRecode(t *testing.T) {
	size := 1 << 19
	if testing.Short() {
		size = 1 << 14
	}
	var e Encoder
	for _, k := range corpus.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			data := k.Make(size)
			var std, peer bytes.Buffer
			for _, level := range []int{1, 6, 9} {
				std.Reset()
				w, _ := flate.NewWriter(&std, level)
				_, _ = w.Write(data)
				_ = w.Close()
				peer.Reset()
				kw, _ := kflate.NewWriter(&peer, level)
				_, _ = kw.Write(data)
				_ = kw.Close()
				for name, theirs := range map[string][]byte{"compress/flate": std.Bytes(), "klauspost": peer.Bytes()} {
					in, err := inflate(theirs, nil)
					if err != nil || !bytes.Equal(in.content, data) {
						t.Fatal(name, err)
					}
					ours := e.Append(nil, data, in.seqs, true)
					readAll(t, ours, nil, data)
					t.Logf("%s -%d: %d, ours %d: %.2f%%", name, level, len(theirs), len(ours), 100*float64(len(ours))/float64(len(theirs)))
					// What is planned from estimates may be a little worse now and then.
					if len(ours) > len(theirs)+len(theirs)/1000+40 {
						t.Errorf("%s -%d: %d bytes, ours %d", name, level, len(theirs), len(ours))
					}
				}
			}
		})
	}
}

// naiveHeader is the size of a description without any choice: the longest repeats, from the front.
func naiveHeader(b *huffman.Builder, all []uint8) int {
	var counts [lengthSymbols]uint32
	extra := 0
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		switch {
		case all[i] == 0 && n >= 11:
			n = min(n, 138)
			counts[repeatZeros]++
			extra += 7
		case all[i] == 0 && n >= 3:
			counts[repeatZero]++
			extra += 3
		case all[i] != 0 && n >= 4:
			n = min(n, 7)
			counts[all[i]]++
			counts[repeatLast]++
			extra += 2
		default:
			counts[all[i]] += uint32(n)
		}
		i += n
	}
	var code [lengthSymbols]uint8
	b.Lengths(code[:], counts[:], lengthBits)
	atLeastTwo(code[:])
	codes := lengthSymbols
	for codes > 4 && code[lengthOrder[codes-1]] == 0 {
		codes--
	}
	bits := 14 + 3*codes + extra
	for i, c := range counts {
		bits += int(c) * int(code[i])
	}
	return bits
}

// TestHeader: descriptions say the lengths, are as long as planned, and not longer than they would be without choosing.
func TestHeader(t *testing.T) {
	var b huffman.Builder
	var h header
	r := rand.New(rand.NewPCG(13, 14))
	ours, naive, rounds := 0, 0, 4000
	if testing.Short() {
		rounds = 400
	}
	for range rounds {
		var hist histogram
		hist.litLen[endOfBlock] = 1
		for _, part := range [][]uint32{hist.litLen[:maxLitLen], hist.offset[:maxOffsets]} {
			count, mass := uint32(r.IntN(3)), 1+r.IntN(20)
			for i := range part {
				if r.IntN(mass) == 0 {
					count = uint32(r.IntN(2) * r.IntN(1<<r.IntN(14)))
				}
				part[i] += count
			}
		}
		var l lengths
		l.best(&b, &hist)
		h.plan(&b, &l)
		var w writer
		w.Put(1|typeDynamic<<1, 3)
		h.write(&w)
		if got := len(w.Out)*8 + int(w.N) - 3; got != h.bits {
			t.Fatalf("%d bits written, %d planned", got, h.bits)
		}
		// The rest of a block, whose only symbol is its end.
		var c codes
		c.assign(&l)
		w.Put(c.litLen[endOfBlock].Bits(), c.litLen[endOfBlock].Len())
		w.Align()
		readAll(t, w.Out, nil, nil)
		all := slices.Concat(l.litLen[:h.litLens], l.offset[:h.offsets])
		n := naiveHeader(&b, all)
		if h.bits > n+8 {
			t.Errorf("%v: %d bits, %d without choosing", all, h.bits, n)
		}
		ours, naive = ours+h.bits, naive+n
	}
	if ours > naive*95/100 {
		t.Errorf("%d bits, %d without choosing", ours, naive)
	}
}

// TestTwoCodesAtLeast: old decoders do not know that there may be a single code, or none: see lengths.best.
func TestTwoCodesAtLeast(t *testing.T) {
	for offsets := range 3 {
		var h histogram
		var l lengths
		var b huffman.Builder
		h.litLen[endOfBlock] = 1
		for i := range offsets {
			h.offset[7*i] = 5
			h.litLen[firstLength] += 5
		}
		l.best(&b, &h)
		for name, lens := range map[string][]uint8{"literals and lengths": l.litLen[:], "offsets": l.offset[:]} {
			used := 0
			for _, n := range lens {
				if n != 0 {
					used++
				}
			}
			if used < 2 {
				t.Errorf("%d offsets: %d codes for %s", offsets, used, name)
			}
		}
	}
}

func TestCosts(t *testing.T) {
	var e Encoder
	var c Costs
	e.Costs(&c)
	for _, x := range []struct{ got, want uint32 }{
		{c.Literal['a'], 8}, {c.Literal[200], 9}, {c.Length[3], 7}, {c.Length[257], 13}, {c.Length[258], 8}, {c.Offset[0], 5}, {c.Offset[29], 18},
	} {
		if x.got != x.want*huffman.CostBit {
			t.Errorf("fixed codes: %d, want %d bits", x.got, x.want)
		}
	}
	// The costs of all that a piece consists of are its size, without what describes its codes.
	r := rand.New(rand.NewPCG(15, 16))
	m := newMaker(r, 1000)
	for range 6000 {
		m.literals(byte(min(r.IntN(50), r.IntN(50))))
		if r.IntN(3) == 0 {
			m.match(3+min(r.IntN(256), r.IntN(256)), 1+r.IntN(1000))
		}
	}
	in := m.check(t, &e)
	if in.blocks != [3]int{0, 0, 1} {
		t.Fatal("not one block:", in.blocks)
	}
	e.Costs(&c)
	sum, at := uint64(e.lengths.litLen[endOfBlock])*huffman.CostBit, 0
	content := m.content()
	for _, s := range m.seqs {
		for _, p := range content[at : at+int(s.LitLen)] {
			sum += uint64(c.Literal[p])
		}
		sum += uint64(c.Length[s.MatchLen] + c.Offset[OffsetSlot(s.Offset)])
		at += int(s.LitLen + s.MatchLen)
	}
	for _, p := range content[at:] {
		sum += uint64(c.Literal[p])
	}
	if got := int(sum/huffman.CostBit) + 3 + e.header.bits; got != in.bits {
		t.Errorf("costs say %d bits, there are %d", got, in.bits)
	}
	if c.Literal[255] <= c.Literal[0] || c.Offset[29] > 15*huffman.CostBit+13*huffman.CostBit {
		t.Error("costs of what did not occur:", c.Literal[255], c.Offset[29])
	}
}
