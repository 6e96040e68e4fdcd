package zstd

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// checkSeqs executes sequences over random literals and checks their encoding. It also returns the
// content.
func checkSeqs(t testing.TB, e *Encoder, seqs []lz77.Sequence, tail int) (src, blocks []byte) {
	t.Helper()
	n := tail
	for _, q := range seqs {
		n += int(q.LitLen)
	}
	src = expand(corpus.ByName("random").Make(n), seqs)
	return src, check(t, e, src, seqs)
}

func TestLengths(t *testing.T) {
	var e Encoder
	var p program
	var lits, matches [codeSpace]bool
	for n := uint32(0); n <= MaxBlock; n++ {
		power := bits.OnesCount32(n) == 1 || bits.OnesCount32(n+1) == 1 || bits.OnesCount32(n+4) == 1
		if n > 300 && !power && n%8209 != 0 {
			continue // of longer ones only those near powers of two, and some others
		}
		seqs := []lz77.Sequence{{LitLen: 8, MatchLen: 4, Offset: 5}}
		if n < MaxBlock-40 {
			seqs = append(seqs, lz77.Sequence{LitLen: n, MatchLen: 3, Offset: 7})
			code, _ := litCode(n)
			lits[code] = true
		}
		if n >= MinMatch && n < MaxBlock-40 {
			seqs = append(seqs, lz77.Sequence{LitLen: 1, MatchLen: n, Offset: 3})
			code, _ := matchCode(n - MinMatch)
			matches[code] = true
		}
		src, blocks := checkSeqs(t, &e, seqs, 3)
		p.add(t, src, blocks)
	}
	for c := range maxMatchCode + 1 {
		if !matches[c] || c <= maxLitCode && !lits[c] {
			t.Errorf("code %d did not occur", c)
		}
	}
	p.check(t)
}

// TestBlockFull encodes blocks that are almost one match or one literal run.
func TestBlockFull(t *testing.T) {
	var e Encoder
	var p program
	for d := range uint32(12) {
		for _, seqs := range [][]lz77.Sequence{
			{{LitLen: 1, MatchLen: MaxBlock - d, Offset: 1}},
			{{LitLen: 3, MatchLen: MaxBlock + d, Offset: 2}},
			{{LitLen: MaxBlock - d, MatchLen: 3, Offset: 1}},
			{{LitLen: MaxBlock - 5, MatchLen: d + 3, Offset: MaxBlock - 5}},
			{{LitLen: MaxBlock + d, MatchLen: shortMatch + d, Offset: 1}},
			{
				{LitLen: 1, MatchLen: 4*MaxBlock + d - 5, Offset: 1},
				{LitLen: 0, MatchLen: 5 * MaxBlock, Offset: 4*MaxBlock - 100},
			},
			{
				{LitLen: 50_000, MatchLen: 100_000 - d, Offset: 40_000},
				{LitLen: 10_000 * d, MatchLen: 90_000, Offset: 40_000},
			},
			{{LitLen: unitSize, MatchLen: MaxBlock - unitSize - 2 + d, Offset: unitSize}},
			{{LitLen: unitSize + 1, MatchLen: MaxBlock - unitSize - 2 + d, Offset: unitSize}},
			{
				{LitLen: 100, MatchLen: MaxBlock - shortMatch, Offset: 1},
				{LitLen: d, MatchLen: shortMatch + d, Offset: 1},
			},
		} {
			for _, tail := range []int{0, 1, int(d)} {
				src, blocks := checkSeqs(t, &e, seqs, tail)
				p.add(t, src, blocks)
			}
		}
	}
	p.check(t)
}

