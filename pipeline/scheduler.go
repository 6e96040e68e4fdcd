package pipeline

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopz/compress/pipeline/internal/fifo"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Scheduler is a bounded pool of workers with one queue of blocks, and the way to a device if there
// is one. It serves any number of runs at once and is safe for concurrent use. Workers take the
// blocks of all runs in the order of submission, after those that are back from the device.
//
// An idle scheduler has no goroutines and need not be closed. While a run has work, the scheduler
// keeps the scratch memory of its workers.
type Scheduler struct {
	workers int
	stats   totals
	device  atomic.Pointer[offload.Coordinator] // nil without a device

	mu       sync.Mutex
	resumed  fifo.Queue[*Block] // back from the device
	queue    fifo.Queue[*Block] // not begun
	alive    int                // goroutines: workers and helpers
	slots    []int              // numbers of goroutines that there may be in addition
	runs     int                // runs that hold a claim on scratch memory
	idle     []*worker          // without goroutine; kept while runs > 0
	payloads []*payload         // of blocks that were on the device; kept while runs > 0
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

// submit queues a new block and starts a worker for it if there may be one more. A serial block
// waits for its predecessor first.
func (s *Scheduler) submit(b *Block) {
	var w *worker
	s.mu.Lock()
	if !b.isSerial() || b.run.chain.enter(b) {
		s.queue.Push(b)
		w = s.recruit()
	}
	s.mu.Unlock()
	w.start()
}

// outcome says what became of a block.
type outcome uint8

const (
	handedOff outcome = iota // the device has it, or there was none
	resume                   // it is back from the device: a worker continues
	finished                 // it is done or has failed
)

// complete ends every piece of work, that of a worker and, with w nil, that of the device. It puts
// a block that a worker has to continue at the head of the queue, and retires one that is done. A
// worker gets its next block in the same critical section. If there is none, the worker is parked
// before the caller of the run learns that the block is done: a block submitted in its place finds
// this worker free. So there are never more workers, and workspaces, than blocks in flight.
func (s *Scheduler) complete(w *worker, b *Block, out outcome) (next *Block) {
	t := s.beginClock(w, b)
	var retired *payload
	if out == finished {
		b.setState(stateDone)
		if retired, b.payload = b.payload, nil; w != nil && w.ws.payload == nil {
			w.ws.payload, retired = retired, nil
		}
	}
	var drop *workspace
	var recruit *worker
	s.mu.Lock()
	t.locked()
	if retired != nil && s.runs > 0 {
		s.payloads = append(s.payloads, retired)
	}
	switch {
	case out == resume:
		s.resumed.Push(b)
	case out == finished && b.isSerial():
		if successor := b.run.chain.leave(); successor != nil {
			s.queue.Push(successor)
		}
	}
	if w == nil {
		if out == resume {
			recruit = s.recruit()
		}
	} else if next = s.pop(); next == nil {
		drop = s.park(w)
	} else {
		s.equip(w)
	}
	s.mu.Unlock()
	// A parked worker may be running again: w must not be used from here on.
	if drop != nil {
		spare.Put(drop)
	}
	recruit.start()
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

// pop takes the next block from the queues, or reclaims one that waits for the device. The caller
// holds s.mu.
func (s *Scheduler) pop() *Block {
	if b := s.resumed.Pop(); b != nil {
		return b
	}
	if b := s.queue.Pop(); b != nil {
		return b
	}
	if r := s.device.Load().Reclaim(); r != nil {
		b := r.Block.(*Block)
		b.reclaim()
		return b
	}
	return nil
}

// idleWorkers returns the number of workers that have nothing to do.
func (s *Scheduler) idleWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.Len() > 0 {
		return 0
	}
	return s.workers - s.alive
}

// withdraw ends the blocks of a run that wait for a worker or the device, with ErrCanceled. The run
// does not wait until the blocks of other runs before them have had their turn.
func (s *Scheduler) withdraw(r *Run) {
	cancel := func(b *Block) {
		b.Err = ErrCanceled
		b.setState(stateDone)
		b.done <- struct{}{}
	}
	s.mu.Lock()
	for range s.queue.Len() {
		if b := s.queue.Pop(); b.run == r {
			cancel(b)
		} else {
			s.queue.Push(b)
		}
	}
	for b := r.chain.waiting.Pop(); b != nil; b = r.chain.waiting.Pop() {
		cancel(b)
	}
	s.mu.Unlock()
	if r.device != nil {
		r.device.Withdraw(func(q *offload.Request) bool { return q.Block.(*Block).run == r })
	}
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
	if s.runs--; s.runs == 0 {
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
