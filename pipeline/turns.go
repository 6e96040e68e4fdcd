package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/gopz/compress/pipeline/internal/fifo"
)

// Fair sharing. Runs get the time of workers by deficit round robin (Shreedhar and Varghese, 1995).
// A run with work that waits has a place in a ring. Workers take the work of the run at the head
// until its credit of worker time is used up. Then it moves to the tail with another quantum.
//
// The time of a piece of work is not known in advance, so it is charged when the piece ends. A
// stage calls checkpoint between its pieces. There it pauses if its run has used up its credit and
// another run waits: its goroutine keeps the block and the workspace, and sleeps until the next
// turn of its run. Meanwhile another worker runs in its slot, so that as many goroutines work as
// before.
//
// So work that arrives waits for one piece of a stage, a few milliseconds at most. For each other
// run in the ring it then waits for a quantum, divided by the number of workers, and for one more
// piece. A run that is alone never pauses, and pays two atomic loads for each checkpoint.

// quantum is the credit of worker time that a run gets in its turn. A pause costs about 100 µs, 1%
// of the quantum, since the caches of the processor fill with other data.
const quantum = 10 * time.Millisecond

// share holds the work of a run that waits for workers, and its credit. Scheduler.mu guards it.
type share struct {
	paused  fifo.Queue[*worker] // in the middle of a stage
	resumed fifo.Queue[*Block]  // back from the device
	queue   fifo.Queue[*Block]  // not begun
	credit  time.Duration       // −quantum … quantum
	inRing  atomic.Bool
}

func (h *share) empty() bool { return h.resumed.Len()+h.paused.Len()+h.queue.Len() == 0 }

// popWork takes a paused worker first. So a run never has more workspaces than the scheduler has
// workers.
func (h *share) popWork() (b *Block, p *worker) {
	if p = h.paused.Pop(); p == nil {
		if b = h.resumed.Pop(); b == nil {
			b = h.queue.Pop()
		}
	}
	return b, p
}

// queueBlock queues a new block and starts a worker for it if there may be one more.
func (s *Scheduler) queueBlock(b *Block) {
	s.mu.Lock()
	b.run.share.queue.Push(b)
	s.enqueueShare(b.run.share)
	w := s.recruit()
	s.mu.Unlock()
	w.startWorker()
}

// takeBlock returns the first block of a worker that has been started, nil if others were faster.
func (s *Scheduler) takeBlock(w *worker) *Block {
	t := s.beginClock(w, nil)
	s.mu.Lock()
	t.locked()
	n := s.nextFor(w, nil, t.now)
	s.mu.Unlock()
	n.passOn()
	if n.block != nil {
		t.chargeRun(n.block.run)
	}
	return n.block
}

// succession is what a worker, or its place, goes on with.
type succession struct {
	block  *Block     // nil if the worker is parked
	paused *worker    // that gets the place
	drop   *workspace // of a parked worker that no run needs
}

// nextFor charges w for block b, if it had one, and gives it the next. Without one w is parked, and
// a worker that has paused gets its place. The caller holds s.mu.
func (s *Scheduler) nextFor(w *worker, b *Block, now time.Time) (n succession) {
	if b != nil {
		s.chargeShare(w, now)
	}
	w.since = now
	if w.slot == noSlot { // its place has another worker
		n.drop = s.parkWorker(w)
		return n
	}
	n.block, n.paused = s.nextWork()
	if n.block != nil {
		s.givePayload(w)
		return n
	}
	if n.paused != nil {
		n.paused.slot = w.slot
	} else {
		s.freeSlot(w.slot)
	}
	n.drop = s.parkWorker(w)
	return n
}

// passOn does what needs no lock. A parked worker may be running again: it must not be used from
// here on.
func (n *succession) passOn() {
	if n.drop != nil {
		spare.Put(n.drop)
	}
	if n.paused != nil {
		n.paused.resume <- struct{}{} // holds one: never blocks
	}
}

