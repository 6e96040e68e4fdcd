package simd

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveRows is the definition of MultiRows: all positions by hash, the latest first.
type naiveRows struct {
	tables [4]map[uint64][]int
	log    uint8
}

// rowShape lists the bytes of the hash of each table, and the entries of its rows.
var rowShape = [4]struct{ bytes, entries int }{{3, 2}, {4, 4}, {6, 8}, {10, 2}}

// insert inserts i and returns the entries before, which are positions modulo 1<<16.
func (t *naiveRows) insert(src []byte, i int) (entries []uint16) {
	v, w := binary.LittleEndian.Uint64(src[i:]), uint64(binary.LittleEndian.Uint16(src[i+8:]))
	for k, shape := range rowShape {
		if t.tables[k] == nil {
			t.tables[k] = map[uint64][]int{}
		}
		h := v * 0x9E3779B185EBCA87
		if shape.bytes < 8 {
			h <<= 64 - 8*shape.bytes
		} else {
			h += w << 48 * 0xC2B2AE3D27D4EB4F
		}
		h >>= 64 - t.log
		row := t.tables[k][h]
		for n := range shape.entries {
			if n < len(row) {
				entries = append(entries, uint16(row[n]))
			} else {
				entries = append(entries, 0) // an empty entry is one of position 0
			}
		}
		row = append([]int{i}, row...)
		t.tables[k][h] = row[:min(len(row), shape.entries)]
	}
	return entries
}

// search returns the matches of position i by the definition.
func (t *naiveRows) search(src []byte, i, minMatch, maxOffset int) (m RowMatches) {
	longest := minMatch - 1
	for k, e := range t.insert(src, i) {
		d := int(uint16(i) - e)
		if d < 1 || d > min(i, maxOffset) {
			continue
		}
		n := 0
		for n < 8 && src[i+n] == src[i+n-d] {
			n++
		}
		m.Back[k], m.Lengths[k] = int16(-d), uint8(n)
		if n > longest {
			longest = n
			m.Longer |= 1 << k
		}
		if n == 8 {
			m.Full |= 1 << k
		}
	}
	return m
}

// rowParams are the arguments of a search.
type rowParams struct {
	log                 uint8
	minMatch, maxOffset int
}

func randomRowParams(r *rand.Rand) rowParams {
	return rowParams{uint8(2 + r.IntN(9)), 1 + r.IntN(8), 1 + r.IntN([]int{40, 1 << 15}[r.IntN(2)])}
}

// run searches or inserts the positions from i on, piece by piece, and compares with the definition.
func (p rowParams) run(t *testing.T, r *rand.Rand, src []byte, i int) {
	var rows MultiRows
	rows.Reset(p.log)
	naive := naiveRows{log: p.log}
	for most := len(src) - 15; i < most; {
		n := min(1+r.IntN(70), most-i)
		if r.IntN(4) == 0 {
			rows.Insert(src, i, i+n)
			for range n {
				naive.insert(src, i)
				i++
			}
			continue
		}
		out := make([]RowMatches, n)
		rows.Search(src, i, p.minMatch, p.maxOffset, out)
		for _, m := range out {
			want := naive.search(src, i, p.minMatch, p.maxOffset)
			for k := range m.Back {
				if (want.Longer|want.Full)>>k&1 == 0 {
					m.Back[k], m.Lengths[k] = 0, 0
					want.Back[k], want.Lengths[k] = 0, 0
				}
			}
			if m != want {
				t.Fatalf("position %d: got %v, want %v", i, m, want)
			}
			i++
		}
	}
}

func TestMultiRows(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(91, 92))
		for range scaled(600) {
			randomRowParams(r).run(t, r, randomContent(r, 16+r.IntN(3000)), r.IntN(2)*r.IntN(8))
		}
		// Positions that repeat modulo 1<<16.
		src := randomContent(r, 1<<16)
		src = slices.Concat(src[:40_000], src, src[:50_000])
		rowParams{12, 3, 1 << 15}.run(t, r, src, 0)
	})
}

// TestMultiRowsRange: arguments out of range panic.
func TestMultiRowsRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		src, out := make([]byte, 28), make([]RowMatches, 5)
		var rows MultiRows
		rows.Reset(8)
		for name, f := range map[string]func(){
			"before":         func() { rows.Search(src, -1, 3, 9, out) },
			"end":            func() { rows.Search(src, 9, 3, 9, out) },
			"no bytes":       func() { rows.Search(src, 3, 0, 9, out) },
			"many bytes":     func() { rows.Search(src, 3, 9, 9, out) },
			"no offset":      func() { rows.Search(src, 3, 3, 0, out) },
			"far":            func() { rows.Search(src, 3, 3, 1<<15+1, out) },
			"rows":           func() { rows.Reset(1) },
			"insert, end":    func() { rows.Insert(src, 5, 14) },
			"insert, before": func() { rows.Insert(src, -1, 3) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}

func BenchmarkMultiRows(b *testing.B) {
	const n = 1 << 17
	src := randomContent(rand.New(rand.NewPCG(93, 94)), n)
	var rows MultiRows
	rows.Reset(14)
	out := make([]RowMatches, 64)
	benchTiers(b, func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			for i := 0; i+len(out)+15 <= n; i += len(out) {
				rows.Search(src, i, 3, 1<<15, out)
			}
		}
	})
}
