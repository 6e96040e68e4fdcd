package httprange

// A sequence is a series of calls of which each begins where the one before ends, or up to a
// segment behind that.
type sequence struct {
	next   int64 // offset where the last call ends
	ahead  int64 // offset to which segments have been asked for
	window int64 // bytes to read ahead; 0 until the sequence has ownCalls
	calls  int
	used   int64 // number of the last call
}

// ownCalls is the number of calls from which on a sequence reads ahead.
const ownCalls = 3

// idleCalls is the number of calls elsewhere after which a sequence does not count as running.
const idleCalls = 64

// sequences has the latest ones. Several goroutines may read at different places.
type sequences struct {
	latest [8]sequence
	calls  int64
}

// find returns the sequence that a call at off goes on with, or else a new one.
func (s *sequences) find(off, reach int64) *sequence {
	s.calls++
	oldest := &s.latest[0]
	for i := range s.latest {
		x := &s.latest[i]
		if x.calls > 0 && x.next <= off && off <= x.next+reach {
			x.used = s.calls
			return x
		}
		if x.used < oldest.used {
			oldest = x
		}
	}
	*oldest = sequence{next: off, used: s.calls}
	return oldest
}

// running returns the number of sequences that read ahead.
func (s *sequences) running() (n int64) {
	for i := range s.latest {
		if x := &s.latest[i]; x.calls >= ownCalls && s.calls-x.used < idleCalls {
			n++
		}
	}
	return n
}

// readAhead notes a call for the bytes from off to end. If it goes on with a sequence, readAhead
// asks for what follows: it queues that for the next dispatch. The window doubles each time that
// half of it has been read.
func (r *Reader) readAhead(off, end int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sequences.find(off, r.opt.segment)
	s.next = end
	s.calls++
	if s.calls < ownCalls || s.ahead > end+s.window/2 {
		return
	}
	// What is read ahead must not leave the cache before it is used.
	most := min(r.opt.readAhead, r.opt.cache/2/r.sequences.running())
	if most < r.opt.segment {
		return
	}
	s.window = min(max(2*s.window, 2*r.opt.segment, end-off), most)
	from := max(s.ahead, end)
	s.ahead = min(end+s.window, r.version.size)
	r.prefetch(r.segmentsTo(from), r.segmentsTo(s.ahead))
}
