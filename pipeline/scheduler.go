package pipeline

import (
	"runtime"
	"sync"
	"sync/atomic"

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

// idleWorkers returns the number of workers that have nothing to do.
func (s *Scheduler) idleWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring.Len() > 0 {
		return 0
	}
	return s.workers - s.alive
}

// withdrawRun ends the blocks of a run that wait for a worker or the device, with ErrCanceled. Its
// workers that have paused continue at once, to stop. So the run does not wait for its turn.
func (s *Scheduler) withdrawRun(r *Run) {
	h := r.share
	s.mu.Lock()
	for _, q := range [...]*fifo.Queue[*Block]{&h.resumed, &h.queue} {
		for b := q.Pop(); b != nil; b = q.Pop() {
			b.cancelWaiting()
		}
	}
	for _, b := range r.chain.waiting {
		if b != nil {
			b.cancelWaiting()
		}
	}
	clear(r.chain.waiting)
	for w := h.paused.Pop(); w != nil; w = h.paused.Pop() {
		w.slot = noSlot
		w.resume <- struct{}{}
	}
	s.dequeueShare(h)
	s.mu.Unlock()
	if r.device != nil {
		r.device.Withdraw(func(block any) bool { return block.(*Block).run == r })
	}
}

// cancelWaiting ends a block that waits.
func (b *Block) cancelWaiting() {
	b.Err, b.payload = ErrCanceled, nil
	b.setState(stateDone)
	b.done <- struct{}{}
}

// acquireScratch keeps the scratch memory of the workers for a run.
func (s *Scheduler) acquireScratch() {
	s.mu.Lock()
	s.runs++
	s.mu.Unlock()
}

// releaseScratch is called once for every acquireScratch. With the last run the scratch memory
// moves to where the garbage collector may free it.
func (s *Scheduler) releaseScratch() {
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
