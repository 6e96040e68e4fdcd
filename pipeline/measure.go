package pipeline

import (
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Event is a stage that ran, for Config.Trace.
type Event struct {
	Op    Op
	Block int64 // its Index
	Bytes int   // of content; with "ahead" of a part of it
	// Stage is the name of a stage, or
	//   - "check" for the steps before the first and after the last stage,
	//   - "tune" for choosing settings,
	//   - "ahead" for the part of a stage that a helper does,
	//   - "fused" for all stages in one request,
	//   - "verify" for checking the results of a device.
	Stage   string
	Backend gpu.Backend
	Worker  int // number of the worker, from 0; −1 for the device, −2 for the caller of Do
	Batch   int // blocks in the device's batch; 1 for the CPU
	Start   time.Time
	Took    time.Duration // GPU: of the whole batch
	First   bool          // it is the first step of the block
}

// Steps of a block that are not stages have negative numbers in statistics.
const (
	checkStep  = -1 // before the first stage
	finishStep = -2 // after the last stage; counted as "check" as well
	verifyStep = -3 // verifies results of a device
	tuneStep   = -4 // chooses settings
)

// stageName returns the name of a stage or step for statistics.
func (r *Run) stageName(i int) string {
	if i >= 0 && i < len(r.stages) {
		return r.stages[i].name
	}
	switch i {
	case verifyStep:
		return "verify"
	case tuneStep:
		return "tune"
	}
	return "check"
}

// stageTimer measures a stage or step. The zero value measures nothing.
type stageTimer struct {
	run   *Run
	w     *worker
	b     *Block
	stage int
	start time.Time
	since time.Duration // w.pausedFor at the start
}

// measured reports whether statistics, a trace or the coordinator need the time of stages.
func (r *Run) measured() bool {
	return r.core.counters != nil || r.cfg.Trace != nil || r.device != nil
}

// beginTimer starts to measure a stage or step if that is needed.
func (r *Run) beginTimer(w *worker, b *Block, stage int) (t stageTimer) {
	if !r.measured() {
		return t
	}
	return stageTimer{r, w, b, stage, time.Now(), w.pausedFor}
}

// endTimer counts the stage and returns how long it took without its pauses, 0 if that is not
// measured.
func (t *stageTimer) endTimer() (took time.Duration) {
	if t.run == nil {
		return 0
	}
	took = time.Since(t.start) - (t.w.pausedFor - t.since)
	if c := t.run.core.counters; c != nil {
		c.compute.Add(int64(took))
		switch t.stage {
		case finishStep:
			c.counts[checkStep+1][0].ns.Add(int64(took)) // checkStep has counted the block
		case verifyStep:
			c.verify.addBlock(t.b.raw, took)
		case tuneStep:
			c.tune.addBlock(t.b.raw, took)
		default:
			c.counts[t.stage+1][0].addBlock(t.b.raw, took)
		}
	}
	if f := t.run.cfg.Trace; f != nil {
		r := t.run
		name := r.stageName(t.stage)
		first := t.stage == checkStep
		f(Event{r.cfg.Op, t.b.Index, t.b.raw, name, gpu.BackendCPU, t.w.number(), 1, t.start, took, first})
	}
	return took
}

// countHelp notes what a helper has done for a block.
func (r *Run) countHelp(b *Block, slot, bytes int, start time.Time, took time.Duration) {
	if c := r.core.counters; c != nil {
		c.compute.Add(int64(took))
		c.ahead.addBlock(bytes, took)
	}
	if f := r.cfg.Trace; f != nil {
		f(Event{r.cfg.Op, b.Index, bytes, "ahead", gpu.BackendCPU, slot, 1, start, took, false})
	}
}

// countDevice notes what the device has made of a block, which is still at the stage that it was
// offered at.
func (r *Run) countDevice(b *Block) {
	trip := &b.request.Trip
	if c := r.core.counters; c != nil {
		to := &c.counts[b.stage+1][1]
		if b.op.op == gpu.Fused {
			to = &c.fused
		}
		to.addBlock(b.raw, trip.Took/time.Duration(trip.Batch))
	}
	if f := r.cfg.Trace; f != nil {
		name := b.deviceStage()
		f(Event{r.cfg.Op, b.Index, b.raw, name, gpu.BackendGPU, -1, trip.Batch, trip.Start, trip.Took, false})
	}
}

// countReturned notes that a block went back to the CPU: because of err, or, if that is nil,
// because the device is lost.
func (r *Run) countReturned(err error) {
	if c := r.core.counters; c != nil {
		c.returned.Add(1)
		if err != nil {
			c.failed.Add(1)
		}
		if err == offload.ErrWrong {
			c.wrong.Add(1)
		}
	}
}

// countReclaimed notes that a worker reclaimed a block.
func (r *Run) countReclaimed() {
	if c := r.core.counters; c != nil {
		c.reclaimed.Add(1)
	}
}

// matchShare is the part of a block that finding its sequences stands for in Config.Position, in
// 1/16. At level 8 it takes 90% of the time, at level 9 98%. The rest counts when the block is
// done.
const matchShare = 15

// countMatched adds what the search for the sequences of the block has done since the last call to
// Config.Position. Checkpoints call it.
func (w *worker) countMatched() {
	b := w.block
	if b.run.cfg.Position == nil || w.ws.tuner.block.run != nil { // a sample is no part of the block
		return
	}
	own := len(b.content())
	if at := min(w.ws.matcher.Position(), own); at > 0 {
		b.countPosition((b.Raw - own + at) / 16 * matchShare)
	}
}

// countWhole adds what is left of the block to Config.Position.
func (b *Block) countWhole() {
	if b.run.cfg.Position != nil {
		b.countPosition(b.Raw)
	}
}

// countPosition makes n the number of bytes of the block that Config.Position counts, unless it
// counts more already. A block that returns from a device may begin a stage again.
func (b *Block) countPosition(n int) {
	if n > b.counted {
		b.run.cfg.Position.Add(int64(n - b.counted))
		b.counted = n
	}
}

// clock measures a call of takeBlock or completeBlock. Without statistics it has only now.
type clock struct {
	now, start, got time.Time
}

// beginClock starts to measure if statistics are on. A worker that starts has waited since it was
// parked.
func (s *Scheduler) beginClock(w *worker, b *Block) (t clock) {
	t.now = time.Now()
	if !s.stats.on.Load() {
		return t
	}
	t.start = t.now
	if w != nil && b == nil && !w.parked.IsZero() {
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

// chargeRun charges the time to a run: that of the block that is done, or that of the next block.
func (t *clock) chargeRun(r *Run) {
	if t.start.IsZero() || r == nil || r.core.counters == nil {
		return
	}
	c := r.core.counters
	if t.start.Before(c.since) {
		t.start = c.since // before that the run did not want the worker
	}
	c.wait.Add(int64(max(0, t.got.Sub(t.start))))
	c.admin.Add(int64(time.Since(t.got)))
}
