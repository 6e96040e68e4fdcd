package finder

import (
	"math/rand/v2"
	"testing"
)

func TestLeastMultiple(t *testing.T) {
	for n := 1; n < len(LeastMultiple); n++ {
		want := n
		for want < len(LeastMultiple) {
			want += n
		}
		if int(LeastMultiple[n]) != want {
			t.Errorf("LeastMultiple[%d] = %d, want %d", n, LeastMultiple[n], want)
		}
	}
}

// TestMatchEnds compares Extend, EqualBefore and EqualBefore8 with loops over bytes.
func TestMatchEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	src := make([]byte, 300)
	for range 20_000 {
		for i := range src {
			src[i] = 'a'
		}
		for range r.IntN(6) {
			src[r.IntN(len(src))] = 'b'
		}
		i := 1 + r.IntN(len(src)-1)
		c := r.IntN(i)
		n := 0
		for i+n < len(src) && src[c+n] == src[i+n] {
			n++
		}
		if got := Extend(src, c, i, 0); got != n {
			t.Fatalf("Extend(%d, %d) = %d, want %d", c, i, got, n)
		}
		most := r.IntN(i + 1)
		k := 0
		for k < min(most, c) && src[c-k-1] == src[i-k-1] {
			k++
		}
		if got := EqualBefore(src, c, i, most); got != k {
			t.Fatalf("EqualBefore(%d, %d, %d) = %d, want %d", c, i, most, got, k)
		}
		if c >= 8 {
			if got := EqualBefore8(src, c, i, most); got != min(k, 8) {
				t.Fatalf("EqualBefore8(%d, %d, %d) = %d, want %d", c, i, most, got, min(k, 8))
			}
		}
	}
}
