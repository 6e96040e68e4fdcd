package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/pipeline/internal/fifo"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Op is the direction of a run.
type Op uint8

const (
	Compress Op = iota
	Decompress
)

// String returns "compress" or "decompress".
func (op Op) String() string {
	if op == Compress {
		return "compress"
	}
	return "decompress"
}

// Config describes a run.
type Config struct {
	Pipeline     *Pipeline
	Op           Op
	Level        int             // 1 … MaxLevel, for Compress
	Tuning       Tuning          // how blocks get settings of their own, for Compress
	InFlight     int             // most blocks that exist; 0 means what Scheduler.Plan returns
	Grow         bool            // two blocks for each worker exist until the device has taken one
	Checks       bool            // compute (Compress) or compare (Decompress) Block.Sum
	Context      context.Context // ends the run early; nil means never
	Assign       Assignment      // where stages run, if the scheduler has a device
	LongDistance LongDistance    // references to earlier blocks; the zero value is for none
	Dictionary   *Dictionary     // of .pz and .zst; nil for none
	// Position, if set, grows by the size of each block while that is compressed. Any goroutines add
	// to it.
	Position *atomic.Int64
	// Trace, if set, is called after every stage, from any goroutines at the same time.
	Trace func(Event)
}

// Errors of a block, in Block.Err.
var (
	// ErrChecksum: the content is not what was encoded, or the payload not what was written.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrPayload: a decoder found its input damaged. All errors of decoders wrap it.
	ErrPayload = errors.New("bad payload")
	// ErrCanceled: the run was closed, or its context ended, before the block was done.
	ErrCanceled = errors.New("run canceled")
)

// PanicError is the error of a block whose stage panicked. Other blocks are not affected. It is
// also the error of a device that panicked.
type PanicError struct {
	Stage string // name of the stage
	Value any    // the argument of panic
	Stack []byte // of the worker, or of its helper
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic in stage %s: %v", e.Stage, e.Value)
}

// Run is one ordered stream of blocks through a scheduler. Its methods are for one goroutine at a
// time.
//
// The caller gets an empty block with Get, fills in Src, and submits it. Next returns the oldest
// block once it is done, and Put frees it. At most Config.InFlight blocks exist, which bounds the
// memory of the run.
type Run struct {
	sched    *Scheduler
	cfg      Config
	stages   []stage
	coding   span            // the stages that code, without those for references
	done     <-chan struct{} // of the context; nil without one
	canceled atomic.Bool
	closed   bool
	core     *runCore
	device   *offload.Coordinator // nil if all stages are for the CPU

	share *share // what waits for workers

	free  []*Block
	out   fifo.Queue[*Block] // submitted and not yet returned by Next
	made  int                // blocks that exist
	grown atomic.Bool        // the device has taken a block
	chain chain              // of serial blocks
	turns int64              // turn of the next serial block
	count int64              // Index of the next block
}

// Start begins a run. A run that is dropped without Close leaks nothing: the workers finish its
// blocks, and the garbage collector frees the rest.
func (s *Scheduler) Start(cfg Config) *Run {
	r := &Run{core: new(runCore)}
	runtime.AddCleanup(r, (*runCore).release, r.core)
	r.bind(s, cfg)
	return r
}

// bind sets what a run depends on. No blocks are out.
func (r *Run) bind(s *Scheduler, cfg Config) {
	if cfg.InFlight <= 0 {
		cfg.InFlight = s.Plan(cfg, 0).InFlight
	}
	if r.share == nil || r.device != nil && r.sched != s {
		r.share = new(share) // workers of the old scheduler may still charge the old one
	}
	r.sched, r.core.sched, r.cfg = s, s, cfg
	r.stages, r.coding = cfg.stages()
	r.device = s.deviceFor(cfg.Assign)
	r.done = nil
	if cfg.Context != nil {
		r.done = cfg.Context.Done()
	}
	r.count = 0
	r.grown.Store(false)
}

// limit returns the most blocks that may exist now.
func (r *Run) limit() int {
	if r.cfg.Grow && !r.grown.Load() {
		return min(r.cfg.InFlight, 2*r.sched.workers)
	}
	return r.cfg.InFlight
}

// Reset makes r a run of s with another configuration, as Start does. It keeps the free blocks with
// their buffers, and the statistics. If blocks are not free, or after Close, it does nothing and
// returns false.
func (r *Run) Reset(s *Scheduler, cfg Config) bool {
	if r.closed || r.Taken() > 0 {
		return false
	}
	r.core.release()
	r.bind(s, cfg)
	if n := r.cfg.InFlight; r.made > n {
		clear(r.free[n:])
		r.free, r.made = r.free[:n], n
	}
	return true
}

// Unbind drops what the run refers to: its scheduler, and what the caller gave it. All blocks must
// be free. Reset or Close must come next.
func (r *Run) Unbind() {
	r.core.release()
	if r.device != nil {
		r.share = nil // see bind
	}
	r.sched, r.core.sched, r.device, r.done, r.cfg = nil, nil, nil, nil, Config{}
}

// Get returns a free block, or nil if all blocks that the run may have are in use.
func (r *Run) Get() *Block {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		b.setState(stateFilling)
		return b
	}
	if r.made >= r.limit() {
		return nil
	}
	r.made++
	return &Block{run: r, done: make(chan struct{}, 1), state: stateFilling}
}

// Submit gives a block from Get, or again one from Next, to the workers. It does not block.
func (r *Run) Submit(b *Block) {
	r.acquire()
	r.begin(b)
	r.sched.submit(b)
}

