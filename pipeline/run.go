package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Op is the direction of a run.
type Op uint8

const (
	Compress Op = iota
	Decompress
)

// Config describes a run.
type Config struct {
	Pipeline *Pipeline
	Op       Op
	Level    int             // 1 … 9, for Compress
	Tuning   Tuning          // what settings follow from besides the level, for Compress
	InFlight int             // blocks that may be out at once; 0 means what Scheduler.InFlight says
	Checks   bool            // compute (Compress) or verify (Decompress) Block.Sum
	Context  context.Context // ends the run early; nil means never
	Assign   Assignment      // where stages run, if the scheduler has a device
	// Trace, if set, is called after every stage, from any goroutines at the same time.
	Trace func(Event)
}

// Errors of a run. They come from Next, in Block.Err.
var (
	// ErrChecksum: the block decoded, to something else than was encoded, or its payload is not what was written.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrPayload is wrapped by every complaint of a decoder about its input.
	ErrPayload = errors.New("bad payload")
	// ErrCanceled: the run was closed before the block's turn came.
	ErrCanceled = errors.New("run canceled")
)

// PanicError is the error of a block whose stage panicked. Other blocks are not touched by it.
type PanicError struct {
	Stage string // name of the stage
	Value any    // what was given to panic
	Stack []byte // of the worker, or of who helped it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic in stage %s: %v", e.Stage, e.Value) }

// Run is one ordered stream of blocks through a scheduler. Its methods are for one goroutine at a time.
//
// The owner gets an empty block with Get, fills in Src, and submits it; Next gives the oldest block back when it is done, and
// Put makes it free again. At most InFlight blocks exist, which bounds the memory of the run.
type Run struct {
	sched    *Scheduler
	cfg      Config
	stages   []stage
	done     <-chan struct{} // of the context; nil without one
	canceled atomic.Bool
	closed   bool
	lease    *lease
	device   *coordinator // nil without a device

	free  []*Block
	out   fifo // submitted and not yet returned by Next
	made  int
	count int64
}

// Start begins a run. One that is dropped without Close leaks nothing: its blocks are finished, and the garbage collector has the rest.
func (s *Scheduler) Start(cfg Config) *Run {
	if cfg.InFlight <= 0 {
		cfg.InFlight = s.InFlight(cfg, 0)
	}
	r := &Run{sched: s, cfg: cfg, stages: cfg.Pipeline.encode, lease: &lease{sched: s}, device: s.device.Load()}
	if cfg.Op == Decompress {
		r.stages = cfg.Pipeline.decode
	}
	r.lease.op, r.lease.stages = cfg.Op, r.stages
	runtime.AddCleanup(r, (*lease).end, r.lease)
	if cfg.Context != nil {
		r.done = cfg.Context.Done()
	}
	return r
}

// Get returns a free block, or nil if as many as the run may have are out: then take one back with Next and Put.
func (r *Run) Get() *Block {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		b.setState(stateFilling)
		return b
	}
	if r.made == r.cfg.InFlight {
		return nil
	}
	r.made++
	return &Block{run: r, done: make(chan struct{}, 1), state: stateFilling}
}

// Submit gives a block that came from Get to the workers. It does not block.
func (r *Run) Submit(b *Block) {
	r.lease.begin()
	b.setState(stateQueued)
	b.Index, b.Err, b.stage, b.placed, b.use, b.hasResults = r.count, nil, 0, false, useAssigned, false
	b.choice = choice{}
	r.count++
	r.out.push(b)
	r.sched.submit(b)
}

// Number makes n the Index of the block submitted next, for those whose blocks have numbers of their own.
func (r *Run) Number(n int64) { r.count = n }

// Pending is the number of blocks submitted and not yet returned by Next.
func (r *Run) Pending() int { return r.out.size }

// Taken is the number of blocks that are not free: those submitted and those that the owner has.
func (r *Run) Taken() int { return r.made - len(r.free) }

// Next returns the oldest block submitted, once it is done. It returns nil when no block is out, or, unless wait is set, when
// the oldest is not done yet. If the run's context ends first, it returns nil and the context's error.
// A block that failed is returned like any other, with its Err.
func (r *Run) Next(wait bool) (*Block, error) {
	b := r.out.peek()
	if b == nil {
		return nil, nil
	}
	if wait {
		select {
		case <-b.done:
		case <-r.done:
			return nil, context.Cause(r.cfg.Context)
		}
	} else {
		select {
		case <-b.done:
		default:
			return nil, nil
		}
	}
	r.out.pop()
	b.setState(stateDelivered)
	return b, nil
}

// Put makes a block that came from Get or Next free again. Its Src stays with it, unless a device that was given up may still read it.
func (r *Run) Put(b *Block) {
	b.setState(stateFree)
	if b.srcRetired {
		b.Src, b.srcRetired = nil, false
	}
	b.Into, b.placed, b.Lent = nil, false, false
	r.free = append(r.free, b)
}

// Rest lets the scheduler give the scratch memory of its workers to others if this run was the last to need it. It is for a run
// with no blocks out that keeps its own buffers for later; the next Submit ends the rest. With blocks out it does nothing.
func (r *Run) Rest() {
	if r.out.size == 0 {
		r.lease.end()
	}
}

// Close ends the run: blocks that no worker has begun, or that wait for the device, are dropped at once, and others are waited for, so that no buffer
// of the run is in use when Close returns, but by a device that was given up. A batch that a device is at may take its Patience for each that it may have. Closing twice does nothing.
func (r *Run) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.canceled.Store(true)
	r.sched.withdraw(r)
	for b := r.out.pop(); b != nil; b = r.out.pop() {
		<-b.done
	}
	r.free = nil
	r.Rest()
}

// ended tells a worker whether the run still wants its blocks.
func (r *Run) ended() bool {
	if r.canceled.Load() {
		return true
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Stats returns the run's statistics so far. What was done while they were off is not in them.
func (r *Run) Stats() Stats { return r.lease.stats() }

// lease is a run's claim that its scheduler keeps the workers' scratch memory, and its statistics. It is apart from the Run, so that it
// can be ended when the Run is garbage.
type lease struct {
	sched  *Scheduler
	op     Op
	stages []stage
	held   atomic.Bool
	// Since the last begin; nil if statistics are off. Changes only while no block is out.
	counters *counters

	mu  sync.Mutex
	sum Stats // of the time before
}

func (l *lease) begin() {
	if l.held.Swap(true) {
		return
	}
	l.counters = nil
	if l.sched.stats.on.Load() {
		l.counters = &counters{op: l.op, stages: l.stages, since: time.Now()}
	}
	l.sched.open()
}

func (l *lease) end() {
	if !l.held.Swap(false) {
		return
	}
	l.sched.shut()
	if l.counters == nil {
		return
	}
	s := l.counters.stats()
	l.mu.Lock()
	l.sum.Add(&s)
	l.mu.Unlock()
	t := &l.sched.stats
	t.mu.Lock()
	t.sum.Add(&s)
	t.mu.Unlock()
}

func (l *lease) stats() (sum Stats) {
	l.mu.Lock()
	sum.Add(&l.sum)
	l.mu.Unlock()
	if l.counters != nil && l.held.Load() {
		s := l.counters.stats()
		sum.Add(&s)
	}
	return sum
}
