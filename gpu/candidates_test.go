package gpu

import "testing"

// TestCandidates checks lengths, and that a request without candidates can be freed.
func TestCandidates(t *testing.T) {
	for _, n := range []int{0, 1000, 10, 0, 2000} {
		c := NewCandidates(n)
		if c == nil || len(c) != n {
			t.Errorf("NewCandidates(%d) has length %d; is nil: %v", n, len(c), c == nil)
		}
		r := &Request{Candidates: c}
		r.FreeCandidates()
		if r.Candidates != nil {
			t.Error("FreeCandidates leaves candidates in the request")
		}
		r.FreeCandidates()
	}
}
