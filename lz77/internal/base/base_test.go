package base

import "testing"

func TestLeastMultiple(t *testing.T) {
	for n := 1; n < len(LeastMultiple); n++ {
		want := n
		for want < MinOffset {
			want += n
		}
		if int(LeastMultiple[n]) != want {
			t.Errorf("LeastMultiple[%d] = %d, want %d", n, LeastMultiple[n], want)
		}
	}
}
