package lz77

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// segmentSize is the size of a segment in bytes.
const segmentSize = finder.SegmentSize

// segmentContents returns content of n bytes with matches across the bounds of segments, of all
// lengths, near ones and far ones.
func segmentContents(n int) map[string][]byte {
	r := rand.New(rand.NewPCG(31, 32))
	noise := make([]byte, n)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	all := map[string][]byte{
		"zeros": make([]byte, n), "noise": noise,
		"text": corpus.ByName("text").Make(n), "mixed": corpus.ByName("mixed").Make(n),
	}
	for _, period := range []int{3, 100, 5000, segmentSize - 1, segmentSize, segmentSize + 1} {
		p := bytes.Clone(noise)
		for i := period; i < n; i++ {
			p[i] = p[i-period]
		}
		all[fmt.Sprint("period ", period)] = p
	}
	// Matches that begin or end some bytes from a bound.
	p := bytes.Clone(noise)
	for at := segmentSize; at < n; at += segmentSize {
		for i := max(0, at-r.IntN(20)); i < min(n, at+r.IntN(20)); i++ {
			p[i] = p[i-3000]
		}
	}
	all["short"] = p
	return all
}

// segmentSizes are around multiples of segmentSize and of the tail without matches.
func segmentSizes() (sizes []int) {
	for _, n := range []int{segmentSize, 2 * segmentSize, 4 * segmentSize} {
		for _, d := range []int{-1, 0, 1, 2, finder.Tail - 1, finder.Tail, finder.Tail + 1, 5000} {
			if !tiny() || n == 2*segmentSize {
				sizes = append(sizes, n+d)
			}
		}
	}
	return sizes
}

// TestSegments: around the bounds of segments all tiers, with rows and with candidates, give the
// same valid sequences, and so does a parse with checkpoints. Two sequences that could be one do
// not follow one another there.
func TestSegments(t *testing.T) {
	sizes := segmentSizes()
	contents := segmentContents(slices.Max(sizes))
	var turns Matcher
	for level := 5; level <= 7; level++ {
		for i, n := range sizes {
			if !testenv.All() && i%3 != level%3 {
				continue
			}
			for name, content := range contents {
				l, p, src := testLimits[(i+level)%len(testLimits)], &Levels[level], content[:n]
				start := []int{0, 0, 17, 3000}[i%4]
				want := parsePortable(src, start, p, l)
				if err := valid(src, want, l); start == 0 && err != nil {
					t.Fatalf("level %d, %s, %d bytes: %v", level, name, n, err)
				}
				if !Valid(want, src, start, l, nil) {
					t.Fatalf("level %d, %s, %d bytes from %d: not valid", level, name, n, start)
				}
				best := candidatesOf(src, p, l)
				for _, tier := range simd.Tiers() {
					was := simd.SetTier(tier)
					got := turns.ParseFrom(nil, src, start, p, l)
					again, ok := turns.ParseCandidates(nil, src, start, p, l, best)
					simd.SetTier(was)
					if !slices.Equal(got, want) {
						t.Fatalf("level %d, %s, %d bytes from %d, tier %s: %s",
							level, name, n, start, tier, differ(got, want))
					}
					if !ok || !slices.Equal(again, want) {
						t.Fatalf("level %d, %s, %d bytes from %d, tier %s, candidates: ok %v, %s",
							level, name, n, start, tier, ok, differ(again, want))
					}
				}
			}
		}
	}
}

// parsePortable is ParseFrom in portable code.
func parsePortable(src []byte, start int, p *Params, l Limits) []Sequence {
	defer simd.SetTier(simd.SetTier(simd.Tiers()[0]))
	return new(Matcher).ParseFrom(nil, src, start, p, l)
}

// TestSegmentsJoined: a match that spans several segments is one sequence, and so is one whose part
// before a bound is all that a segment has of it.
func TestSegmentsJoined(t *testing.T) {
	noise := make([]byte, 5000)
	r := rand.New(rand.NewPCG(33, 34))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, before := range []int{0, 1, 1000, len(noise)} {
		src := bytes.Clone(noise[:before])
		for len(src) < 5*segmentSize {
			src = append(src, noise...)
		}
		for level := 5; level <= 7; level++ {
			seqs := new(Matcher).Parse(nil, src, &Levels[level], testLimits[1])
			if want := min(2, 1+before/1000); len(seqs) > want {
				t.Errorf("level %d, %d bytes in front: %d sequences, want %d", level, before,
					len(seqs), want)
			}
		}
	}
}

// TestSegmentsCut: a match that ends some bytes behind a bound is cut there if its end is not found
// again, and a part of fewer than MinMatch bytes is dropped.
func TestSegmentsCut(t *testing.T) {
	p, l := &Levels[6], testLimits[1]
	noise := make([]byte, 2*segmentSize)
	r := rand.New(rand.NewPCG(35, 36))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for front := 1; front < 12; front++ {
		for behind := 1; behind < 12; behind++ {
			src := bytes.Clone(noise)
			copy(src[segmentSize-200:], noise[3000:3064]) // behind a match each position is searched
			copy(src[segmentSize-front:], noise[1000:1000+front+behind])
			src[segmentSize-front-1] = ^noise[999]
			src[segmentSize+behind] = ^noise[1000+front+behind]
			least := max(l.MinMatch, int(p.HashBytes))
			found := front+behind >= least
			// What a segment finds at its begin joins what is left of the one before.
			n := uint32(64)
			if found && front >= l.MinMatch {
				n += uint32(front)
			}
			if behind >= least {
				n += uint32(behind)
			}
			got := uint32(0)
			for _, s := range new(Matcher).Parse(nil, src, p, l) {
				got += s.MatchLen
			}
			if got != n {
				t.Errorf("%d bytes in front of the bound and %d behind: %d in matches, want %d",
					front, behind, got, n)
			}
		}
	}
}

// TestSegmentsApart: what stands in a segment changes the parse of no other one but by its
// candidates and by the costs of literals in the next one.
func TestSegmentsApart(t *testing.T) {
	p, l := &Levels[5], testLimits[1]
	src := corpus.ByName("text").Make(4 * segmentSize)
	best := candidatesOf(src, p, l)
	var m Matcher
	want, _ := m.ParseCandidates(nil, src, 0, p, l, best)
	clear(best[:segmentSize]) // the first segment has literals only
	got, ok := m.ParseCandidates(nil, src, 0, p, l, best)
	const at = segmentSize + 1000 // the first match of a segment may belong to one before
	if !ok || !slices.Equal(behind(got, at), behind(want, at)) {
		t.Errorf("the first segment changes others: ok %v", ok)
	}
	if len(behind(want, 0)) == len(behind(want, at)) {
		t.Error("the first segment has no sequences")
	}
}

// behind returns the sequences that begin at a position or behind it, with what is in front of the
// first one as literals.
func behind(seqs []Sequence, at int) []Sequence {
	end := 0
	for i, s := range seqs {
		if begin := end + int(s.LitLen); begin >= at {
			seqs = slices.Clone(seqs[i:])
			seqs[0].LitLen = uint32(begin - at)
			return seqs
		}
		end += int(s.LitLen + s.MatchLen)
	}
	return nil
}
