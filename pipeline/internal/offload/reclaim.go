package offload

import (
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
)

const (
	// leastAway is the least time that a batch has on the device before workers reclaim its blocks:
	// drivers need some of it for themselves.
	leastAway = 20 * time.Millisecond
	// unknownAway is that time while the pace of the CPU is unknown.
	unknownAway = 250 * time.Millisecond
	// retryReclaim is how often the coordinator looks for an idle worker once a block is late.
	retryReclaim = 5 * time.Millisecond
)

// pace is a moving average of the time that the CPU takes for an operation, in 1/1024 ns a byte.
type pace struct{ v atomic.Int64 }

// learnTime adds a measurement. Of two concurrent measurements one may be lost.
func (p *pace) learnTime(bytes int, took time.Duration) {
	v := int64(took) << 10 / int64(max(bytes, 1))
	if old := p.v.Load(); old != 0 {
		v = old + (v-old)/8
	}
	p.v.Store(max(v, 1))
}

// time returns how long so many bytes take, 0 if that is unknown.
func (p *pace) time(bytes int) time.Duration {
	return time.Duration(p.v.Load() * int64(bytes) >> 10)
}

// Learn notes how long a worker took for an operation that the device could have done. Decode is as
// in gpu.Request.
func (c *Coordinator) Learn(op gpu.Op, decode bool, bytes int, took time.Duration) {
	c.pace[kindOf(op, decode)].learnTime(bytes, took)
}

// workerTime returns how long one worker takes for so many bytes, 0 if that is unknown.
func (c *Coordinator) workerTime(w work, bytes int) time.Duration {
	if w != work(gpu.Fused) {
		return c.pace[w].time(bytes)
	}
	match, code := c.pace[gpu.Stage0].time(bytes), c.pace[gpu.StageN].time(bytes)
	if match == 0 || code == 0 {
		return 0
	}
	return match + code
}

// due returns when one worker would have finished all of a batch.
func (c *Coordinator) due(x *batch) time.Time {
	t := c.workerTime(x.kind, x.size)
	if t == 0 {
		t = unknownAway
	}
	return x.start.Add(max(t, leastAway))
}

// reclaimLate gives late blocks to idle workers. It returns when to look again, the zero time for
// never.
func (c *Coordinator) reclaimLate(active []*batch) (next time.Time) {
	now := time.Now()
	for _, x := range active {
		due := c.due(x)
		for ; x.late < len(x.turns); x.late++ {
			t := &x.turns[x.late]
			if t.fixed || t.taken.Load() {
				continue
			}
			if due.After(now) {
				next = earlier(next, due)
				break
			}
			if c.sched.IdleWorkers() == 0 {
				return earlier(next, now.Add(retryReclaim))
			}
			if !t.taken.Swap(true) {
				c.sched.Complete(x.requests[x.late], Reclaimed)
			}
		}
	}
	return next
}

// Reclaim returns a request that waits while the device is busy, for a worker without work. It
// returns nil if there is none. A nil Coordinator has none.
func (c *Coordinator) Reclaim() *Request {
	if c == nil || !c.saturated.Load() {
		return nil
	}
	for op := range c.queues {
		select {
		case r := <-c.queues[op]:
			return r
		default:
		}
	}
	return nil
}

// earlier returns the earlier of two times. The zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
