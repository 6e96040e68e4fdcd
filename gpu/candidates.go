package gpu

import "sync"

// candidateMemory holds memory for Request.Candidates between requests. A device takes it when it
// has results, and a worker returns it after parsing them. So the memory depends on the blocks that
// wait for a worker, not on all blocks in flight.
var candidateMemory sync.Pool

// NewCandidates returns n candidates, never nil, with any content. The device stores them in
// Request.Candidates.
func NewCandidates(n int) []uint32 {
	if p, ok := candidateMemory.Get().(*[]uint32); ok && cap(*p) >= n {
		return (*p)[:n]
	}
	return make([]uint32, n)
}

// FreeCandidates makes the memory of the request's candidates available to NewCandidates and sets
// them to nil. The caller has parsed them.
func (r *Request) FreeCandidates() {
	if c := r.Candidates; cap(c) > 0 {
		candidateMemory.Put(&c)
	}
	r.Candidates = nil
}
