package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

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
	Pipeline   *Pipeline
	Op         Op
	Level      int             // 1 … MaxLevel, for Compress
	Tuning     Tuning          // how blocks get settings of their own, for Compress
	BlockSize  int             // most content of a block in bytes, for Window and Plan; 0 is unknown
	InFlight   int             // most blocks that exist; 0 means what Scheduler.Plan returns
	Grow       bool            // two blocks for each worker exist until the device has taken one
	Checks     bool            // compute (Compress) or compare (Decompress) Block.Sum
	Context    context.Context // ends the run early; nil means never
	Assign     Assignment      // where stages run, if the scheduler has a device
	Dictionary *Dictionary     // of .pz and .zst; nil for none
	// Reach is how many bytes in front of a block its matches may reach. If it is 0, blocks are
	// independent, and a block of .zst is a frame. Otherwise the blocks of .zst are parts of one
	// frame, whose check is left to the caller.
	Reach int
	// Window is how many bytes of earlier blocks the blocks may repeat by references, for pipelines
	// of .pz, and by matches, for that of .zst: a power of two, 1 MiB … 2 GiB, and at least
	// BlockSize. 0 is for none. To decompress .pz, a run needs all blocks of a stream in order,
	// with the Window that they were compressed with. The run keeps the window until
	// ReleaseScratch, Reset or Close. A block with Index 0 begins a new one. Start and Reset panic
	// if Window is out of range, or BlockSize 0.
	Window int64
	// Sources is the most blocks that the references of one block may name, for Decompress. 0 is
	// for none; Compress makes 8 at most. If Window is 0, the result of a block with references is
	// what they leave of its content.
	Sources int
	// Position, if set, grows by the size of each block while that is compressed. Any goroutines
	// add to it.
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

	share  *share      // what waits for workers
	finder *ldm.Finder // of references, to compress with a window
	window *ldm.Window // of references, to decompress with a window

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
	runtime.AddCleanup(r, (*runCore).releaseClaim, r.core)
	r.bindTo(s, cfg)
	return r
}

// bindTo sets what a run depends on. No blocks are out.
func (r *Run) bindTo(s *Scheduler, cfg Config) {
	if cfg.InFlight <= 0 {
		cfg.InFlight = s.Plan(cfg).InFlight
	}
	if r.share == nil || r.device != nil && r.sched != s {
		r.share = new(share) // workers of the old scheduler may still charge the old one
	}
	r.sched, r.core.sched, r.cfg = s, s, cfg
	r.stages, r.coding = cfg.stages()
	r.makeWindow()
	r.device = s.deviceFor(cfg.Assign)
	r.done = nil
	if cfg.Context != nil {
		r.done = cfg.Context.Done()
	}
	r.count = 0
	r.grown.Store(false)
}

// Reset makes r a run of s with another configuration, as Start does. It keeps the free blocks with
// their buffers, and the statistics. If blocks are not free, or after Close, it does nothing and
// returns false.
func (r *Run) Reset(s *Scheduler, cfg Config) bool {
	if r.closed || r.Taken() > 0 {
		return false
	}
	r.core.releaseClaim()
	r.bindTo(s, cfg)
	if n := r.cfg.InFlight; r.made > n {
		clear(r.free[n:])
		r.free, r.made = r.free[:n], n
	}
	return true
}

// Release drops what the run refers to: its scheduler, and what the caller gave it. All blocks must
// be free. Reset or Close must come next.
func (r *Run) Release() {
	r.core.releaseClaim()
	r.finder, r.window = nil, nil
	if r.device != nil {
		r.share = nil // see bindTo
	}
	r.sched, r.core.sched, r.device, r.done, r.cfg = nil, nil, nil, nil, Config{}
}

// ReleaseScratch releases the run's claim on the scratch memory of the workers until the next
// Submit, and the memory of a window. The next block of a run with a window must have the Index 0.
// It is for a run that is kept for later use. While blocks are out it does nothing.
func (r *Run) ReleaseScratch() {
	if r.out.Len() == 0 {
		r.core.releaseClaim()
		r.releaseWindow()
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
	if r.sched != nil { // see Release
		r.sched.withdrawRun(r)
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

// acquireScratch claims the scratch memory of the workers for the run.
func (r *Run) acquireScratch() {
	c := r.core
	if c.held.Swap(true) {
		return
	}
	c.counters = nil
	if r.sched.stats.on.Load() {
		c.counters = &counters{op: r.cfg.Op, stages: r.stages, since: time.Now()}
	}
	r.sched.acquireScratch()
}

// runCore is the part of a Run that must be released: its claim on the scratch memory of the
// workers, and its statistics. It is an object of its own because the cleanup of a dropped Run must
// not refer to the Run.
type runCore struct {
	sched *Scheduler
	held  atomic.Bool
	// counters count since the last acquireScratch; nil if statistics are off. They change only
	// while no block is out.
	counters *counters

	mu   sync.Mutex
	past Stats // until the last release
}

// releaseClaim gives up the claim and adds the statistics to those of the scheduler.
func (c *runCore) releaseClaim() {
	if !c.held.Swap(false) {
		return
	}
	c.sched.releaseScratch()
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
