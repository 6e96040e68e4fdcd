package lz77

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// rungProduct is what place and tag of the rung of so many bytes are made of, without its tables and words.
func rungProduct(src []byte, i, length int) (p uint64) {
	var v [32]byte
	copy(v[:], src[i:i+length])
	if length <= 8 {
		return binary.LittleEndian.Uint64(v[:]) << (64 - 8*length) * prime64
	}
	words := [4]uint64{prime64, word2Mul, word3Mul, word4Mul}
	if length <= 16 {
		return binary.LittleEndian.Uint64(v[:])*words[0] + binary.LittleEndian.Uint64(v[8:])<<(128-8*length)*words[1]
	}
	for k, m := range words {
		p += binary.LittleEndian.Uint64(v[8*k:]) * m
	}
	return p
}

// TestLadderDefinition compares the candidates of every position with the definition, one position and one rung after the other; some positions are only passed.
func TestLadderDefinition(t *testing.T) {
	const size, nice = 3000, 40
	params := &Params{Finder: MultiHash, HashLog: 14, Nice: nice}
	for _, l := range []Limits{{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1}, {MinMatch: 3, MaxOffset: 255, MinOffset: 1}, {MinMatch: 5, MaxOffset: 1<<16 - 1},
		{MinMatch: 6, MaxOffset: 1 << 20}, {MinMatch: 7, MaxOffset: 1 << 20}, {MinMatch: 8, MaxOffset: 1 << 20}} {
		found := 0
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			src = src[:len(src):len(src)]
			var ld multiHash
			const start = 70
			ld.reset(params, &l, src, start)
			type key struct {
				rung int
				hash uint64
			}
			type entry struct {
				at  int
				tag uint32
			}
			seen := map[key]entry{}
			end := len(src) - tail
			for i := 0; i < end; i++ {
				longest, last := l.MinMatch-1, i
				var want []candidate
				for r, rung := range hashLengths {
					length := max(int(rung.bytes), l.MinMatch)
					if r < len(hashLengths)-1 && int(hashLengths[r+1].bytes) <= l.MinMatch || i+length > len(src) {
						continue
					}
					p := rungProduct(src, i, length)
					tag := uint32(p>>12) & ld.tagMask
					place := key{r, p >> (64 - tableLog(params.HashLog-rung.less, size))}
					e := seen[place] // an empty one is as position 0 with a tag of 0
					seen[place] = entry{i, tag}
					if e.tag != tag || e.at >= last || longest == min(nice, len(src)-i) {
						continue
					}
					last = e.at
					d := i - e.at
					n := equalBytes(src, i, d, nice)
					if d < l.minOffset() && n > longest {
						if d = int(leastMultiple[d]); d > i {
							continue
						}
						n = equalBytes(src, i, d, nice)
					}
					if n > longest && d <= l.MaxOffset && (n > 3 || d <= defaultMaxOffset3) {
						longest = n
						want = append(want, newCandidate(n, d, genericModel{}))
					}
				}
				// The batch is looked up as a whole, so what is passed must be behind it.
				if i < start {
					continue
				}
				if i >= ld.batchEnd && i%3 == 0 {
					ld.insert(src, i)
					continue
				}
				if got := ld.find(nil, src, i, genericModel{}); !slices.Equal(got, want) {
					t.Fatalf("%s, limits %+v at %d: %v, want %v", k.Name, l, i, got, want)
				}
				found += len(want)
			}
		}
		if found < 4*size {
			t.Errorf("only %d candidates", found)
		}
	}
}

// TestSkip: within a long match nothing is looked for but near its end, and only where the matches before it are at theirs.
func TestSkip(t *testing.T) {
	random := corpus.ByName("random").Make(3000)
	a, b := random[:1000], random[1000:1200]
	src := slices.Concat(a, a[520:540], b, random[1200:1300], a[500:540], b, random[1300:1400])
	p := len(a) + 20 + len(b) + 100
	for level := 7; level <= MaxLevel; level++ {
		params := Levels[level]
		for _, skip := range []int{32, 0} {
			params.SkipInMatch = skip
			var m Matcher
			seqs := m.Parse(nil, src, &params, testLimits[1])
			if err := valid(src, seqs, testLimits[1]); err != nil {
				t.Fatal(err)
			}
			searched := func(i int) bool { return m.optimal.firstCand[i] < m.optimal.firstCand[i+1] }
			end, lost := p+40+len(b), 0
			for i := p; i < end-4; i++ {
				// The first match is of 40 bytes, the second begins in it and goes on to the end.
				want := skip == 0 || i == p || i >= p+40-searchTail && i <= p+40 || i >= end-searchTail
				if i != p && want && skip == 0 && params.Finder == MultiHash && !searched(i) && lost < 3 {
					lost++ // others have taken its places in the tables
				} else if searched(i) != want {
					t.Errorf("level %d, Skip %d: %d of %d searched: %v", level, skip, i-p, end-p, !want)
				}
			}
		}
	}
}
