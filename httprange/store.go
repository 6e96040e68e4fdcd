package httprange

import "container/list"

// A segment is a part of the file of fixed size; the last one is shorter. It is queued, in flight
// or cached. A segment that could not be fetched is forgotten, and only its waiters see the error.
type segment struct {
	number  int64
	done    chan struct{} // closed when data or err is set
	data    []byte
	err     error
	fetch   *fetch        // that brings it; nil once it is done
	waiters int           // calls that wait for it
	element *list.Element // in store.used; nil while it is not cached
}

// A store has the segments that are queued, in flight or cached. The lock of the Reader guards it.
type store struct {
	segments map[int64]*segment
	used     *list.List // cached segments, the one that was used last in front
	bytes    int64      // of the cached segments
	limit    int64      // of bytes
}

func newStore(limit int64) store {
	return store{segments: map[int64]*segment{}, used: list.New(), limit: limit}
}

// addSegment makes a segment that f will bring.
func (s *store) addSegment(number int64, f *fetch) *segment {
	x := &segment{number: number, done: make(chan struct{}), fetch: f}
	s.segments[number] = x
	return x
}

// complete puts the data of a segment into the cache. It returns how many segments had to go.
func (s *store) complete(x *segment, data []byte) (evicted int64) {
	x.data, x.fetch = data, nil
	close(x.done)
	x.element = s.used.PushFront(x)
	s.bytes += int64(len(data))
	for s.bytes > s.limit && s.used.Len() > 1 {
		old := s.used.Remove(s.used.Back()).(*segment)
		s.bytes -= int64(len(old.data))
		delete(s.segments, old.number)
		evicted++
	}
	return evicted
}

// fail tells the waiters of a segment that it will not come.
func (s *store) fail(x *segment, err error) {
	x.err, x.fetch = err, nil
	close(x.done)
	delete(s.segments, x.number)
}

// place caches the segments that lie in data as a whole. first is the offset of data in the file.
func (r *Reader) place(first int64, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := r.opt.segment
	for n := r.segmentsTo(first); ; n++ {
		from, to := n*size-first, min((n+1)*size, r.version.size)-first
		if from >= to || to > int64(len(data)) {
			return
		}
		if r.store.segments[n] == nil {
			// A copy, so that a cached segment does not keep the memory of its neighbours.
			part := append([]byte(nil), data[from:to]...)
			r.stats.Evicted += r.store.complete(r.store.addSegment(n, nil), part)
		}
	}
}
