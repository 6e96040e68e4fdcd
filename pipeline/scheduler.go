package pipeline

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopz/compress/gpu"
)

// Scheduler is a bounded pool of workers that pull blocks from one queue, and the way to a device if there is one. It may
// serve any number of runs at once, from any goroutines; blocks of all runs are taken in the order in which they were
// submitted, those that come back from the device first.
//
// An idle scheduler has no goroutines and need not be closed. While any run has work it keeps the scratch memory of its workers.
type Scheduler struct {
	workers int
	stats   totals
	device  atomic.Pointer[coordinator] // nil without a device

	mu       sync.Mutex
	resumed  fifo // blocks begun, back from the device
	queue    fifo // blocks not begun
	alive    int  // workers that run, and helpers
	slots    []int
	runs     int        // runs that are open: begun, and neither closed nor at rest
	idle     []*worker  // workers that do not run, kept while runs > 0
	payloads []*payload // of blocks that were with the device, kept while runs > 0
}

// MaxWorkers is the most workers that a scheduler has: far above any machine of today, and small enough to multiply by a block size.
const MaxWorkers = 1024

// NewScheduler returns a scheduler of that many workers, MaxWorkers at most; 0 or less means GOMAXPROCS.
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

// Workers is the number of blocks the scheduler works on at the same time, not counting those a device has.
func (s *Scheduler) Workers() int { return s.workers }

// ErrDevice: the scheduler has a device already.
var ErrDevice = errors.New("pipeline: there is a device already")

// SetDevice gives the scheduler a device, for the runs that start from then on. There can be one; it remains the caller's to close, after the
// last run that may use it. Nil is none, an ErrNoDevice.
func (s *Scheduler) SetDevice(d gpu.Device) error {
	if d == nil {
		return ErrNoDevice
	}
	if !s.device.CompareAndSwap(nil, newCoordinator(s, d)) {
		return ErrDevice
	}
	return nil
}

// Device returns the scheduler's device, nil if there is none.
func (s *Scheduler) Device() gpu.Device {
	if c := s.device.Load(); c != nil {
		return c.dev
	}
	return nil
}

// submit queues a new block and sees to it that a worker is there to take it.
func (s *Scheduler) submit(b *Block) {
	s.mu.Lock()
	s.queue.push(b)
	w := s.recruit()
	s.mu.Unlock()
	w.begin()
}

// outcome is what has become of a block.
type outcome uint8

const (
	gone  outcome = iota // it is with the device, or there was none
	again                // it is back from the device: a worker goes on
	over                 // it is done, or has failed
)

// complete is where every piece of work ends, that of a worker and, with w nil, of the device: a block with stages to go
// takes its place at the head of the queue, one that is done is retired. A worker gets its next block in the same critical
// section. If there is none it is taken off the books, before the owner of the block that is done hears of it, so
// that a block submitted in its place finds this worker free: there are never more workers, and workspaces, than blocks in flight.
func (s *Scheduler) complete(w *worker, b *Block, out outcome) (next *Block) {
	t := s.clock(w, b)
	var left *payload
	if out == over {
		b.setState(stateDone)
		if left, b.payload = b.payload, nil; w != nil && w.ws.payload == nil {
			w.ws.payload, left = left, nil
		}
	}
	var drop *workspace
	var help *worker
	s.mu.Lock()
	t.locked()
	if left != nil && s.runs > 0 {
		s.payloads = append(s.payloads, left)
	}
	if out == again {
		s.resumed.push(b)
	}
	if w == nil {
		if out == again {
			help = s.recruit()
		}
	} else if next = s.pop(); next == nil {
		drop = s.park(w)
	} else {
		s.equip(w)
	}
	s.mu.Unlock()
	// From here on a worker without a block may be running again: it is not to be touched.
	if drop != nil {
		spare.Put(drop)
	}
	help.begin()
	switch {
	case out == over && w != nil:
		t.done(b.run)
	case next != nil:
		t.done(next.run)
	}
	if out == over {
		b.done <- struct{}{} // holds one: never blocks
	}
	return next
}

// pop takes the block that is next in turn, with the lock held.
func (s *Scheduler) pop() *Block {
	if b := s.resumed.pop(); b != nil {
		return b
	}
	if b := s.queue.pop(); b != nil {
		return b
	}
	return s.device.Load().reclaim()
}

// spareWorkers is how many workers have nothing to do.
func (s *Scheduler) spareWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.size > 0 {
		return 0
	}
	return s.workers - s.alive
}

// withdraw takes the blocks of a run that no worker has begun off the queue, and those that wait for the device; they are done, with ErrCanceled. The run need not wait until
// those of others before them have had their turn.
func (s *Scheduler) withdraw(r *Run) {
	s.mu.Lock()
	for range s.queue.size {
		if b := s.queue.pop(); b.run == r {
			b.Err = ErrCanceled
			b.setState(stateDone)
			b.done <- struct{}{}
		} else {
			s.queue.push(b)
		}
	}
	s.mu.Unlock()
	if r.device != nil {
		r.device.withdraw(r)
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
		idle, s.idle, s.payloads = s.idle, nil, nil
	}
	s.mu.Unlock()
	for _, w := range idle {
		spare.Put(w.ws)
	}
}

// spare holds scratch between runs, so that many short runs (one-shot calls, ReadAt) do not allocate it anew each time.
var spare = sync.Pool{New: func() any { return new(workspace) }}
