package deflate

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
)

func TestEdges(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	random := make([]byte, 3*maxStored)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for _, c := range []struct {
		what   string
		before int // bytes before the content
		make   func(m *maker)
		blocks [3]int // expected number by type; 0, 0, 0 is not checked
	}{
		{"empty", 0, func(m *maker) {}, [3]int{0, 1, 0}},
		{"empty with something before", 99, func(m *maker) {}, [3]int{0, 1, 0}},
		{"one byte", 0, func(m *maker) { m.literals('x') }, [3]int{0, 1, 0}},
		{"two bytes", 0, func(m *maker) { m.literals('x', 'y') }, [3]int{0, 1, 0}},
		{"all bytes once", 0, func(m *maker) { m.literals(all...) }, [3]int{1, 0, 0}},
		{"one byte only", 0, func(m *maker) { m.literals(make([]byte, 5000)...) }, [3]int{0, 0, 1}},
		{"two different literals", 0, func(m *maker) {
			m.literals(bytes.Repeat([]byte{1, 200}, 3000)...)
		}, [3]int{0, 0, 1}},
		{"only a match", 7, func(m *maker) { m.match(3, 7) }, [3]int{0, 1, 0}},
		{"only matches", 300, func(m *maker) {
			for i := range 300 {
				m.match(3+i%256, 1+i)
			}
		}, [3]int{}},
		{"one sort of offset", 8, func(m *maker) {
			for range 3000 {
				m.match(3, 8)
			}
		}, [3]int{0, 0, 1}},
		{"no offset", 0, func(m *maker) {
			m.literals(bytes.Repeat([]byte("no offset"), 500)...)
		}, [3]int{0, 0, 1}},
		{"last offset slots", MaxOffset, func(m *maker) {
			for range 200 {
				m.match(10, MaxOffset)
				m.match(10, 3*MaxOffset/4)
				m.match(10, 3*MaxOffset/4+1)
			}
		}, [3]int{}},
		{"random", 0, func(m *maker) { m.literals(random...) }, [3]int{3, 0, 0}},
		{"random, one full stored block", 0, func(m *maker) {
			m.literals(random[:maxStored]...)
		}, [3]int{1, 0, 0}},
		{"random, a stored block and a byte", 0, func(m *maker) {
			m.literals(random[:maxStored+1]...)
		}, [3]int{2, 0, 0}},
		{"random with matches", 0, func(m *maker) {
			m.literals(random...)
			m.match(3, MaxOffset)
			m.literals(random[:70_000]...)
		}, [3]int{}},
	} {
		t.Run(c.what, func(t *testing.T) {
			m := newMaker(r, c.before)
			c.make(m)
			if in := m.check(t, &e); c.blocks != [3]int{} && in.blocks != c.blocks {
				t.Errorf("%d stored, fixed and dynamic blocks, want %d", in.blocks, c.blocks)
			}
		})
	}
}

// TestLengths encodes every length at the smallest, the largest and another offset, and long
// matches that are split.
func TestLengths(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(3, 4))
	for length := MinMatch; length <= 1100; length++ {
		if testing.Short() && length > 2*MaxMatch+MinMatch+5 {
			break
		}
		m := newMaker(r, MaxOffset)
		m.match(length, 1)
		m.literals(5)
		m.match(length, MaxOffset)
		m.match(length, 1+r.IntN(MaxOffset))
		in := m.check(t, &e)
		least := 3 * ((length + MaxMatch - 1) / MaxMatch)
		if len(in.seqs) != least {
			t.Fatalf("length %d: %d matches, want %d", length, len(in.seqs), least)
		}
	}
	m := newMaker(r, 1)
	m.match(3_000_000, 1)
	m.check(t, &e)
}

