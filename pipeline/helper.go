package pipeline

import (
	"runtime/debug"
	"time"
)

// helper does a part of another worker's stage: the matcher looks for the candidates of one piece
// while it parses the piece before. A helper takes the place of an idle worker, so the last blocks
// of a run, and a single block, have two processors each if any are free. It takes no blocks and
// needs no scratch memory.
type helper struct {
	w    *worker // that it helps
	f    func(checkpoint func()) int
	slot int
	done chan any // receives the value that f panicked with, or nil
	main func()   // the method helpOnce; see worker.main
	stop func()   // the method checkpoint
}

// helperPanic is the value that a helper's work panicked with.
type helperPanic struct {
	value any
	stack []byte
}

// Help implements optimal.Helper. It refuses while a block waits.
func (w *worker) Help(f func(checkpoint func()) int) bool {
	s := w.sched
	s.mu.Lock()
	free := s.alive < s.workers && s.ring.Len() == 0
	slot := 0
	if free {
		slot = s.takeSlot()
	}
	s.mu.Unlock()
	if !free {
		return false
	}
	h := w.helper
	if h == nil {
		h = &helper{w: w, done: make(chan any, 1)}
		h.main, h.stop = h.helpOnce, h.checkpoint
		w.helper = h
	}
	h.f, h.slot = f, slot
	go h.main()
	return true
}

// Wait implements optimal.Helper. A panic of the helper continues here. If the stage panics as
// well, the helper's panic is the error of the block.
func (w *worker) Wait() {
	v := <-w.helper.done
	w.helper.f = nil
	if v != nil {
		panic(v)
	}
}

// checkpoint ends the work of a helper whose run has ended. A helper does not pause: its piece is
// short.
func (h *helper) checkpoint() {
	if h.w.block.run.ended() {
		panic(stopped{})
	}
}

// helpOnce runs f once and frees the slot, first of all for work that has come meanwhile.
func (h *helper) helpOnce() {
	took, v := h.runPiece()
	s, share := h.w.sched, h.w.share
	s.mu.Lock()
	s.freeSlot(h.slot)
	share.credit = max(share.credit-took, -quantum)
	if n := len(s.idle); n > 0 && !s.idle[n-1].parked.IsZero() {
		w := s.idle[n-1]
		w.parked = w.parked.Add(min(took, time.Since(w.parked))) // its place had work
	}
	var next *worker
	if s.ring.Len() > 0 {
		next = s.recruit()
	}
	s.mu.Unlock()
	next.startWorker()
	h.done <- v // last: from here on the run may end
}

// runPiece calls f and returns the time it took.
func (h *helper) runPiece() (took time.Duration, failed any) {
	defer func() {
		if v := recover(); v != nil {
			failed = helperPanic{v, debug.Stack()}
		}
	}()
	b, start := h.w.block, time.Now()
	n := h.f(h.stop)
	took = time.Since(start)
	if b.run.measured() {
		b.run.countHelp(b, h.slot, n, start, took)
	}
	return took, nil
}
