package fifo

import (
	"math/rand/v2"
	"testing"
)

// TestQueue compares the queue with a slice, through growth and wrap-around.
func TestQueue(t *testing.T) {
	var q Queue[int]
	var want []int
	if q.Pop() != 0 || q.Peek() != 0 || q.Len() != 0 {
		t.Error("an empty queue has elements")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		if r.IntN(100) < 55 {
			q.Push(i)
			want = append(want, i)
		} else if len(want) > 0 {
			if p, v := q.Peek(), q.Pop(); p != want[0] || v != want[0] {
				t.Fatalf("step %d: Peek %d, Pop %d, want %d", i, p, v, want[0])
			}
			want = want[1:]
		}
		if q.Len() != len(want) {
			t.Fatalf("step %d: length %d, want %d", i, q.Len(), len(want))
		}
	}
}
