package pipeline

import "sync"

// The way of a block into the scheduler: from the caller to the queue of its run.

// Get returns a free block, or nil if all blocks that the run may have are in use.
func (r *Run) Get() *Block {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		b.setState(stateFilling)
		return b
	}
	if r.made >= r.mostBlocks() {
		return nil
	}
	r.made++
	return &Block{run: r, done: make(chan struct{}, 1), state: stateFilling}
}

// mostBlocks returns the most blocks that may exist now.
func (r *Run) mostBlocks() int {
	if r.cfg.Grow && !r.grown.Load() {
		return min(r.cfg.InFlight, 2*r.sched.workers)
	}
	return r.cfg.InFlight
}

// Number makes n the Index of the block that is submitted next.
func (r *Run) Number(n int64) { r.count = n }

// Submit gives a block from Get, or again one from Next, to the workers. It does not block.
func (r *Run) Submit(b *Block) {
	r.acquireScratch()
	r.beginBlock(b)
	r.sched.queueBlock(b)
}

// Do submits a block as Submit does, but runs its stages on the caller's goroutine at once, also
// while all workers are busy. It is for blocks that the caller waits for, and that are small or
// alone in flight. It takes no lock of the scheduler, unless statistics are on. A block that must
// go to a device, or that waits for another serial one, goes to the workers as with Submit.
func (r *Run) Do(b *Block) {
	if r.cfg.Assign.Strict() || b.isSerial() && r.out.Len() > 0 {
		r.Submit(b)
		return
	}
	if r.sched.stats.on.Load() {
		r.acquireScratch()
	}
	r.beginBlock(b)
	w := callers.Get().(*worker)
	w.sched, b.use = r.sched, useNone
	w.runBlock(b)
	w.completeAlone(b)
	w.sched = nil
	callers.Put(w)
}

// callers holds the workers that callers are in Do.
var callers = sync.Pool{New: func() any {
	w := newWorker(nil)
	w.slot, w.ws = callerSlot, new(workspace)
	w.ws.setCheckpoint(w.check)
	return w
}}

// beginBlock makes a block the youngest of the run.
func (r *Run) beginBlock(b *Block) {
	b.setState(stateQueued)
	b.Index, b.Err, b.Decoded = r.count, nil, 0
	b.beginWork(r.cfg.Op)
	b.refers, b.repeats = false, b.repeats[:0]
	if b.isSerial() {
		b.turn, b.passed = r.turns, false
		r.turns++
	}
	b.choice, b.use, b.hasResults = choice{}, useAssigned, false
	r.count++
	r.out.Push(b)
}
