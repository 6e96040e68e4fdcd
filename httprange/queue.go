package httprange

import (
	"context"
	"errors"
	"slices"
)

// gapSize is how many bytes between two queued ranges a request takes along: what arrives in less
// time than a request of its own takes.
const gapSize = 128 << 10

// errLeft is for segments that nobody waits for.
var errLeft = errors.New("httprange: no caller waits for this segment")

// A fetch brings consecutive segments by one request.
type fetch struct {
	r        *Reader
	first    int64      // number of the first segment
	segments []*segment // nil in place of those that the store has from elsewhere
	waiters  int        // sum over the segments that are not done
	ahead    bool       // goes on without waiters
	cancel   context.CancelCauseFunc

	buf []byte // the segment that arrives
	n   int    // bytes in it
	at  int    // its place in segments
}

func (f *fetch) endNumber() int64 { return f.first + int64(len(f.segments)) }

// A queue has the fetches that wait for their turn. The lock of the Reader guards it.
type queue struct {
	waiting []*fetch
	active  int // fetches in flight
}

// acquire returns the segments from first to end for a call that waits for them. It queues fetches
// of those that are absent. The caller holds the lock, and calls dispatch.
func (r *Reader) acquire(first, end int64) []*segment {
	segments := make([]*segment, 0, end-first)
	for n := first; n < end; n++ {
		x := r.store.segments[n]
		switch {
		case x == nil:
			x = r.request(n, false)
			r.stats.Misses++
		case x.fetch == nil:
			r.store.used.MoveToFront(x.element)
			r.stats.Hits++
		default:
			r.stats.Joined++
		}
		if x.fetch != nil {
			x.waiters++
			x.fetch.waiters++
			if x.fetch.cancel == nil {
				x.fetch.ahead = false // it is queued, and must not wait behind others now
			}
		}
		segments = append(segments, x)
	}
	return segments
}

// prefetch queues fetches of the absent segments from first to end. The caller holds the lock.
func (r *Reader) prefetch(first, end int64) {
	for n := first; n < end; n++ {
		if r.store.segments[n] == nil {
			r.request(n, true)
			r.stats.Ahead++
		}
	}
}

// request queues a fetch of one segment. The last fetch in the queue takes it, if it fits.
func (r *Reader) request(n int64, ahead bool) *segment {
	q := &r.queue
	if k := len(q.waiting); k > 0 {
		f := q.waiting[k-1]
		if f.endNumber() == n && f.ahead == ahead && int64(len(f.segments))*r.opt.segment < mostInRequest {
			x := r.store.addSegment(n, f)
			f.segments = append(f.segments, x)
			return x
		}
	}
	f := &fetch{r: r, first: n, ahead: ahead}
	x := r.store.addSegment(n, f)
	f.segments = []*segment{x}
	q.waiting = append(q.waiting, f)
	return x
}

// dispatch starts queued fetches, as many as may be in flight. Reading ahead leaves one for calls.
// The caller holds the lock.
func (r *Reader) dispatch() {
	q := &r.queue
	if r.ctx.Err() != nil {
		r.dropQueue()
	}
	for q.active < r.opt.requests && len(q.waiting) > 0 {
		at := slices.IndexFunc(q.waiting, func(f *fetch) bool { return !f.ahead })
		if at < 0 {
			at = 0
			if q.active > 0 && q.active >= r.opt.requests-1 {
				return
			}
		}
		f := q.waiting[at]
		q.waiting = slices.Delete(q.waiting, at, at+1)
		for r.merge(f) {
			r.stats.Merged++
		}
		var ctx context.Context
		ctx, f.cancel = context.WithCancelCause(r.ctx)
		q.active++
		r.wg.Go(func() { f.run(ctx) })
	}
}

// merge moves the segments of a queued fetch to f, if they lie near, with those between them. It
// reports false if there is none.
func (r *Reader) merge(f *fetch) bool {
	q := &r.queue
	for i, g := range q.waiting {
		first, end := min(f.first, g.first), max(f.endNumber(), g.endNumber())
		gap := max(g.first-f.endNumber(), f.first-g.endNumber())
		if gap*r.opt.segment > gapSize || (end-first)*r.opt.segment > mostInRequest {
			continue
		}
		if g.ahead && !f.ahead && g.first < f.first {
			continue // a call would wait for what lies in front
		}
		all := make([]*segment, end-first)
		for _, h := range []*fetch{f, g} {
			for k, x := range h.segments {
				if x != nil {
					all[h.first-first+int64(k)], x.fetch = x, f
				}
			}
		}
		for k := range all {
			if n := first + int64(k); all[k] == nil && r.store.segments[n] == nil {
				all[k] = r.store.addSegment(n, f)
			}
		}
		f.first, f.segments = first, all
		f.waiters += g.waiters
		f.ahead = f.ahead && g.ahead
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return true
	}
	return false
}

// run fetches the segments.
func (f *fetch) run(ctx context.Context) {
	r := f.r
	size := r.opt.segment
	err := r.download(ctx, f.first*size, min(f.endNumber()*size, r.version.size), f)
	f.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	f.fail(err)
	r.queue.active--
	r.dispatch()
}

// buffer returns memory for the next bytes of the segment that arrives.
func (f *fetch) buffer() []byte {
	if f.buf == nil {
		from := (f.first + int64(f.at)) * f.r.opt.segment
		f.buf, f.n = make([]byte, min(f.r.opt.segment, f.r.version.size-from)), 0
	}
	return f.buf[f.n:]
}

// filled counts n bytes of the buffer, and passes on a segment that is complete.
func (f *fetch) filled(n int) {
	if f.n += n; f.n < len(f.buf) {
		return
	}
	r := f.r
	r.mu.Lock()
	defer r.mu.Unlock()
	x := f.segments[f.at]
	if x == nil || x.fetch != f {
		f.n = 0 // the buffer serves again
		f.at++
		if f.at == len(f.segments)-1 {
			f.buf = nil // the last segment may be shorter
		}
		return
	}
	f.waiters -= x.waiters
	r.stats.Evicted += r.store.complete(x, f.buf)
	f.at++
	f.buf = nil
}

// fail tells all callers that wait for the segments which are not done. The caller holds the lock.
func (f *fetch) fail(err error) {
	for _, x := range f.segments {
		if x != nil && x.fetch == f {
			f.r.store.fail(x, err)
		}
	}
}

// leaveSegments takes a call back that has waited for the segments. Fetches that no call waits for
// end.
func (r *Reader) leaveSegments(segments []*segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range segments {
		f := x.fetch
		if f == nil {
			continue
		}
		x.waiters--
		f.waiters--
		if f.waiters > 0 || f.ahead {
			continue
		}
		if f.cancel != nil {
			f.cancel(errLeft)
		} else {
			r.queue.waiting = slices.DeleteFunc(r.queue.waiting, func(g *fetch) bool { return g == f })
		}
		f.fail(errLeft)
	}
}

// cancelQueue ends the fetches in the queue when the context of the Reader ends.
func (r *Reader) cancelQueue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropQueue()
}

func (r *Reader) dropQueue() {
	for _, f := range r.queue.waiting {
		f.fail(context.Cause(r.ctx))
	}
	r.queue.waiting = nil
}
