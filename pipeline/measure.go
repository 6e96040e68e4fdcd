package pipeline

import (
	"time"

	"github.com/gopz/compress/gpu"
)

// Event is a stage that ran, for those who want to see every one.
type Event struct {
	Op    Op
	Block int64 // its number in the stream
	Bytes int   // of content; of that part of it with "ahead"
	// Stage is a stage's name; "check" for what comes before and after them, "tune" for choosing settings, "ahead" for what somebody else did for a stage
	// that goes on meanwhile, "fused" for all of them at once, "verify" for looking over what a device has made.
	Stage   string
	Backend Backend
	Worker  int // number of the worker, from 0; −1 for the device
	Batch   int // blocks that the device had in the same batch; 1 for the CPU
	Start   time.Time
	Took    time.Duration // GPU: of the whole batch
}

// stageTimer measures a stage. The zero value measures nothing.
type stageTimer struct {
	run   *Run
	w     *worker
	b     *Block
	stage int
	start time.Time
}

// measured reports whether anybody wants to know how long stages take.
func (r *Run) measured() bool { return r.lease.counters != nil || r.cfg.Trace != nil }

// begin starts to measure a stage of a block, if anybody wants to know.
func (r *Run) begin(w *worker, b *Block, stage int) (t stageTimer) {
	if !r.measured() {
		return t
	}
	return stageTimer{r, w, b, stage, time.Now()}
}

func (t *stageTimer) end() {
	if t.run == nil {
		return
	}
	took := time.Since(t.start)
	if c := t.run.lease.counters; c != nil {
		c.compute.Add(int64(took))
		switch t.stage {
		case closeStage:
			c.counts[checkStage+1][0].ns.Add(int64(took)) // the block has been counted
		case verifyStage:
			c.verify.add(t.b.Raw, took)
		case tuneStage:
			c.tune.add(t.b.Raw, took)
		default:
			c.counts[t.stage+1][0].add(t.b.Raw, took)
		}
	}
	if f := t.run.cfg.Trace; f != nil {
		f(Event{t.run.cfg.Op, t.b.Index, t.b.Raw, t.run.stageName(t.stage), CPU, t.w.number(), 1, t.start, took})
	}
}

// helped notes what a helper has done for a block.
func (r *Run) helped(b *Block, slot, bytes int, start time.Time, took time.Duration) {
	if c := r.lease.counters; c != nil {
		c.compute.Add(int64(took))
		c.ahead.add(bytes, took)
	}
	if f := r.cfg.Trace; f != nil {
		f(Event{r.cfg.Op, b.Index, bytes, "ahead", CPU, slot, 1, start, took})
	}
}

// deviceDid notes what the device has made of a block, which is still at the stage where it went there.
func (r *Run) deviceDid(b *Block, done trip) {
	if c := r.lease.counters; c != nil {
		to := &c.counts[b.stage+1][1]
		if b.away.op == gpu.Fused {
			to = &c.fused
		}
		to.add(b.Raw, done.took/time.Duration(done.batch))
	}
	if f := r.cfg.Trace; f != nil {
		f(Event{r.cfg.Op, b.Index, b.Raw, b.stageName(), GPU, -1, done.batch, done.given, done.took})
	}
}

// returned notes that a block went back to the CPU: because of err, or, if it is nil, because the device is lost.
func (r *Run) returned(err error) {
	if c := r.lease.counters; c != nil {
		c.returned.Add(1)
		if err != nil {
			c.failed.Add(1)
		}
		if err == errWrong {
			c.wrong.Add(1)
		}
	}
}

// reclaimed notes that a worker took a block back that waited for the device.
func (r *Run) reclaimed() {
	if c := r.lease.counters; c != nil {
		c.reclaimed.Add(1)
	}
}

// offerTimer measures a worker's offer to the device. The zero value measures nothing.
type offerTimer struct {
	c     *counters
	start time.Time
}

func (r *Run) offerBegins() (t offerTimer) {
	if c := r.lease.counters; c != nil {
		return offerTimer{c, time.Now()}
	}
	return t
}

// made notes that the offer is made. It comes before the block is out of the worker's hands: later the run may have ended.
func (t *offerTimer) made() {
	if t.c != nil {
		t.c.handoff.Add(int64(time.Since(t.start)))
	}
}

// refused notes that nothing came of the offer.
func (t *offerTimer) refused(closed bool) {
	switch {
	case t.c == nil:
	case closed:
		t.c.closed.Add(1)
	default:
		t.c.full.Add(1)
	}
}

// clock measures a call of Scheduler.complete. The zero value measures nothing.
type clock struct {
	start, got time.Time
}

// clock starts to measure if statistics are on. A worker that begins anew has waited since it ran out of blocks.
func (s *Scheduler) clock(w *worker, b *Block) (t clock) {
	if !s.stats.on.Load() {
		return t
	}
	if t.start = time.Now(); w != nil && b == nil && !w.parked.IsZero() {
		t.start = w.parked
	}
	return t
}

// locked notes that the lock has been taken.
func (t *clock) locked() {
	if !t.start.IsZero() {
		t.got = time.Now()
	}
}

// done charges the time to a run, which is the one of the block that is done, or of the next one.
func (t *clock) done(r *Run) {
	if t.start.IsZero() || r == nil || r.lease.counters == nil {
		return
	}
	c := r.lease.counters
	if t.start.Before(c.since) {
		t.start = c.since // until then the run did not want the worker
	}
	c.wait.Add(int64(max(0, t.got.Sub(t.start))))
	c.admin.Add(int64(time.Since(t.got)))
}
