package pipeline

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/pipeline/internal/fifo"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Scheduler is a bounded pool of workers, the queues of all runs under one lock, and the way to a
// device if there is one. It serves any number of runs at once and is safe for concurrent use.
// Workers take the blocks of one run in the order of submission. Blocks that have begun come first:
// paused ones, then those that are back from the device. Runs share the workers' time equally; see
// turns.go.
//
// An idle scheduler has no goroutines and need not be closed. While a run has work, the scheduler
// keeps the scratch memory of its workers.
type Scheduler struct {
	workers int
	stats   totals
	device  atomic.Pointer[offload.Coordinator] // nil without a device

	waiting atomic.Int32 // length of ring

	mu       mutex
	ring     fifo.Queue[*share] // of runs with work that waits, in turn
	alive    int                // goroutines at work: workers and helpers
	slots    []int              // free numbers of goroutines: workers that may still start
	runs     int                // runs that hold a claim on scratch memory
	idle     []*worker          // without goroutine; kept while runs > 0
	payloads []*payload         // of blocks that were on the device; kept while runs > 0
}

// mutex counts its critical sections. A piece of work may cost one; a test asserts that.
type mutex struct {
	sync.Mutex
	rounds int64
}

func (m *mutex) Lock() {
	m.Mutex.Lock()
	m.rounds++
}

// MaxWorkers bounds the workers of a scheduler. It is far above the processors of any machine, and
// small enough to be multiplied by a block size.
const MaxWorkers = 1024

// NewScheduler returns a scheduler of that many workers, MaxWorkers at most. 0 or less means
// GOMAXPROCS.
func NewScheduler(workers int) *Scheduler {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s := &Scheduler{workers: min(workers, MaxWorkers)}
	for i := s.workers - 1; i >= 0; i-- {
		s.slots = append(s.slots, i)
	}
	return s
}

// Workers returns the number of blocks that the scheduler works on at once, without those on a
// device.
func (s *Scheduler) Workers() int { return s.workers }

// submit queues a new block and starts a worker for it if there may be one more.
func (s *Scheduler) submit(b *Block) {
	s.mu.Lock()
	b.run.share.queue.Push(b)
	s.enqueue(b.run.share)
	w := s.recruit()
	s.mu.Unlock()
	w.start()
}

// outcome says what became of a block.
type outcome uint8

const (
	handedOff outcome = iota // the device has it, or there was none
	chained                  // it waits in the chain of its run
	resume                   // it is back from the device: a worker continues
	finished                 // it is done or has failed
)

// complete ends every piece of work, that of a worker and, with w nil, that of the device. It queues
// a block that a worker has to continue, and retires one that is done. A worker gets its next block
// in the same critical section, or passes its place on to a worker that has paused. If there is
// neither, the worker is parked before the caller of the run learns that the block is done: a block
// submitted in its place finds this worker free. So there are never more workers, and workspaces,
// than blocks in flight.
func (s *Scheduler) complete(w *worker, b *Block, out outcome) (next *Block) {
	t := s.beginClock(w, b)
	var retired *payload
	if out == finished {
		b.setState(stateDone)
		retired, b.payload = b.payload, nil
		if w != nil && w.ws.payload == nil {
			w.ws.payload, retired = retired, nil
		}
	}
	var drop *workspace
	var recruit, paused *worker
	s.mu.Lock()
	t.locked()
	if retired != nil && s.runs > 0 {
		s.payloads = append(s.payloads, retired)
	}
	queued := out == resume
	switch {
	case out == resume:
		b.run.share.resumed.Push(b)
		s.enqueue(b.run.share)
	case out == finished && b.isSerial() && !b.passed:
		queued = s.queueNext(b)
	}
	if w != nil {
		next, paused, drop = s.nextFor(w, b, t.now)
	} else if queued {
		recruit = s.recruit()
	}
	s.mu.Unlock()
	// A parked worker may be running again: w must not be used from here on.
	if drop != nil {
		spare.Put(drop)
	}
	recruit.start()
	if paused != nil {
		paused.resume <- struct{}{} // holds one: never blocks
	}
	switch {
	case out == finished && w != nil:
		t.charge(b.run)
	case next != nil:
		t.charge(next.run)
	}
	if out == finished {
		b.done <- struct{}{} // holds one: never blocks
	}
	return next
}

// nextFor charges w for block b, if it had one, and gives it the next. Without one w is parked, and
// a worker that has paused gets its place. The caller holds s.mu.
func (s *Scheduler) nextFor(w *worker, b *Block, now time.Time) (
	next *Block, paused *worker, drop *workspace,
) {
	if b != nil {
		s.charge(w, now)
	}
	w.since = now
	if w.slot == noSlot { // its place has another worker
		return nil, nil, s.park(w)
	}
	next, paused = s.pop()
	if next != nil {
		s.equip(w)
		return next, nil, nil
	}
	if paused != nil {
		paused.slot = w.slot
	} else {
		s.leave(w.slot)
	}
	return nil, paused, s.park(w)
}

// idleWorkers returns the number of workers that have nothing to do.
func (s *Scheduler) idleWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring.Len() > 0 {
		return 0
	}
	return s.workers - s.alive
}

// withdraw ends the blocks of a run that wait for a worker or the device, with ErrCanceled. Its
// workers that have paused continue at once, to stop. So the run does not wait for its turn.
func (s *Scheduler) withdraw(r *Run) {
	h := r.share
	s.mu.Lock()
	for _, q := range [...]*fifo.Queue[*Block]{&h.resumed, &h.queue} {
		for b := q.Pop(); b != nil; b = q.Pop() {
			b.cancel()
		}
	}
	for _, b := range r.chain.waiting {
		if b != nil {
			b.cancel()
		}
	}
	clear(r.chain.waiting)
	for w := h.paused.Pop(); w != nil; w = h.paused.Pop() {
		w.slot = noSlot
		w.resume <- struct{}{}
	}
	s.dequeue(h)
	s.mu.Unlock()
	if r.device != nil {
		r.device.Withdraw(func(block any) bool { return block.(*Block).run == r })
	}
}

// cancel ends a block that waits.
func (b *Block) cancel() {
	b.Err, b.payload = ErrCanceled, nil
	b.setState(stateDone)
	b.done <- struct{}{}
}

// acquire keeps the scratch memory of the workers for a run.
func (s *Scheduler) acquire() {
	s.mu.Lock()
	s.runs++
	s.mu.Unlock()
}

// release is called once for every acquire. With the last run the scratch memory moves to where the
// garbage collector may free it.
func (s *Scheduler) release() {
	var idle []*worker
	s.mu.Lock()
	s.runs--
	if s.runs == 0 {
		idle, s.idle, s.payloads = s.idle, nil, nil
	}
	s.mu.Unlock()
	for _, w := range idle {
		spare.Put(w.ws)
	}
}

// spare holds workspaces between runs, so that many short runs, such as one-shot calls and reads of
// ReaderAt, do not allocate them each time.
var spare = sync.Pool{New: func() any { return new(workspace) }}
