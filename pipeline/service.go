package pipeline

import (
	"math"
	"time"

	"github.com/gopz/compress/gpu"
)

// gather makes a batch of what waits: of later stages first, so that blocks in progress finish before others begin, unless something is
// overdue. It returns nil if nothing waits.
func (c *coordinator) gather() *batch {
	if op, autoFirst, ok := c.overdue(); ok {
		if x := c.collect(op, autoFirst); x != nil {
			return x
		}
	}
	for op := range gpu.Op(gpu.NumOps) {
		if x := c.collect(op, false); x != nil {
			return x
		}
	}
	return nil
}

// collect makes a batch of the requests of a kind, with those of Auto first or last. It returns nil if there are none.
func (c *coordinator) collect(op gpu.Op, autoFirst bool) *batch {
	x := c.newBatch(op)
	var took [2]bool
	limits, bytes := &c.info.Ops[op], 0
	for most := max(1, limits.Batch); len(x.blocks) < most; {
		room := math.MaxInt
		if limits.Bytes > 0 && len(x.blocks) > 0 {
			room = limits.Bytes - bytes
		}
		b, queue := c.next(op, autoFirst, room)
		if b == nil {
			break
		}
		took[queue] = true
		switch {
		case b.run.ended():
			b.Err = ErrCanceled
			c.sched.complete(nil, b, over)
		case c.lost.Load() != nil:
			c.fail(b)
		default:
			b.setState(stateOnDevice)
			x.blocks = append(x.blocks, b)
			x.reqs = append(x.reqs, b.request)
			bytes += b.Raw
		}
	}
	if len(x.blocks) == 0 {
		c.recycle(x)
		return nil
	}
	c.count(op, took)
	x.given = time.Now()
	c.takeTurns(x)
	return x
}

// Indices of the two queues of a kind.
const (
	strictQueue = iota
	autoQueue
)

// next takes a request of a kind, for a block of room bytes or less, from its two queues: the oldest of those that cannot go elsewhere, then the oldest of the others, or
// the other way round. It says which queue it was.
func (c *coordinator) next(op gpu.Op, autoFirst bool, room int) (b *Block, queue int) {
	if autoFirst {
		if b = c.nextAuto(op, room); b != nil {
			return b, autoQueue
		}
	}
	c.mu.Lock()
	if b = c.strict[op].peek(); b != nil && b.Raw <= room {
		c.strict[op].pop()
	} else {
		b = nil
	}
	c.mu.Unlock()
	if b != nil {
		return b, strictQueue
	}
	return c.nextAuto(op, room), autoQueue
}

// nextAuto takes one of those that could go elsewhere. Nobody can look into a channel, so that there must be room for the greatest block.
func (c *coordinator) nextAuto(op gpu.Op, room int) *Block {
	if room < c.info.Ops[op].MaxSize {
		return nil
	}
	select {
	case b := <-c.reqs[op]:
		return b
	default:
		return nil
	}
}

// maxPassed is how many batches may pass over a queue in which something waits. At 16 blocks a batch that is more than 16 workers have
// in flight, so the order of one run, or of a burst, is that of the kinds; what it bounds is how long another run that
// never pauses can hold up this one.
const maxPassed = 8

// overdue finds the queue that has been passed over for the longest time, if that is too long. With six queues a request at the
// front of its own is passed over by maxPassed batches, and at most four more if others are overdue as well.
func (c *coordinator) overdue() (op gpu.Op, autoFirst, ok bool) {
	most := maxPassed - 1
	for i := range c.passed {
		for queue, n := range c.passed[i] {
			if n > most {
				most, op, autoFirst, ok = n, gpu.Op(i), queue == autoQueue, true
			}
		}
	}
	return op, autoFirst, ok
}

// count takes note of a batch: what it took from the queues of its kind, and that it passed over the others.
func (c *coordinator) count(op gpu.Op, took [2]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.passed {
		for queue, waiting := range [2]int{c.strict[i].size, len(c.reqs[i])} {
			if n := &c.passed[i][queue]; waiting == 0 || gpu.Op(i) == op && took[queue] {
				*n = 0
			} else {
				*n++
			}
		}
	}
}