// enqueueShare gives the run a place at the tail of the ring after work was added to its share. The
// caller holds s.mu.
func (s *Scheduler) enqueueShare(h *share) {
	if h.inRing.Load() {
		return
	}
	h.inRing.Store(true)
	h.credit = min(h.credit, 0) + quantum
	s.ring.Push(h)
	s.waiting.Store(int32(s.ring.Len()))
}

// nextWork takes the next work in turn: a block, or a worker that has paused. Without any it
// reclaims a block that waits for the device. The caller holds s.mu.
func (s *Scheduler) nextWork() (b *Block, p *worker) {
	for s.ring.Len() > 0 {
		h := s.ring.Peek()
		if h.credit <= 0 && s.ring.Len() > 1 {
			h.credit += quantum
			s.ring.Push(s.ring.Pop())
			continue
		}
		b, p = h.popWork()
		if h.empty() {
			s.ring.Pop()
			s.leftRing(h)
		}
		return b, p
	}
	if r := s.device.Load().Reclaim(); r != nil {
		b = r.Block.(*Block)
		b.reclaimFromDevice()
	}
	return b, nil
}

// dequeueShare removes a run from the ring, wherever it is. The caller holds s.mu.
func (s *Scheduler) dequeueShare(h *share) {
	if !h.inRing.Load() {
		return
	}
	for range s.ring.Len() {
		if x := s.ring.Pop(); x != h {
			s.ring.Push(x)
		}
	}
	s.leftRing(h)
}

// leftRing notes that a run is not in the ring any more. The caller holds s.mu.
func (s *Scheduler) leftRing(h *share) {
	h.inRing.Store(false)
	s.waiting.Store(int32(s.ring.Len()))
}

// othersWait reports whether work of another run than that of h waits. The caller holds s.mu.
func (s *Scheduler) othersWait(h *share) bool {
	n := s.ring.Len()
	return n > 1 || n == 1 && !h.inRing.Load()
}

// chargeShare subtracts the time that w has worked since the last charge from the credit of its
// run. If no other run waits, the credit is full again. The caller holds s.mu.
func (s *Scheduler) chargeShare(w *worker, now time.Time) {
	h := w.share
	h.credit = max(h.credit-now.Sub(w.since), -quantum)
	if !s.othersWait(h) {
		h.credit = quantum
	}
	w.since = now
}

// stopped is what checkpoint panics with. The stage unwinds, and its block ends with ErrCanceled.
type stopped struct{}

// checkpoint is called by stages between their pieces. It panics if the run has ended, and pauses
// if another run is to have its turn.
func (w *worker) checkpoint() {
	r := w.block.run
	if r.ended() {
		panic(stopped{})
	}
	w.countMatched()
	n := w.sched.waiting.Load()
	if n == 0 || n == 1 && w.share.inRing.Load() || w.slot < 0 {
		return
	}
	w.pauseStage(r)
	if r.ended() {
		panic(stopped{})
	}
}

// pauseStage gives the slot of w to another worker if its run has used up its credit and another
// run waits. It returns in the next turn of its run, or when the run was closed.
func (w *worker) pauseStage(r *Run) {
	s, now := w.sched, time.Now()
	s.mu.Lock()
	s.chargeShare(w, now)
	if w.share.credit > 0 || !s.othersWait(w.share) || r.canceled.Load() {
		s.mu.Unlock()
		return
	}
	if w.resume == nil {
		w.resume = make(chan struct{}, 1)
	}
	w.share.paused.Push(w)
	s.enqueueShare(w.share)
	next := s.takeIdle()
	next.slot, next.parked = w.slot, now
	s.mu.Unlock()
	next.startWorker()
	<-w.resume
	w.since = time.Now()
	took := w.since.Sub(now)
	w.pausedFor += took
	if c := r.core.counters; c != nil {
		c.pauses.Add(1)
		c.paused.Add(int64(took))
	}
}