func TestOffsetCodes(t *testing.T) {
	var e Encoder
	var p program
	for log := uint(2); log <= 24; log++ {
		if log > 20 && testing.Short() {
			break
		}
		// offset values
		for i, v := range []uint32{1 << log, 2<<log - 1, 1<<log + 1, 3 << log >> 1} {
			if v < 4 || log > 20 && i > 0 {
				continue
			}
			seqs := []lz77.Sequence{{LitLen: v, MatchLen: 70_000, Offset: v - 3}}
			seqs = append(seqs,
				lz77.Sequence{LitLen: 70_000, MatchLen: 70_000, Offset: v + min(140_000, v>>1)},
				lz77.Sequence{MatchLen: 3, Offset: v - 3})
			src, blocks := checkSeqs(t, &e, seqs, 3)
			p.add(t, src, blocks)
		}
	}
	p.check(t)
}

// TestRepeats uses all repeat offsets in random order.
func TestRepeats(t *testing.T) {
	var e Encoder
	var p program
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		seqs := []lz77.Sequence{{LitLen: 100, MatchLen: 3, Offset: 50}}
		recent := [4]uint32{50, 1, 4, 49}
		for range 1 + r.IntN(60) {
			q := lz77.Sequence{
				LitLen: r.Uint32N(3) / 2 * r.Uint32N(4), MatchLen: 3 + r.Uint32N(5),
				Offset: recent[r.IntN(4)],
			}
			if r.IntN(8) == 0 {
				q.Offset = 1 + r.Uint32N(100)
			}
			q.Offset = max(q.Offset, 1)
			seqs = append(seqs, q)
			recent = [4]uint32{q.Offset, recent[0], recent[1], q.Offset - 1}
		}
		src, blocks := checkSeqs(t, &e, seqs, r.IntN(4))
		p.add(t, src, blocks)
	}
	p.check(t)
}

// TestOffsetValues compares with the table of RFC 8878, section 3.1.1.5.
func TestOffsetValues(t *testing.T) {
	for _, c := range []struct {
		lit, offset, code uint32
		extra             uint64
		repeats           [3]uint32
	}{
		{1, 100, 0, 0, [3]uint32{100, 200, 300}},
		{1, 200, 1, 0, [3]uint32{200, 100, 300}},
		{1, 300, 1, 1, [3]uint32{300, 100, 200}},
		{1, 99, 6, 102 - 64, [3]uint32{99, 100, 200}},
		{0, 200, 0, 0, [3]uint32{200, 100, 300}},
		{0, 300, 1, 0, [3]uint32{300, 100, 200}},
		{0, 99, 1, 1, [3]uint32{99, 100, 200}},
		{0, 100, 6, 103 - 64, [3]uint32{100, 100, 200}},
		{0, 1, 2, 0, [3]uint32{1, 100, 200}},
	} {
		e := Encoder{repeats: [3]uint32{100, 200, 300}}
		e.appendCodes([]lz77.Sequence{{LitLen: c.lit, MatchLen: 3, Offset: c.offset}})
		code, extra := e.body.seqs[0].Codes[offsets], e.body.seqs[0].Extra
		if uint32(code) != c.code || extra != c.extra || e.repeats != c.repeats {
			t.Errorf("%d literals, offset %d: code %d, %d, repeats %v, want %d, %d, %v",
				c.lit, c.offset, code, extra, e.repeats, c.code, c.extra, c.repeats)
		}
	}
}

func TestPredefined(t *testing.T) {
	for i, k := range kindOf {
		d, sum := &k.predefined().dist, 0
		for _, p := range d.Prob[:d.Len] {
			sum++
			if p > 0 {
				sum += int(p) - 1
			}
		}
		if sum != 1<<d.Log || d.Len != []int{36, 29, 53}[i] {
			t.Errorf("kind %d: sum %d of %d symbols", i, sum, d.Len)
		}
	}
}

