package lz77

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestClasses: where there are fewer classes than lengths, lengths ascend with them, the short ones and the last one have classes of their own, and nothing else is said of
// a length than that it is in its class.
func TestClasses(t *testing.T) {
	for _, least := range []int{3, 4, 8} {
		for _, nice := range []int{least + 1, 40, least + maxClasses - 1, least + maxClasses, 256, PricedLengths - 1} {
			for _, size := range []int{16, 1 << 20, 1 << 26, 1<<26 + 1, 1<<27 + 5, 1 << 30} {
				in := lcpIntervals{nice: nice, minMatch: least}
				in.classify(size)
				most := 1<<(32-in.numberBits) - 1
				if size > 1<<in.numberBits || most > maxClasses || size <= 1<<26 && most < maxClasses {
					t.Fatalf("%d bytes: %d bits for numbers", size, in.numberBits)
				}
				last := 0
				for n, class := range in.classes[:nice+1] {
					c := int(class)
					switch {
					case n < least:
						if c != 0 {
							t.Fatalf("least %d, nice %d: class %d of %d", least, nice, c, n)
						}
						continue
					case c != last && (c <= last || in.lengths[c] != n), c > most, c == 0:
						t.Fatalf("least %d, nice %d, %d bytes: class %d of length %d behind %d, lengths from %d on", least, nice, size, c, n, last, in.lengths[c])
					case c == last && (c < int(in.firstWide) || n == nice && most > 1):
						t.Fatalf("least %d, nice %d, %d bytes: class %d has several lengths", least, nice, size, c)
					}
					last = c
				}
				if nice-least < most && last != nice-least+1 {
					t.Errorf("least %d, nice %d, %d bytes: %d classes", least, nice, size, last)
				}
			}
		}
	}
}

// TestIntervalsOfClasses compares candidates with the definition where classes have several lengths: the nearest match of each class there is a longer one of than of all nearer ones.
// Some positions are not entered at all.
func TestIntervalsOfClasses(t *testing.T) {
	const nice = PricedLengths - 1
	size := 3000
	if small() {
		size = 1500
	}
	l := Limits{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1}
	several := 0
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		// Long matches of all lengths.
		r := rand.New(rand.NewPCG(1, 2))
		for len(src) < 2*size {
			n := r.IntN(400)
			at := r.IntN(len(src) - n)
			src = append(append(src, src[at:at+n]...), byte(r.Uint32()))
		}
		src = src[:len(src):len(src)]
		var in lcpIntervals
		in.reset(&Params{Nice: nice}, &l, src, 0)
		entered := make([]bool, len(src))
		for i := range len(src) - tail {
			switch r.IntN(16) {
			case 0:
				continue
			case 1:
				in.insertFull(i)
				entered[i] = true
				continue
			}
			var want []candidate
			last := uint8(0)
			for d := 1; d <= i && last < in.classes[nice]; d++ {
				if !entered[i-d] || src[i] != src[i-d] {
					continue
				}
				if n := equalBytes(src, i, d, nice); in.classes[n] > last {
					last = in.classes[n]
					want = append(want, newCandidate(n, d, genericModel{}))
					if last >= uint8(in.firstWide) {
						several++
					}
				}
			}
			entered[i] = true
			if got := in.find(nil, src, i, genericModel{}); !slices.Equal(got, want) {
				t.Fatalf("%s at %d: have %v, want %v", k.Name, i, got, want)
			}
		}
	}
	if several < size {
		t.Errorf("only %d long matches", several)
	}
}

// TestEntered: behind positions that went the beginnings of their ways only, candidates are matches within reach, as long as they say, and longer the farther away. The last one is as long as there is any
// if the window is the block, and hardly ever shorter if not.
func TestEntered(t *testing.T) {
	size := 20_000
	if small() {
		size = 5000
	}
	for _, l := range []Limits{{MinMatch: 4, MaxOffset: 1 << 26, MinOffset: 1}, {MinMatch: 4, MaxOffset: 1 << 10, MinOffset: 1}, {MinMatch: 4, MaxOffset: 1 << 26, MinOffset: MinOffset}} {
		for _, nice := range []int{64, PricedLengths - 1} {
			testEntered(t, size, nice, &l)
		}
	}
}

func testEntered(t *testing.T, size, nice int, l *Limits) {
	found, farther, shorter := 0, 0, 0 // positions with candidates; those of which the shortest, and the longest, is not what it could be
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		r := rand.New(rand.NewPCG(3, 4))
		var in, whole lcpIntervals
		in.reset(&Params{Nice: nice}, l, src, 0)
		whole.reset(&Params{Nice: nice}, l, src, 0)
		for i := 0; i < len(src)-tail; i++ {
			if r.IntN(8) == 0 {
				n := min(1+r.IntN(3*prefetchAhead), len(src)-tail-i)
				in.insertRange(i, i+n)
				for range n {
					whole.insertFull(i)
					i++
				}
				continue
			}
			got, all := in.find(nil, src, i, genericModel{}), whole.find(nil, src, i, genericModel{})
			length, offset := 0, 0
			for _, c := range got {
				if c.length() <= length || c.offset() <= offset || c.offset() < l.MinOffset || c.offset() > l.MaxOffset || equalBytes(src, i, c.offset(), nice) != c.length() {
					t.Fatalf("%s at %d, nice %d, %+v: candidate of %d bytes at offset %d behind %d at %d; %d are equal", k.Name, i, nice, *l, c.length(), c.offset(), length, offset, equalBytes(src, i, c.offset(), nice))
				}
				length, offset = c.length(), c.offset()
			}
			if len(all) == 0 {
				continue
			}
			found++
			if length < all[len(all)-1].length() {
				shorter++
			}
			if len(got) == 0 || got[0].offset() > all[0].offset() {
				farther++
			}
		}
	}
	if l.MaxOffset < size && shorter > found/500 || l.MaxOffset >= size && l.MinOffset == 1 && shorter > 0 {
		t.Errorf("nice %d, %+v: at %d of %d positions the longest candidate is shorter than it could be", nice, *l, shorter, found)
	}
	if farther == 0 || farther > found/50 {
		t.Errorf("nice %d, %+v: at %d of %d positions the shortest candidate is farther than it could be", nice, *l, farther, found)
	}
}

// TestIntervalsAgain: what a Matcher did before makes no difference.
func TestIntervalsAgain(t *testing.T) {
	var used Matcher
	for _, n := range []int{20_000, 300, 9000, 40} {
		for _, name := range []string{"text", "zeros", "records"} {
			src := corpus.ByName(name).Make(n)
			var fresh Matcher
			want := fresh.ParseFrom(nil, src, n/4, &Levels[9], testLimits[1])
			if got := used.ParseFrom(nil, src, n/4, &Levels[9], testLimits[1]); !slices.Equal(got, want) {
				t.Errorf("%s of %d bytes: other sequences", name, n)
			}
		}
	}
}
