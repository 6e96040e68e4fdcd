package pipeline

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"time"
)

// worker is a goroutine while it runs, and scratch memory when it does not.
type worker struct {
	sched  *Scheduler
	ws     *workspace
	slot   int       // its number among the workers that run
	parked time.Time // when it ran out of blocks; zero if statistics were off
	main   func()    // the method work, made once: a go statement with arguments allocates
	block  *Block    // that it is at
	helper *helper   // who has helped it, if anybody
}

// recruit finds a worker for a block that was queued, if there may be one more. It is called with the lock held.
func (s *Scheduler) recruit() *worker {
	if s.alive == s.workers {
		return nil
	}
	var w *worker
	if n := len(s.idle); n > 0 {
		w, s.idle = s.idle[n-1], s.idle[:n-1]
	} else {
		w = &worker{sched: s}
		w.main = w.work
	}
	if w.parked.IsZero() && s.stats.on.Load() {
		w.parked = time.Now()
	}
	w.slot = s.enter()
	return w
}

// enter and leave account for a goroutine that works, worker or helper, with the lock held.
func (s *Scheduler) enter() (slot int) {
	s.alive++
	n := len(s.slots) - 1
	slot, s.slots = s.slots[n], s.slots[:n]
	return slot
}

func (s *Scheduler) leave(slot int) {
	s.alive--
	s.slots = append(s.slots, slot)
}

// park takes a worker off the books, with the lock held. If nobody is going to need it, its scratch is returned.
func (s *Scheduler) park(w *worker) (drop *workspace) {
	if w.parked = (time.Time{}); s.stats.on.Load() {
		w.parked = time.Now()
	}
	s.leave(w.slot)
	if s.runs > 0 {
		s.idle = append(s.idle, w)
		return nil
	}
	return w.ws
}

// equip gives a worker a payload if it has handed over its own, with the lock held.
func (s *Scheduler) equip(w *worker) {
	if n := len(s.payloads); n > 0 && w.ws.payload == nil {
		w.ws.payload, s.payloads = s.payloads[n-1], s.payloads[:n-1]
	}
}

// begin sets a recruit to work. Nil is none.
func (w *worker) begin() {
	if w == nil {
		return
	}
	if w.ws == nil {
		w.ws = spare.Get().(*workspace)
	}
	go w.main()
}

// work is the life of a worker: from the first block it takes until the queue is empty.
func (w *worker) work() {
	for b := w.sched.complete(w, nil, gone); b != nil; {
		out := w.exec(b)
		if out == gone {
			// With workers on all processors the coordinator would not run before one of them is preempted, after 10 ms.
			runtime.Gosched()
		}
		b = w.sched.complete(w, b, out)
	}
}

// exec takes a block through its stages, to the end or until the device has it.
func (w *worker) exec(b *Block) (out outcome) {
	r, from := b.run, b.state
	b.setState(stateRunning)
	if r.ended() {
		b.Err = ErrCanceled
		return over
	}
	w.block, w.ws.matcher.Helper = b, w
	defer func() {
		w.block, w.ws.matcher.Helper = nil, nil
		if v := recover(); v != nil {
			e := &PanicError{Stage: r.stageName(b.stage), Value: v, Stack: debug.Stack()}
			if h, ok := v.(helperPanic); ok {
				e.Value, e.Stack = h.value, h.stack
			}
			b.Err = e
			w.ws, b.payload = new(workspace), nil // it may have left them in any state
			out = over
		}
	}()
	switch from {
	case stateQueued:
		t := r.begin(w, b, checkStage)
		whole, err := b.first(w.ws)
		t.end()
		if whole || err != nil {
			b.Err = err
			return over
		}
		if r.cfg.Op == Compress && r.cfg.Tuning != TuneFixed && !b.plain {
			t := r.begin(w, b, tuneStage)
			w.ws.tune(b)
			t.end()
		}
		if r.crowded() {
			b.use = useStrict
		}
	case stateReturned:
		w.takeOver(b)
	}
	if out = w.carryOn(b, from == stateReclaimed); out == over && b.Err != nil && b.hasResults {
		out = w.acquit(b)
	}
	return out
}

// carryOn takes a block through the stages that are left. With keep set the device does not get the first of them.
func (w *worker) carryOn(b *Block, keep bool) outcome {
	r := b.run
	for ; b.stage < len(r.stages); b.stage++ {
		if !keep && w.hand(b) {
			return gone
		}
		keep = false
		if b.payload == nil {
			b.payload, w.ws.payload = w.ws.own(), nil
		}
		t := r.begin(w, b, b.stage)
		start := r.clock()
		b.Err = b.perform(w.ws)
		t.end()
		if b.Err != nil {
			return over
		}
		r.learn(b, start)
	}
	t := r.begin(w, b, closeStage)
	b.Err = b.last()
	t.end()
	return over
}

// perform runs the block's next stage.
func (b *Block) perform(ws *workspace) error {
	st := &b.run.stages[b.stage]
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), st.name).End()
	}
	return st.run(ws, b)
}

// number is the worker's number for people; the coordinator, which is none, has −1.
func (w *worker) number() int {
	if w == nil {
		return -1
	}
	return w.slot
}
