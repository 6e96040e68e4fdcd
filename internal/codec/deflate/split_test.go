package deflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestSplit checks that blocks end where the statistics change, and only there.
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
		{"the same statistics, more than maxUnits", func(m *maker) {
			skewed(m, 'a', (2*maxUnits+50)*unitSymbols)
		}, 1},
		{"a change behind maxUnits", func(m *maker) {
			skewed(m, 'a', (maxUnits+50)*unitSymbols)
			skewed(m, 200, maxUnits*unitSymbols)
		}, 2},
		{"two alphabets", func(m *maker) {
			skewed(m, 'a', 30*unitSymbols)
			skewed(m, 200, 30*unitSymbols)
		}, 2},
		{"there and back", func(m *maker) {
			skewed(m, 'a', 30*unitSymbols)
			skewed(m, 200, 30*unitSymbols)
			skewed(m, 'a', 30*unitSymbols)
		}, 3},
		{"too short for a block", func(m *maker) {
			skewed(m, 'a', 30*unitSymbols)
			skewed(m, 120, 12)
			skewed(m, 'a', 30*unitSymbols)
		}, 1},
	} {
		var e Encoder
		m := newMaker(r, 0)
		c.make(m)
		if in := m.check(t, &e); in.blocks[typeDynamic] != c.want {
			t.Errorf("%s: %d blocks, want %d", c.what, in.blocks[typeDynamic], c.want)
		}
	}
}

// gzipDeflate returns the Deflate stream that the gzip program makes of data.
func gzipDeflate(t *testing.T, path string, level int, data []byte) []byte {
	t.Helper()
	const header, trailer = 10, 8 // bytes of a gzip member without a name
	cmd := exec.Command(path, "-c", "-n", fmt.Sprint("-", level))
	cmd.Stdin = bytes.NewReader(data)
	member, err := cmd.Output()
	if err != nil || len(member) < header+trailer {
		t.Fatalf("gzip -%d: %d bytes, %v", level, len(member), err)
	}
	return member[header : len(member)-trailer]
}

// TestRecode re-encodes the sequences of other encoders: the result must not be larger.
func TestRecode(t *testing.T) {
	size := 1 << 17
	switch {
	case testenv.All():
		size = 1 << 19
	case testing.Short():
		size = 1 << 14
	}
	for _, k := range corpus.Kinds() {
		data := k.Make(size)
		t.Run(k.Name+"/compress/flate", func(t *testing.T) {
			for _, level := range []int{1, 6, 9} {
				var b bytes.Buffer
				w, _ := flate.NewWriter(&b, level)
				_, _ = w.Write(data)
				_ = w.Close()
				recode(t, fmt.Sprint("level ", level), b.Bytes(), data)
			}
		})
		t.Run(k.Name+"/gzip", func(t *testing.T) {
			path := testenv.Tool(t, "gzip")
			for _, level := range []int{1, 6, 9} {
				recode(t, fmt.Sprint("level ", level), gzipDeflate(t, path, level, data), data)
			}
		})
	}
}

// recode re-encodes the sequences of a Deflate stream of data.
func recode(t *testing.T, what string, theirs, data []byte) {
	t.Helper()
	in, err := inflate(theirs, nil)
	if err != nil || !bytes.Equal(in.content, data) {
		t.Fatalf("%s: %v", what, err)
	}
	var e Encoder
	ours := e.Append(nil, data, in.seqs, true)
	readAll(t, ours, nil, data)
	t.Logf("%s: %d, ours %d: %.2f%%", what, len(theirs), len(ours),
		100*float64(len(ours))/float64(len(theirs)))
	// Estimates may make a block a little larger.
	if len(ours) > len(theirs)+len(theirs)/1000+40 {
		t.Errorf("%s: %d bytes, ours %d", what, len(theirs), len(ours))
	}
}

// naiveHeader returns the size of a header that always takes the longest repeats, from the front.
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
			counts[repeatManyZeros]++
			extra += 7
		case all[i] == 0 && n >= 3:
			counts[repeatZeros]++
			extra += 3
		case all[i] != 0 && n >= 4:
			n = min(n, 7)
			counts[all[i]]++
			counts[repeatPrevious]++
			extra += 2
		default:
			counts[all[i]] += uint32(n)
		}
		i += n
	}
	var code [lengthSymbols]uint8
	b.Lengths(code[:], counts[:], lengthBits)
	ensureTwoCodes(code[:])
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

// TestHeader checks that headers describe the lengths, have the planned size and are not larger
// than naive ones.
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
		l.build(&b, &hist)
		h.plan(&b, &l)
		var w writer
		w.Put(1|typeDynamic<<1, 3)
		h.write(&w)
		if got := len(w.Out)*8 + int(w.N) - 3; got != h.bits {
			t.Fatalf("%d bits written, %d planned", got, h.bits)
		}
		// the rest of a block, whose only symbol is its end
		var c codes
		c.assign(&l)
		w.Put(c.litLen[endOfBlock].Bits(), c.litLen[endOfBlock].Len())
		w.Align()
		readAll(t, w.Out, nil, nil)
		all := slices.Concat(l.litLen[:h.litLens], l.offset[:h.offsets])
		n := naiveHeader(&b, all)
		if h.bits > n+8 {
			t.Errorf("%v: %d bits, naive %d", all, h.bits, n)
		}
		ours, naive = ours+h.bits, naive+n
	}
	if ours > naive*95/100 {
		t.Errorf("%d bits, naive %d", ours, naive)
	}
}

// TestTwoCodesAtLeast checks that each alphabet has two codes. See lengths.build.
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
		l.build(&b, &h)
		alphabets := map[string][]uint8{"literals and lengths": l.litLen[:], "offsets": l.offset[:]}
		for name, lens := range alphabets {
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