// TestModes checks that suitable content produces every type of block, literals and table.
func TestModes(t *testing.T) {
	var e Encoder
	var m lz77.Matcher
	var p program
	met := map[string]int{}
	for _, k := range corpus.Kinds() {
		for _, size := range []int{50, 400, 2000, 20_000, 600_000} {
			src := k.Make(size)
			blocks := check(t, &e, src, m.Parse(nil, src, &lz77.Levels[3], Limits))
			p.add(t, src, blocks)
			for _, b := range inspect(t, blocks) {
				met[fmt.Sprint("block ", b.kind)]++
				if b.kind == compressedBlock {
					met[fmt.Sprint("literals ", b.lits)]++
					met[fmt.Sprint("streams ", b.streams)]++
				}
				if b.seqs > 0 {
					for k, m := range b.modes {
						met[fmt.Sprint("mode ", k, m)]++
					}
				}
			}
		}
	}
	same := []lz77.Sequence{{LitLen: 40, MatchLen: 9, Offset: 30}}
	for i := range uint32(20) {
		same = append(same, lz77.Sequence{LitLen: 40, MatchLen: 9 + i, Offset: 30 + i})
	}
	many := []lz77.Sequence{{LitLen: 1000, MatchLen: 3, Offset: 1000}}
	for i := range uint32(45_000) {
		many = append(many, lz77.Sequence{MatchLen: 3, Offset: 1 + i*i%997})
	}
	for _, seqs := range [][]lz77.Sequence{same, many} {
		src, blocks := checkSeqs(t, &e, seqs, 0)
		p.add(t, src, blocks)
		for _, b := range inspect(t, blocks) {
			if b.seqs > 0x7F00 {
				met["many"]++
			}
			for k, m := range b.modes {
				met[fmt.Sprint("mode ", k, m)]++
			}
		}
	}
	p.check(t)
	for _, want := range []string{
		"many", "block 0", "block 1", "block 2",
		"literals 0", "literals 1", "literals 2", "literals 3",
		"streams 0", "streams 1", "streams 4", "mode 0 0", "mode 0 1", "mode 0 2", "mode 0 3",
		"mode 1 0", "mode 1 1", "mode 1 2", "mode 1 3",
		"mode 2 0", "mode 2 1", "mode 2 2", "mode 2 3",
	} {
		if met[want] == 0 {
			t.Errorf("%s did not occur", want)
		}
	}
	t.Log(met)
}

// TestRepeatsOfStoredBlock checks that the sequences of a stored block leave the repeat offsets
// alone.
func TestRepeatsOfStoredBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const offset, random, matched = 5000, MaxBlock, 40
	src := make([]byte, 192<<10)
	for i := range random {
		src[i] = byte(r.Uint32())
	}
	copy(src[10000:10003], src[10000-offset:])
	seqs := []lz77.Sequence{{LitLen: 10000, MatchLen: 3, Offset: offset}}
	done := 10003
	for at := random; at+100 < len(src); done = at {
		for range 5 {
			src[at] = "ab"[r.IntN(2)]
			at++
		}
		q := lz77.Sequence{LitLen: uint32(at - done), MatchLen: matched, Offset: offset}
		seqs = append(seqs, q)
		for range matched {
			src[at] = src[at-offset]
			at++
		}
	}
	code := check(t, new(Encoder), src, seqs)
	blocks := inspect(t, code)
	if len(blocks) < 2 || blocks[0].kind != rawBlock ||
		blocks[1].kind != compressedBlock || blocks[1].seqs == 0 {
		t.Errorf("%v: want a stored block before one with sequences", blocks)
	}
	var p program
	p.add(t, src, code)
	p.check(t)
}

// TestLengthCodes compares the table with the numbers of extra bits.
func TestLengthCodes(t *testing.T) {
	var want kernels.LengthCodes
	fillCodes(want.Lits[:], want.LitBits[:], litBits[:])
	fillCodes(want.Matches[:], want.MatchBits[:], matchBits[:])
	if lengthCodes != want {
		t.Errorf("codes of lengths are %v, want %v", lengthCodes, want)
	}
}

// fillCodes sets the codes of the lengths from 0 on, given the numbers of extra bits of the codes.
func fillCodes(codes, bits, extra []uint8) {
	code, room := 0, 0
	for i := range codes {
		if room == 0 {
			room = 1 << extra[code]
			code++
		}
		codes[i], bits[i] = uint8(code-1), extra[code-1]
		room--
	}
}
