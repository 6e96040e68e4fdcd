package x86

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// spans returns the ranges chosen for p.
func spans(t *testing.T, c *Chooser, p []byte) (list []span) {
	t.Helper()
	ranges := c.Choose(p)
	if ranges == nil {
		return nil
	}
	got, rest, err := Ranges(ranges, len(p))
	if err != nil || len(rest) != 0 || !bytes.Equal(got, ranges) {
		t.Fatalf("ranges % x are invalid, or %d bytes too long: %v", ranges, len(rest), err)
	}
	return slices.Clone(c.list)
}

// TestChoice checks that code is filtered and nothing else.
func TestChoice(t *testing.T) {
	var c Chooser
	for _, k := range corpus.Kinds() {
		for _, n := range []int{0, 100, 1000, 10_000, 100_000, 1 << 20} {
			if k.Name == "mixed" && n > 10_000 {
				continue // mixed data contains code
			}
			var want []span
			if k.Name == "exe" && n >= 10_000 {
				want = []span{{0, n}}
			}
			if got := spans(t, &c, k.Make(n)); !slices.Equal(got, want) {
				t.Errorf("%d bytes of %s: %v", n, k.Name, got)
			}
		}
	}
	// In filtered content the targets repeat as displacements.
	p := corpus.ByName("exe").Make(100_000)
	encode(p, nil)
	if c.Choose(p) != nil {
		t.Errorf("filtered content has ranges: %v", c.list)
	}
	// unresolved calls, as in object files
	p = bytes.Repeat([]byte{0xe8, 0, 0, 0, 0, 0x90, 0xe9, 0xfc, 0xff, 0xff, 0xff, 0x90}, 10_000)
	if c.Choose(p) != nil {
		t.Errorf("equal displacements have ranges: %v", c.list)
	}
}

// TestChoiceBounds checks the minimum gain.
func TestChoiceBounds(t *testing.T) {
	// calls returns n calls of one function and m of as many others.
	calls := func(n, m int) []byte {
		var p []byte
		for i := range n + m {
			target := 1 << 20
			if i >= n {
				target += i * 1001
			}
			p = append(p, 0xe8)
			p = binary.LittleEndian.AppendUint32(p, uint32(target-len(p)-4))
			p = append(p, make([]byte, i%7)...)
		}
		return p
	}
	var c Chooser
	for _, k := range []struct {
		n, m int
		want bool
	}{
		{minGain + unitCost + 1 + 2, 0, true}, {minGain + unitCost + 1, 0, false},
		{1, 10_000, false}, {140, 1500, true}, {120, 1500, false},
	} {
		p := calls(k.n, k.m)
		if got := c.Choose(p) != nil; got != k.want {
			t.Errorf("%d calls of one function and %d of others in %d bytes: %v",
				k.n, k.m, len(p), got)
		}
	}
}

// TestChoiceParts checks that the ranges of mixed data cover the code to within a unit.
func TestChoiceParts(t *testing.T) {
	code := corpus.ByName("exe").Make(200_000)
	table := bytes.Repeat([]byte{0xe8, 3, 0, 0, 0, 0xe9, 3, 0, 0, 0}, 30_000)
	var c Chooser
	p := slices.Concat(corpus.ByName("text").Make(300_000), code, table,
		corpus.ByName("random").Make(300_000), code)
	want := []span{{300_000, 500_000}, {1_100_000, 1_300_000}}
	got := spans(t, &c, p)
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i, s := range got {
		w := want[i]
		if max(s.begin-w.begin, w.begin-s.begin, s.end-w.end, w.end-s.end) > unit {
			t.Errorf("%v, want %v", s, want[i])
		}
	}
}

// TestChoiceTwice checks that copies of a program become the same bytes at any position.
func TestChoiceTwice(t *testing.T) {
	one := slices.Concat(elfMagic, corpus.ByName("text").Make(50_001),
		corpus.ByName("exe").Make(150_000), corpus.ByName("text").Make(33_000))
	p := slices.Concat(make([]byte, 512), one, make([]byte, 777), one, one)
	var c Chooser
	got := spans(t, &c, p)
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	q := bytes.Clone(p)
	Encode(q, c.ranges, nil)
	first := q[512:][:len(one)]
	if bytes.Equal(first, one) {
		t.Error("not filtered")
	}
	second, third := q[512+len(one)+777:][:len(one)], q[len(q)-len(one):]
	if !bytes.Equal(first, second) || !bytes.Equal(first, third) {
		t.Error("copies of a program differ after filtering")
	}
	// Marks in close succession must not restart the statistics.
	p = bytes.Repeat(elfMagic, 100_000)
	if got := c.Choose(p); got != nil {
		t.Errorf("%v", c.list)
	}
}

// TestMemory checks that no content has more ranges than Memory allows for.
func TestMemory(t *testing.T) {
	var c Chooser
	code := corpus.ByName("exe").Make(unit)
	p := bytes.Repeat(slices.Concat(elfMagic, code[4:]), 100)
	if got := spans(t, &c, p); len(got) != 100 {
		t.Errorf("%d ranges in %d bytes", len(got), len(p))
	}
	const most = 64 << 20 / unit
	if Memory < 2*4<<tableLog+most*(16+2*3)*5/4 {
		t.Errorf("Memory is %d", Memory)
	}
}

func TestAllocs(t *testing.T) {
	p := corpus.ByName("exe").Make(50_000)
	c := new(Chooser)
	if n := testing.AllocsPerRun(10, func() {
		ranges := c.Choose(p)
		Encode(p, ranges, nil)
		Decode(p, ranges, nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChoose(b *testing.B) {
	var c Chooser
	for _, name := range []string{"exe", "random", "text"} {
		p := corpus.ByName(name).Make(1 << 20)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for range b.N {
				c.Choose(p)
			}
		})
	}
}
