package suffix

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// check compares the order with its definition: all positions occur once, and each suffix is less
// than the next.
func check(t *testing.T, text []byte) {
	t.Helper()
	sa := make([]int32, len(text))
	scratch := make([]int32, Scratch(len(text)))
	for i := range sa {
		sa[i] = -7 // earlier content makes no difference
	}
	for i := range scratch {
		scratch[i] = 1 << 30
	}
	Sort(sa, text, scratch, nil)
	seen := make([]bool, len(text))
	for i, p := range sa {
		if p < 0 || int(p) >= len(text) || seen[p] {
			t.Fatalf("%d bytes, entry %d: %d is no position, or occurs twice",
				len(text), i, p)
		}
		seen[p] = true
		if i > 0 && bytes.Compare(text[sa[i-1]:], text[p:]) >= 0 {
			t.Fatalf("%d bytes, entry %d: suffix %d is not less than %d", len(text), i, sa[i-1], p)
		}
	}
}

func TestSort(t *testing.T) {
	size := 20_000
	if testing.Short() {
		size = 4000
	}
	for _, k := range corpus.Kinds() {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 16, 255, 256, 1000, size} {
			check(t, k.Make(n))
		}
	}
	fib, last := []byte("b"), []byte("a")
	for len(fib) < size/4 {
		fib, last = append(bytes.Clone(fib), last...), fib
	}
	for _, text := range []string{
		"\x00\x00\x00\x00", "\xff\xff\x00", "mississippi", "banana", "abracadabra",
		"abababab", "babababa", "\x00\xff\x00\xff\x00",
	} {
		for _, times := range []int{1, 2, 3, 500} {
			check(t, bytes.Repeat([]byte(text), times))
			check(t, append(bytes.Repeat([]byte(text), times), 'a'))
		}
	}
	check(t, fib)
	slices.Reverse(fib)
	check(t, fib)
}

// TestSortAll sorts all short texts over small alphabets.
func TestSortAll(t *testing.T) {
	for _, kinds := range []int{2, 3, 4} {
		most := map[int]int{2: 12, 3: 8, 4: 6}[kinds]
		for n := range most + 1 {
			text := make([]byte, n)
			for {
				check(t, text)
				i := 0
				for ; i < n; i++ {
					text[i]++
					if int(text[i]) < kinds {
						break
					}
					text[i] = 0
				}
				if i == n {
					break
				}
			}
		}
	}
}

func TestSortAllocates(t *testing.T) {
	text := corpus.ByName("text").Make(10_000)
	sa, scratch := make([]int32, len(text)), make([]int32, Scratch(len(text)))
	if n := testing.AllocsPerRun(3, func() { Sort(sa, text, scratch, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSort(f *testing.F) {
	f.Add([]byte("mississippi"))
	f.Add(make([]byte, 300))
	f.Add(corpus.ByName("records").Make(2000))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) <= 1<<14 {
			check(t, text)
		}
	})
}

func BenchmarkSort(b *testing.B) {
	for _, name := range []string{"text", "records", "random", "zeros"} {
		b.Run(name, func(b *testing.B) {
			text := corpus.ByName(name).Make(1 << 22)
			sa, scratch := make([]int32, len(text)), make([]int32, Scratch(len(text)))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Sort(sa, text, scratch, nil)
			}
		})
	}
}
