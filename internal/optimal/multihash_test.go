package optimal

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// Multipliers of the second to fourth word of a hash: primes of xxHash64.
const (
	word2Mul = 0xC2B2AE3D27D4EB4F
	word3Mul = 0x165667B19E3779F9
	word4Mul = 0x27D4EB2F165667C5
)

// hashOf returns the hash of length bytes at i, computed without batches.
func hashOf(src []byte, i, length int) (p uint64) {
	var v [32]byte
	copy(v[:], src[i:i+length])
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(v[8*k:]) }
	switch {
	case length <= 8:
		return word(0) << (64 - 8*length) * finder.Prime64
	case length <= 16:
		return word(0)*finder.Prime64 + word(1)<<(128-8*length)*word2Mul
	}
	for k, m := range [4]uint64{finder.Prime64, word2Mul, word3Mul, word4Mul} {
		p += word(k) * m
	}
	return p
}

// TestMultiHashDefinition compares the candidates of every position with the definition, one
// position and one length after the other. Some positions are inserted without a search.
func TestMultiHashDefinition(t *testing.T) {
	for _, c := range []config{
		{MinNew: 4, MaxOffset: 1 << 26, MinOffset: 1},
		{MinNew: 3, MaxOffset: 255, MinOffset: 1},
		{MinNew: 5, MaxOffset: 1<<16 - 1, MinOffset: lz77.MinOffset},
		{MinNew: 6, MaxOffset: 1 << 20, MinOffset: lz77.MinOffset},
		{MinNew: 7, MaxOffset: 1 << 20, MinOffset: lz77.MinOffset},
		{MinNew: 8, MaxOffset: 1 << 20, MinOffset: lz77.MinOffset},
	} {
		c.Finder, c.HashLog, c.Nice, c.Model = MultiHash, 14, 40, genericModel{}
		testMultiHashDefinition(t, &c)
	}
}

func testMultiHashDefinition(t *testing.T, c *config) {
	const size, start = 3000, 70
	found := 0
	for _, k := range corpus.Kinds() {
		src := slices.Clip(k.Make(size))
		var multi multiHash
		multi.reset(c, src, start, func() {})
		// Tags have the bits that no position needs.
		tagMask := ^uint32(0) << bits.Len(uint(len(src)))
		reference := multiHashReference{config: c, tagMask: tagMask, last: map[tablePlace]tableEntry{}}
		batchEnd := 0
		g := &chunkCandidates{firstCand: make([]uint32, len(src)), cands: make([]candidate, 0, 100)}
		for i := range len(src) - finder.Tail {
			want := reference.find(src, i)
			if i < start {
				continue
			}
			// A batch is looked up as a whole, so only the position behind it can be inserted
			// alone.
			if i >= batchEnd && i%3 == 0 {
				kernels.InsertMultiHash(&multi.MultiHash, src, i, i+1, 1)
				continue
			}
			if i >= batchEnd {
				batchEnd = i + batch
			}
			g.cands = g.cands[:0]
			multi.find(g, src, i, i+1, 10, genericModel{})
			if !slices.Equal(g.cands, want) {
				t.Fatalf("%s, MinNew %d, position %d: got %v, want %v", k.Name, c.MinNew, i, g.cands, want)
			}
			found += len(want)
		}
	}
	if found < 4*size {
		t.Errorf("MinNew %d: only %d candidates", c.MinNew, found)
	}
}

// multiHashReference is a plain multiHash.
type multiHashReference struct {
	config  *config
	tagMask uint32
	last    map[tablePlace]tableEntry // an empty entry is position 0 with tag 0
}

type tablePlace struct {
	table int
	place uint64
}

type tableEntry struct {
	at  int
	tag uint32
}

func (m *multiHashReference) find(src []byte, i int) (cands []candidate) {
	c := m.config
	longest, last := c.MinNew-1, i
	for k, h := range hashLengths {
		length := max(int(h.bytes), c.MinNew)
		if k < len(hashLengths)-1 && int(hashLengths[k+1].bytes) <= c.MinNew || i+length > len(src) {
			continue
		}
		p := hashOf(src, i, length)
		tag := uint32(p>>12) & m.tagMask
		place := tablePlace{k, p >> (64 - finder.TableLog(c.HashLog-h.less, len(src)))}
		e := m.last[place]
		m.last[place] = tableEntry{i, tag}
		if e.tag != tag || e.at >= last || longest == min(c.Nice, len(src)-i) {
			continue
		}
		last = e.at
		d := i - e.at
		n := equalBytes(src, i, d, c.Nice)
		if d < c.MinOffset && n > longest {
			if d = int(finder.LeastMultiple[d]); d > i {
				continue
			}
			n = equalBytes(src, i, d, c.Nice)
		}
		if n > longest && d <= c.MaxOffset && (n > 3 || d <= defaultMaxOffset3) {
			longest = n
			cands = append(cands, newCandidate(n, d, genericModel{}))
		}
	}
	return cands
}

// TestSkipInMatch: within a long match only positions near its end are searched, and those where
// the matches before it end.
func TestSkipInMatch(t *testing.T) {
	random := corpus.ByName("random").Make(3000)
	a, b := random[:1000], random[1000:1200]
	src := slices.Concat(a, a[520:540], b, random[1200:1300], a[500:540], b, random[1300:1400])
	p := len(a) + 20 + len(b) + 100
	for level := 7; level <= 9; level++ {
		c := atLevel(level, formats[1])
		for _, skip := range []int{32, 0} {
			c.SkipInMatch = skip
			var o Parser
			if err := valid(src, o.sequences(src, c), c); err != nil {
				t.Fatal(err)
			}
			searched := func(i int) bool { return o.firstCand[i] < o.firstCand[i+1] }
			end, lost := p+40+len(b), 0
			for i := p; i < end-4; i++ {
				// The first match has 40 bytes. The second begins in it and goes on to the end.
				want := skip == 0 || i == p || i >= p+40-searchTail && i <= p+40 || i >= end-searchTail
				if i != p && want && skip == 0 && c.Finder == MultiHash && !searched(i) && lost < 3 {
					lost++ // other positions took its places in the tables
				} else if searched(i) != want {
					t.Errorf("level %d, SkipInMatch %d: position %d of %d searched: %v",
						level, skip, i-p, end-p, !want)
				}
			}
		}
	}
}
