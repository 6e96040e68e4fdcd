package optimal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// TestClasses: lengths ascend with their classes. Short lengths and nice have classes of their own
// if there are fewer classes than lengths.
func TestClasses(t *testing.T) {
	for _, least := range []int{3, 4, 8} {
		lengths := []int{least + 1, 40, least + maxClasses - 1, least + maxClasses, 256, PricedLengths - 1}
		for _, nice := range lengths {
			for _, size := range []int{16, 1 << 20, 1 << 26, 1<<26 + 1, 1<<27 + 5, 1 << 30} {
				testClasses(t, least, nice, size)
			}
		}
	}
}

func testClasses(t *testing.T, least, nice, size int) {
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
				t.Fatalf("least %d, nice %d: length %d has class %d, want 0", least, nice, n, c)
			}
			continue
		case c != last && (c <= last || in.lengths[c] != n), c > most, c == 0:
			t.Fatalf("least %d, nice %d, %d bytes: length %d has class %d behind %d; lengths from %d",
				least, nice, size, n, c, last, in.lengths[c])
		case c == last && (c < int(in.firstWide) || n == nice && most > 1):
			t.Fatalf("least %d, nice %d, %d bytes: class %d has several lengths", least, nice, size, c)
		}
		last = c
	}
	if nice-least < most && last != nice-least+1 {
		t.Errorf("least %d, nice %d, %d bytes: %d classes, want one for each length",
			least, nice, size, last)
	}
}

// TestWideClasses compares candidates with the definition where classes have several lengths: the
// nearest match of each class that no nearer match has. Some positions are not inserted at all.
func TestWideClasses(t *testing.T) {
	testenv.Slow(t)
	const nice = PricedLengths - 1
	size := 3000
	if small() {
		size = 1500
	}
	c := config{
		Params: Params{Nice: nice}, MinNew: 4, MaxOffset: 1 << 26, MinOffset: 1, Model: genericModel{},
	}
	wide := 0
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		r := rand.New(rand.NewPCG(1, 2))
		for len(src) < 2*size { // long matches of all lengths
			n := r.IntN(400)
			at := r.IntN(len(src) - n)
			src = append(append(src, src[at:at+n]...), byte(r.Uint32()))
		}
		src = src[:len(src):len(src)]
		var in lcpIntervals
		in.reset(&c, src, 0, func() {})
		inserted := make([]bool, len(src))
		for i := range len(src) - finder.Tail {
			switch r.IntN(16) {
			case 0:
				continue
			case 1:
				in.insertFull(i)
				inserted[i] = true
				continue
			}
			var want []candidate
			last := uint8(0)
			for d := 1; d <= i && last < in.classes[nice]; d++ {
				if !inserted[i-d] || src[i] != src[i-d] {
					continue
				}
				if n := equalBytes(src, i, d, nice); in.classes[n] > last {
					last = in.classes[n]
					want = append(want, newCandidate(n, d, genericModel{}))
					if last >= uint8(in.firstWide) {
						wide++
					}
				}
			}
			inserted[i] = true
			if got := in.find(nil, src, i, genericModel{}); !slices.Equal(got, want) {
				t.Fatalf("%s at %d: got %v, want %v", k.Name, i, got, want)
			}
		}
	}
	if wide < size {
		t.Errorf("only %d candidates in wide classes", wide)
	}
}

// TestInsertRange: behind positions inserted with maxInsertSteps, candidates are true matches
// within reach, longer the farther away. The last one is as long as any if the window is the block,
// and hardly ever shorter if not.
func TestInsertRange(t *testing.T) {
	size := 20_000
	if small() {
		size = 5000
	}
	for _, c := range []config{
		{MinNew: 4, MaxOffset: 1 << 26, MinOffset: 1},
		{MinNew: 4, MaxOffset: 1 << 10, MinOffset: 1},
		{MinNew: 4, MaxOffset: 1 << 26, MinOffset: lz77.MinOffset},
	} {
		for _, nice := range []int{64, PricedLengths - 1} {
			c.Nice, c.Model = nice, genericModel{}
			testInsertRange(t, size, &c)
		}
	}
}

func testInsertRange(t *testing.T, size int, c *config) {
	// Positions with candidates, and those of which the shortest or the longest could be better.
	found, farther, shorter := 0, 0, 0
	for _, k := range corpus.Kinds() {
		src := k.Make(size)
		r := rand.New(rand.NewPCG(3, 4))
		var in, full lcpIntervals
		in.reset(c, src, 0, func() {})
		full.reset(c, src, 0, func() {})
		for i := 0; i < len(src)-finder.Tail; i++ {
			if r.IntN(8) == 0 {
				n := min(1+r.IntN(3*prefetchAhead), len(src)-finder.Tail-i)
				in.insertRange(i, i+n)
				for range n {
					full.insertFull(i)
					i++
				}
				continue
			}
			got, all := in.find(nil, src, i, genericModel{}), full.find(nil, src, i, genericModel{})
			length, offset := 0, 0
			for _, x := range got {
				n, d := x.length(), x.offset()
				equal := equalBytes(src, i, d, c.Nice)
				if n <= length || d <= offset || d < c.MinOffset || d > c.MaxOffset || n != equal {
					t.Fatalf("%s at %d, %+v: candidate (%d, %d) behind (%d, %d), want length %d",
						k.Name, i, *c, n, d, length, offset, equal)
				}
				length, offset = n, d
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
	if c.MaxOffset < size && shorter > found/500 || c.MaxOffset >= size && c.MinOffset == 1 && shorter > 0 {
		t.Errorf("%+v: at %d of %d positions the longest candidate is too short", *c, shorter, found)
	}
	if farther == 0 || farther > found/50 {
		t.Errorf("%+v: at %d of %d positions the shortest candidate is too far", *c, farther, found)
	}
}

// TestIntervalsReused: earlier blocks of a Parser make no difference.
func TestIntervalsReused(t *testing.T) {
	var used Parser
	c := atLevel(9, formats[1])
	for _, n := range []int{20_000, 300, 9000, 40} {
		for _, name := range []string{"text", "zeros", "records"} {
			src := slices.Clip(corpus.ByName(name).Make(n))
			want := new(Parser).parseBlock(nil, src, n/4, c, nil, nil)
			if got := used.parseBlock(nil, src, n/4, c, nil, nil); !slices.Equal(got, want) {
				t.Errorf("%s of %d bytes: other sequences", name, n)
			}
		}
	}
}
