package lz77

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
)

// bruteFind is the definition of RowHash, word by word.
func bruteFind(src []byte, hashes []uint32, i int, p *Params, l Limits) (n, d int) {
	longest, left := 0, p.Depth
	for c := i - 1; c >= 0 && left > 0; c-- {
		if hashes[c] != hashes[i] {
			continue
		}
		left--
		dist := i - c
		for dist < 16 {
			dist += i - c
		}
		if dist > i || dist > l.MaxOffset {
			continue
		}
		m := 0
		for i+m < len(src) && src[i+m] == src[i+m-dist] {
			m++
		}
		k := min(m, p.Nice)
		if m < max(l.MinMatch, int(p.HashBytes)) || k <= longest {
			continue
		}
		if d == 0 || 4*(k-longest) > bits.Len(uint(dist))-bits.Len(uint(d)) {
			longest, n, d = k, m, dist
		}
		if longest == p.Nice {
			break
		}
	}
	return n, d
}

// prepare makes m ready for calls of find. It returns the shift of the hash.
func (m *Matcher) prepare(size int, p *Params, l Limits) (shift uint8) {
	m.params, m.limits = *p, l
	m.rows.reset(p, size)
	return m.rows.shift
}

// TestRowHashDefinition compares find with the definition at every position. A device that sorts
// positions must find the same candidates, so the order of equal ones matters.
func TestRowHashDefinition(t *testing.T) {
	size := 1500
	if small() {
		size = 400
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, depth := range []int{8, 16, 32, 64} {
		for _, nice := range []int{8, 33, 256} {
			for _, l := range testLimits {
				t.Run(fmt.Sprintf("depth%d/nice%d/min%d", depth, nice, l.MinMatch), func(t *testing.T) {
					p := &Params{Finder: RowHash, HashLog: 16, Depth: depth, Nice: nice}
					p.HashBytes = uint8(bits.Len(uint(depth)))
					if depth == 16 {
						l.MaxOffset = 300
					}
					if depth == 32 {
						p.HashLog = finder.MinTableLog // collisions count as candidates, too
					}
					found := 0
					for _, k := range corpus.Kinds() {
						found += testRowHashDefinition(t, k.Name, k.Make(size), p, l, r)
					}
					if found < 2*size {
						t.Errorf("only %d matches: the data is too hard", found)
					}
				})
			}
		}
	}
}

// testRowHashDefinition returns the number of positions with a candidate.
func testRowHashDefinition(
	t *testing.T, kind string, src []byte, p *Params, l Limits, r *rand.Rand,
) (found int) {
	least := max(l.MinMatch, int(p.HashBytes))
	var every, some Matcher
	shift := every.prepare(len(src), p, l)
	some.prepare(len(src), p, l)
	hashes := make([]uint32, len(src)-finder.Tail)
	for i := range hashes {
		hashes[i] = finder.RowHash(finder.Load64(src, i), finder.RowHashMask(p.HashBytes)) >> shift
	}
	for i := range hashes {
		n, d := bruteFind(src, hashes, i, p, l)
		if n > 0 {
			found++
		}
		if gn, gd := every.rows.find(src, i, least, l.MaxOffset, p.Nice); gn != n || gd != d {
			t.Fatalf("%s at %d: %d bytes at %d, want %d at %d", kind, i, gn, gd, n, d)
		}
		// Positions passed over are candidates, too.
		if r.IntN(20) == 0 {
			if gn, gd := some.rows.find(src, i, least, l.MaxOffset, p.Nice); gn != n || gd != d {
				t.Fatalf("%s at %d, most positions passed over: %d bytes at %d, want %d at %d",
					kind, i, gn, gd, n, d)
			}
		}
	}
	return found
}
