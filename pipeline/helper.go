package pipeline

import (
	"runtime/debug"
	"time"
)

// helper takes the place of a worker that there is no block for, and does a part of another one's stage: the matcher looks for the candidates of one piece while it parses another. So the last
// blocks of a run, and one that is alone, have two processors each while there are any free. It takes no blocks, so that there is no more scratch memory than without it.
type helper struct {
	w    *worker // who is helped
	f    func() int
	slot int
	done chan any // what f panicked with, if it did
	main func()   // the method work; see worker.main
}

// helperPanic is what a helper's work panicked with.
type helperPanic struct {
	value any
	stack []byte
}

// Help is that of lz77.Helper. Blocks that wait come first.
func (w *worker) Help(f func() int) bool {
	s := w.sched
	s.mu.Lock()
	free := s.alive < s.workers && s.queue.size == 0 && s.resumed.size == 0
	slot := 0
	if free {
		slot = s.enter()
	}
	s.mu.Unlock()
	if !free {
		return false
	}
	h := w.helper
	if h == nil {
		h = &helper{w: w, done: make(chan any, 1)}
		h.main = h.work
		w.helper = h
	}
	h.f, h.slot = f, slot
	go h.main()
	return true
}

// Wait is that of lz77.Helper. If the stage has panicked as well, the block's error is what the helper panicked with.
func (w *worker) Wait() {
	v := <-w.helper.done
	w.helper.f = nil
	if v != nil {
		panic(v)
	}
}

// work is the life of a helper.
func (h *helper) work() {
	took, v := h.run()
	s := h.w.sched
	s.mu.Lock()
	s.leave(h.slot)
	if n := len(s.idle); n > 0 && !s.idle[n-1].parked.IsZero() {
		w := s.idle[n-1]
		w.parked = w.parked.Add(min(took, time.Since(w.parked))) // its place was not without work
	}
	var next *worker
	if s.queue.size+s.resumed.size > 0 { // blocks that came meanwhile
		next = s.recruit()
	}
	s.mu.Unlock()
	next.begin()
	h.done <- v // the last thing: from here on the run may end
}

// run does the work, and says how long it took if anybody wants to know.
func (h *helper) run() (took time.Duration, failed any) {
	defer func() {
		if v := recover(); v != nil {
			failed = helperPanic{v, debug.Stack()}
		}
	}()
	b := h.w.block
	if !b.run.measured() {
		h.f()
		return 0, nil
	}
	start := time.Now()
	n := h.f()
	took = time.Since(start)
	b.run.helped(b, h.slot, n, start, took)
	return took, nil
}
