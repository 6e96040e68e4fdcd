package pipeline

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"time"
)

// worker is a goroutine while it runs, and scratch memory while it is parked. The goroutine of a
// caller is a worker as well while it does a block itself.
type worker struct {
	sched  *Scheduler
	ws     *workspace
	slot   int       // its number among the goroutines of the scheduler, or one of those below
	parked time.Time // when it ran out of blocks; zero if statistics were off
	main   func()    // the method runBlocks, bound once: a go statement with arguments allocates
	check  func()    // the method checkpoint, bound once
	block  *Block    // that it works on
	helper *helper   // created by its first Help

	share     *share        // of the run of its last block; the device may have the block
	since     time.Time     // the last charge for its work
	resume    chan struct{} // receives when a pause is over; holds one
	pausedFor time.Duration // the sum of all pauses
}

// Slots of workers that take no place in the scheduler.
const (
	noSlot     = -1 // it only stops: its run was closed during a pause
	callerSlot = -2 // the goroutine of a caller
)

func newWorker(s *Scheduler) *worker {
	w := &worker{sched: s}
	w.main, w.check = w.runBlocks, w.checkpoint
	return w
}

// recruit returns a worker to start for work that was queued, nil if there may be no more of them.
// The caller holds s.mu.
func (s *Scheduler) recruit() *worker {
	if s.alive == s.workers {
		return nil
	}
	w := s.takeIdle()
	if w.parked.IsZero() && s.stats.on.Load() {
		w.parked = time.Now()
	}
	w.slot = s.takeSlot()
	return w
}

// takeIdle returns a worker without a goroutine. The caller holds s.mu.
func (s *Scheduler) takeIdle() (w *worker) {
	if n := len(s.idle); n > 0 {
		w, s.idle = s.idle[n-1], s.idle[:n-1]
		return w
	}
	return newWorker(s)
}

// takeSlot counts a goroutine, worker or helper, and returns its slot. The caller holds s.mu.
func (s *Scheduler) takeSlot() (slot int) {
	s.alive++
	n := len(s.slots) - 1
	slot, s.slots = s.slots[n], s.slots[:n]
	return slot
}

// freeSlot is the end of a goroutine that takeSlot counted. The caller holds s.mu.
func (s *Scheduler) freeSlot(slot int) {
	s.alive--
	s.slots = append(s.slots, slot)
}

// parkWorker marks w idle. If no run needs it, or pauses have left more of them than there are
// places, parkWorker returns its workspace for the pool of spare ones. The caller holds s.mu.
func (s *Scheduler) parkWorker(w *worker) (drop *workspace) {
	w.parked = (time.Time{})
	if s.stats.on.Load() {
		w.parked = time.Now()
	}
	if s.runs > 0 && len(s.idle) < s.workers {
		s.idle = append(s.idle, w)
		return nil
	}
	return w.ws
}

// givePayload gives w a payload if its own is on the device with a block. The caller holds s.mu.
func (s *Scheduler) givePayload(w *worker) {
	if n := len(s.payloads); n > 0 && w.ws.payload == nil {
		w.ws.payload, s.payloads = s.payloads[n-1], s.payloads[:n-1]
	}
}

// startWorker starts the goroutine of a recruited worker. A nil worker does nothing.
func (w *worker) startWorker() {
	if w == nil {
		return
	}
	if w.ws == nil {
		w.ws = spare.Get().(*workspace)
		w.ws.setCheckpoint(w.check)
	}
	go w.main()
}

// runBlocks takes blocks until the queue is empty.
func (w *worker) runBlocks() {
	for b := w.sched.takeBlock(w); b != nil; {
		out := w.runBlock(b)
		if out == handedOff {
			// Let the coordinator run. With workers on all processors it would wait for a
			// preemption, 10 ms.
			runtime.Gosched()
		}
		b = w.sched.completeBlock(w, b, out)
	}
}

// runBlock takes a block through its stages, to the end or until the device has it.
func (w *worker) runBlock(b *Block) (out outcome) {
	r, from := b.run, b.state
	w.share = r.share
	b.setState(stateRunning)
	if r.ended() {
		b.Err = ErrCanceled
		return finished
	}
	w.block = b
	if w.slot >= 0 {
		w.ws.matcher.Helper = w
	}
	defer func() {
		w.block, w.ws.matcher.Helper = nil, nil
		if v := recover(); v != nil {
			if b.Err = r.panicError(b, v); b.Err == ErrCanceled {
				w.ws.tuner.block.run = nil // the workspace serves other blocks; see setCheckpoint
			} else {
				w.ws, b.payload = new(workspace), nil // the old ones may be in any state
				w.ws.setCheckpoint(w.check)
			}
			out = finished
		} else if out == finished {
			b.countWhole()
		}
	}()
	if from == stateReturned {
		w.acceptResults(b)
	}
	// A block that was reclaimed from the device has its next stage on the CPU.
	out = w.runStages(b, from == stateReclaimed)
	if out == finished && b.Err != nil && b.hasResults && !b.shared() {
		out = w.recheckBlock(b)
	}
	return out
}

// panicError returns the error of a block whose stage has panicked with v.
func (r *Run) panicError(b *Block, v any) error {
	stack := []byte(nil)
	if h, ok := v.(helperPanic); ok {
		v, stack = h.value, h.stack
	}
	if v == (stopped{}) {
		return ErrCanceled
	}
	if stack == nil {
		stack = debug.Stack()
	}
	return &PanicError{Stage: r.stageName(b.stage), Value: v, Stack: stack}
}

// runStages takes a block through the stages that are left. With keep set the first of them is not
// offered to the device.
func (w *worker) runStages(b *Block, keep bool) outcome {
	r := b.run
	for b.stage < len(r.stages) {
		if b.stage == r.coding.from && !b.prepared {
			whole, err := w.prepareBlock(b)
			if err != nil || whole && r.coding.to == len(r.stages) {
				b.Err = err
				return finished
			}
			if whole {
				b.stage = r.coding.to
				continue
			}
		}
		if !keep && w.offerBlock(b) {
			return handedOff
		}
		keep = false
		ordered := r.stages[b.stage].ordered && b.isSerial() && !b.passed
		if ordered {
			if ok, err := w.takeTurn(b); !ok {
				return chained
			} else if err != nil {
				b.Err = err
				return finished
			}
		}
		w.ws.equipBlock(b)
		t := r.beginTimer(w, b, b.stage)
		b.Err = b.runStage(w.ws)
		took := t.endTimer()
		if b.Err != nil {
			return finished
		}
		if ordered {
			w.passTurn(b)
		}
		r.learnStage(b, took)
		if b.stage < len(r.stages)-1 {
			w.checkpoint()
		}
		b.stage++
	}
	t := r.beginTimer(w, b, finishStep)
	b.Err = b.finishWork(w.ws)
	t.endTimer()
	return finished
}

// runStage runs the block's next stage.
func (b *Block) runStage(ws *workspace) error {
	st := &b.run.stages[b.stage]
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), st.name).End()
	}
	return st.run(ws, b)
}

// number returns the worker's number for people: −1 for the coordinator, −2 for a caller.
func (w *worker) number() int {
	if w == nil {
		return -1
	}
	return w.slot
}
