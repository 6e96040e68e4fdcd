package pipeline

import (
	"runtime"
	"sync"
)

// Scheduler is a bounded pool of workers that pull blocks from one queue. It may serve any number of runs at once,
// from any goroutines; blocks of all runs are taken in the order in which they were submitted.
//
// An idle scheduler has no goroutines and need not be closed. While any run has work it keeps the scratch memory of its workers.
type Scheduler struct {
	workers int

	mu    sync.Mutex
	queue fifo
	alive int       // workers that run
	runs  int       // runs that are open: begun, and neither closed nor at rest
	idle  []*worker // workers that do not run, kept while runs > 0
}

// worker is a goroutine while it runs, and scratch memory when it does not.
type worker struct {
	sched *Scheduler
	ws    *workspace
	main  func() // the method work, made once: a go statement with arguments allocates
}

// MaxWorkers is the most workers that a scheduler has: far above any machine of today, and small enough to multiply by a block size.
const MaxWorkers = 1024

// NewScheduler returns a scheduler of that many workers, MaxWorkers at most; 0 or less means GOMAXPROCS.
func NewScheduler(workers int) *Scheduler {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Scheduler{workers: min(workers, MaxWorkers)}
}

// Workers is the number of blocks the scheduler works on at the same time.
func (s *Scheduler) Workers() int { return s.workers }

// submit queues a block and sees to it that a worker is there to take it.
func (s *Scheduler) submit(b *Block) {
	s.mu.Lock()
	s.queue.push(b)
	if s.alive == s.workers {
		s.mu.Unlock()
		return
	}
	s.alive++
	var w *worker
	if n := len(s.idle); n > 0 {
		w, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	s.mu.Unlock()
	if w == nil {
		w = &worker{sched: s, ws: spare.Get().(*workspace)}
		w.main = w.work
	}
	go w.main()
}

// work is the life of a worker: from the first block it takes until the queue is empty.
func (w *worker) work() {
	for b := w.retire(nil); b != nil; {
		if !b.exec(w.ws) {
			w.ws = new(workspace) // a panic may have left it in any state
		}
		b = w.retire(b)
	}
}

// retire ends a worker's block and gives it the next, in one critical section. If there is none it takes the worker off the
// books. The block's owner hears of it after that, so that a block submitted in its place finds this worker free: there are
// never more workers, and workspaces, than blocks in flight.
func (w *worker) retire(done *Block) (next *Block) {
	s := w.sched
	s.mu.Lock()
	next = s.queue.pop()
	var drop *workspace
	if next == nil {
		s.alive--
		if s.runs > 0 {
			s.idle = append(s.idle, w)
		} else {
			drop = w.ws
		}
	}
	s.mu.Unlock()
	// From here on a worker without a block may be running again: it is not to be touched.
	if drop != nil {
		spare.Put(drop)
	}
	if done != nil {
		done.done <- struct{}{} // holds one: never blocks
	}
	return next
}

// withdraw takes the blocks of a run that no worker has begun off the queue; they are done, with ErrCanceled. The run need not wait until
// those of others before them have had their turn.
func (s *Scheduler) withdraw(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.queue.size {
		if b := s.queue.pop(); b.run == r {
			b.Err = ErrCanceled
			b.done <- struct{}{}
		} else {
			s.queue.push(b)
		}
	}
}

func (s *Scheduler) open() {
	s.mu.Lock()
	s.runs++
	s.mu.Unlock()
}

// shut is called once for every open. With the last run the scratch goes where the garbage collector may have it.
func (s *Scheduler) shut() {
	var idle []*worker
	s.mu.Lock()
	if s.runs--; s.runs == 0 {
		idle, s.idle = s.idle, nil
	}
	s.mu.Unlock()
	for _, w := range idle {
		spare.Put(w.ws)
	}
}

// spare holds scratch between runs, so that many short runs (one-shot calls, ReadAt) do not allocate it anew each time.
var spare = sync.Pool{New: func() any { return new(workspace) }}

// fifo is a queue of blocks in a ring that grows.
type fifo struct {
	ring []*Block
	head int
	size int
}

func (q *fifo) push(b *Block) {
	if q.size == len(q.ring) {
		ring := make([]*Block, max(16, 2*q.size))
		n := copy(ring, q.ring[q.head:])
		copy(ring[n:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.size)%len(q.ring)] = b
	q.size++
}

func (q *fifo) peek() *Block {
	if q.size == 0 {
		return nil
	}
	return q.ring[q.head]
}

func (q *fifo) pop() *Block {
	b := q.peek()
	if b != nil {
		q.ring[q.head] = nil
		q.head = (q.head + 1) % len(q.ring)
		q.size--
	}
	return b
}
