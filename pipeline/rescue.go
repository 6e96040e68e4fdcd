package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
)

// Output is in order, and blocks in flight are bounded, so that a device which is slower than the workers holds all of them up. What waits for it they take back (reclaim). What it is at comes back
// to them if it takes longer than one of them would for the whole batch, and one has nothing to do; what the device makes of it then does not count.

const (
	// rescueLeast is the least time that a batch is away before workers may have its blocks, since the driver takes its own, and rescueUnknown the time as long as nobody knows how long the CPU takes.
	rescueLeast   = 20 * time.Millisecond
	rescueUnknown = 250 * time.Millisecond
	// rescueAgain is how often the coordinator looks whether a worker is idle once a block is due.
	rescueAgain = 5 * time.Millisecond
)

// pace is how long the CPU takes for a kind of work, lately, in 1/1024 ns a byte.
type pace struct{ v atomic.Int64 }

func (p *pace) learn(bytes int, took time.Duration) {
	v := int64(took) << 10 / int64(max(bytes, 1))
	if old := p.v.Load(); old != 0 {
		v = old + (v-old)/8
	}
	p.v.Store(max(v, 1)) // if somebody else has stored one meanwhile, that one is lost
}

// time is how long it takes for so many bytes, 0 if that is not known.
func (p *pace) time(bytes int) time.Duration { return time.Duration(p.v.Load() * int64(bytes) >> 10) }

// clock is the time, if it is of use to learn.
func (r *Run) clock() (t time.Time) {
	if r.device != nil {
		t = time.Now()
	}
	return t
}

// learn notes how long the CPU has taken, since start, for a stage that the device could have done.
func (r *Run) learn(b *Block, start time.Time) {
	if way := r.stages[b.stage].remote; r.device != nil && way != nil {
		r.device.pace[way.op].learn(b.Raw, time.Since(start))
	}
}

// due is when one worker would have done all of a batch, as far as is known now.
func (c *coordinator) due(x *batch) time.Time {
	t := c.pace[x.op].time(x.raw)
	if x.op == gpu.Fused {
		t = c.pace[gpu.Stage0].time(x.raw) + c.pace[gpu.StageN].time(x.raw)
	}
	if t == 0 {
		t = rescueUnknown
	}
	return x.given.Add(max(t, rescueLeast))
}

// takeTurns notes what rescue has to know of the blocks of a new batch.
func (c *coordinator) takeTurns(x *batch) {
	if cap(x.turns) < len(x.blocks) {
		x.turns = make([]turn, max(len(x.blocks), c.info.Ops[x.op].Batch))
	}
	x.turns = x.turns[:len(x.blocks)]
	x.raw = 0
	for i, b := range x.blocks {
		t := &x.turns[i]
		t.taken.Store(false)
		t.fixed = c.holds || b.Lent || b.run.backend(x.op) != Auto
		x.raw += b.Raw
	}
}

// rescue gives blocks that are due to workers that are idle, and returns when to look again; zero if there is nothing to look for.
func (c *coordinator) rescue(active []*batch) (next time.Time) {
	now := time.Now()
	for _, x := range active {
		due := c.due(x)
		for ; x.slow < len(x.turns); x.slow++ {
			t := &x.turns[x.slow]
			if t.fixed || t.taken.Load() {
				continue
			}
			if due.After(now) {
				next = earlier(next, due)
				break
			}
			if c.sched.spareWorkers() == 0 {
				return earlier(next, now.Add(rescueAgain))
			}
			if t.taken.Swap(true) {
				continue
			}
			b := x.blocks[x.slow]
			b.abandon()
			b.setState(stateReclaimed)
			b.run.reclaimed()
			c.sched.complete(nil, b, again)
		}
	}
	return next
}

// earlier is the earlier of two times, of which the zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