// TestOffsets encodes the offsets at both ends of every slot.
func TestOffsets(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(5, 6))
	m := newMaker(r, MaxOffset)
	for offset := 1; offset <= MaxOffset; offset++ {
		slot := int(slotOf(uint32(offset - 1)))
		base := slot + 1
		if slot >= 4 {
			base = (2+slot&1)<<(slot/2-1) + 1
		}
		if offset < base || offset-base >= 1<<offsetExtra[slot] {
			t.Fatalf("offset %d is in slot %d", offset, slot)
		}
		if offset-base < 2 || offset-base >= 1<<offsetExtra[slot]-2 {
			m.match(4, offset)
		}
	}
	m.check(t, &e)
}

func TestRandom(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(7, 8))
	rounds := 400
	if testing.Short() {
		rounds = 80
	}
	var blocks [3]int
	for range rounds {
		m := newMaker(r, r.IntN(3)*r.IntN(40_000))
		m.random(r, r.IntN(1<<r.IntN(14)))
		in := m.check(t, &e)
		for i, n := range in.blocks {
			blocks[i] += n
		}
	}
	for i, n := range blocks {
		if n < rounds/20 {
			t.Errorf("%d blocks of type %d only", n, i)
		}
	}
}

func TestCorpus(t *testing.T) {
	var e Encoder
	for _, f := range corpus.Files(t) {
		t.Run(f.Name, func(t *testing.T) {
			data := f.Data(t)
			m := maker{data: data, seqs: greedy.parse(data, 0)}
			m.check(t, &e)
		})
	}
}

// TestPieces concatenates pieces that were encoded separately, each with the content before it as
// window.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	data := corpus.ByName("mixed").Make(1 << 20)
	var code []byte
	for at := 0; at < len(data); {
		var e Encoder
		end := min(len(data), at+1+r.IntN(1<<r.IntN(18)))
		code = e.Append(code, data[at:end], greedy.parse(data[:end], at), end == len(data))
		at = end
	}
	readAll(t, code, nil, data)
}

func TestHostileSequences(t *testing.T) {
	content := make([]byte, 100)
	for what, s := range map[string]lz77.Sequence{
		"offset 0":             {LitLen: 5, MatchLen: 5, Offset: 0},
		"offset too great":     {LitLen: 5, MatchLen: 5, Offset: MaxOffset + 1},
		"match too short":      {LitLen: 5, MatchLen: 2, Offset: 1},
		"no match":             {LitLen: 5, MatchLen: 0, Offset: 1},
		"too many literals":    {LitLen: 101, MatchLen: 3, Offset: 1},
		"match too long":       {LitLen: 10, MatchLen: 91, Offset: 1},
		"absurdly many":        {LitLen: 1<<32 - 1, MatchLen: 3, Offset: 1},
		"absurdly long":        {LitLen: 5, MatchLen: 1<<32 - 1, Offset: 1},
		"both absurdly long":   {LitLen: 1<<32 - 1, MatchLen: 1<<32 - 1, Offset: 1},
		"negative on 32 bits":  {LitLen: 1<<32 - 8, MatchLen: 20, Offset: 1},
		"negative on 32 bits ": {LitLen: 50, MatchLen: 1<<32 - 40, Offset: 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", what)
				}
			}()
			var e Encoder
			e.Append(nil, content, []lz77.Sequence{s}, true)
		}()
	}
}

func TestAllocs(t *testing.T) {
	var e Encoder
	data := corpus.ByName("mixed").Make(1 << 18)
	seqs := greedy.parse(data, 0)
	dst := e.Append(nil, data, seqs, false)
	if n := testing.AllocsPerRun(10, func() {
		dst = e.Append(dst[:0], data, seqs, false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestAppendShort encodes content of a few symbols of all kinds.
func TestAppendShort(t *testing.T) {
	var e Encoder
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 300 {
		m := newMaker(r, 1000)
		for range 1 + n/10 {
			switch r.IntN(3) {
			case 0:
				m.match(MinMatch+r.IntN(300), 1+r.IntN(1000))
			case 1:
				m.literals(byte(r.Uint32()), byte(r.Uint32()), 'a')
			default:
				m.literals('b')
			}
		}
		m.check(t, &e)
	}
}