// Do submits a block as Submit does, but runs its stages on the caller's goroutine at once, also
// while all workers are busy. It is for small blocks that the caller waits for. It takes no lock of
// the scheduler, unless statistics are on. A block that must go to a device, or that waits for
// another serial one, goes to the workers as with Submit.
func (r *Run) Do(b *Block) {
	if r.cfg.Assign.Strict() || b.isSerial() && r.out.Len() > 0 {
		r.Submit(b)
		return
	}
	if r.sched.stats.on.Load() {
		r.acquire()
	}
	r.begin(b)
	w := callers.Get().(*worker)
	w.sched, b.use = r.sched, useNone
	w.run(b)
	if b.isSerial() && !b.passed {
		r.chain.pass(b.turn)
	}
	b.setState(stateDone)
	if b.payload != nil {
		w.ws.payload, b.payload = b.payload, nil
	}
	w.sched = nil
	callers.Put(w)
	b.done <- struct{}{} // holds one: never blocks
}

// callers holds the workers that callers are in Do.
var callers = sync.Pool{New: func() any {
	w := newWorker(nil)
	w.slot, w.ws = callerSlot, new(workspace)
	w.ws.setCheckpoint(w.check)
	return w
}}

// begin makes a block the youngest of the run.
func (r *Run) begin(b *Block) {
	b.setState(stateQueued)
	b.Index, b.Err, b.Decoded, b.stage, b.inInto = r.count, nil, 0, 0, false
	b.outerSrc = nil
	if !b.list.Empty() {
		b.list = ldm.List{}
	}
	if b.isSerial() {
		b.turn, b.passed = r.turns, false
		r.turns++
	}
	b.choice, b.use, b.hasResults, b.counted = choice{}, useAssigned, false, 0
	r.count++
	r.out.Push(b)
}

// Number makes n the Index of the block that is submitted next.
func (r *Run) Number(n int64) { r.count = n }

// Pending returns the number of blocks that were submitted and that Next has not returned.
func (r *Run) Pending() int { return r.out.Len() }

// Taken returns the number of blocks that are not free: those submitted and those that the caller
// has.
func (r *Run) Taken() int { return r.made - len(r.free) }

// Next returns the oldest block submitted once it is done, failed or not. It returns nil if no
// block is out. If the block is not done yet, Next waits, or returns nil if wait is false. If the
// context of the run ends first, Next returns nil and an error that is both the context's error and
// its cause.
func (r *Run) Next(wait bool) (*Block, error) {
	b := r.out.Peek()
	if b == nil {
		return nil, nil
	}
	if wait {
		select {
		case <-b.done:
		case <-r.done:
			return nil, errs.Cause(r.cfg.Context)
		}
	} else {
		select {
		case <-b.done:
		default:
			return nil, nil
		}
	}
	r.out.Pop()
	b.setState(stateDelivered)
	return b, nil
}

// Put frees a block from Get or Next. The block keeps its Src for Grow, unless that is retired.
func (r *Run) Put(b *Block) {
	b.setState(stateFree)
	if b.srcRetired {
		b.Src, b.srcRetired = nil, false
	}
	b.Into, b.inInto, b.CallerOwned = nil, false, false
	b.releaseOwn()
	r.free = append(r.free, b)
}

// ReleaseScratch releases the run's claim on the scratch memory of the workers until the next
// Submit. It is for a run that is kept for later use. While blocks are out it does nothing.
func (r *Run) ReleaseScratch() {
	if r.out.Len() == 0 {
		r.core.release()
	}
}

// Close ends the run. It drops blocks that wait for a worker or the device or that are on the
// device, and waits for the workers of all others. When it returns, only a device may still use
// memory of the run, but not of the caller. Closing twice does nothing.
func (r *Run) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.canceled.Store(true)
	if r.sched != nil { // see Unbind
		r.sched.withdraw(r)
	}
	for b := r.out.Pop(); b != nil; b = r.out.Pop() {
		<-b.done
	}
	r.free = nil
	r.ReleaseScratch()
}

// ended reports whether the run was closed or its context has ended.
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

// Stats returns the run's statistics so far. They lack the time while statistics were off.
func (r *Run) Stats() Stats { return r.core.stats() }

// acquire claims the scratch memory of the workers for the run.
func (r *Run) acquire() {
	c := r.core
	if c.held.Swap(true) {
		return
	}
	c.counters = nil
	if r.sched.stats.on.Load() {
		c.counters = &counters{op: r.cfg.Op, stages: r.stages, since: time.Now()}
	}
	r.sched.acquire()
}

// runCore is the part of a Run that must be released: its claim on the scratch memory of the
// workers, and its statistics. It is an object of its own because the cleanup of a dropped Run must
// not refer to the Run.
type runCore struct {
	sched *Scheduler
	held  atomic.Bool
	// counters count since the last acquire; nil if statistics are off. They change only while no
	// block is out.
	counters *counters

	mu   sync.Mutex
	past Stats // until the last release
}

// release gives up the claim and adds the statistics to those of the scheduler.
func (c *runCore) release() {
	if !c.held.Swap(false) {
		return
	}
	c.sched.release()
	if c.counters == nil {
		return
	}
	s := c.counters.stats()
	c.counters = nil
	c.mu.Lock()
	c.past.Add(&s)
	c.mu.Unlock()
	t := &c.sched.stats
	t.mu.Lock()
	t.sum.Add(&s)
	t.mu.Unlock()
}

func (c *runCore) stats() (sum Stats) {
	c.mu.Lock()
	sum.Add(&c.past)
	c.mu.Unlock()
	if c.counters != nil && c.held.Load() {
		s := c.counters.stats()
		sum.Add(&s)
	}
	return sum
}
