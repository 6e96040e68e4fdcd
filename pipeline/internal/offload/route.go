package offload

import (
	"math"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// maxAway bounds the extra blocks in flight for a device that does parts of blocks.
const maxAway = 64

// strictBatch is the most useful batch of strict requests, in blocks for each worker. The device
// decodes entropy at a fifth of a worker's speed for each block, all blocks at the same time.
const strictBatch = 4

// Away returns how many blocks of size bytes a run should keep at the device for an operation:
// those in batches, and one for each worker that waits. A larger batch than the workers can take
// over in the time of the next one brings nothing. With Auto that is a block for each worker.
// Strict requests of Fused leave workers only the check of the payloads, so their batches are as
// large as the device takes them.
func (c *Coordinator) Away(op gpu.Op, size int, d Demand) int {
	l := &c.info.Ops[op]
	most := max(1, l.Batch)
	if l.Bytes > 0 {
		most = max(1, min(most, l.Bytes/max(1, size)))
	}
	if op == gpu.Fused && d == Always {
		return most*c.info.Concurrent + c.workers
	}
	batch := c.workers
	if d == Always {
		batch *= strictBatch
	}
	return min(min(batch, most)*c.info.Concurrent+c.workers, maxAway)
}

// Name returns the name of the device.
func (c *Coordinator) Name() string { return c.info.Name }

// Limits returns the limits of the device for an operation. The caller must not change them.
func (c *Coordinator) Limits(op gpu.Op) *gpu.Limits { return &c.info.Ops[op] }

// Wants reports whether the device should do an operation on a block of size bytes. Decode says
// that the run decompresses.
func (c *Coordinator) Wants(op gpu.Op, decode bool, size int, d Demand) bool {
	l := &c.info.Ops[op]
	if d == Never || l.Batch == 0 || size < l.MinSize || size > l.MaxSize {
		return false
	}
	return d == Always ||
		size >= leastPaying(l, op, decode) && !c.trials[kindOf(op, decode)].inState(tooSlow)
}

// leastPaying returns the least block, in bytes, that a run with demand IfPays gives to the device.
func leastPaying(l *gpu.Limits, op gpu.Op, decode bool) int {
	switch {
	case !decode:
		return l.MinAuto
	case op == gpu.StageN:
		return l.MinAutoDecode
	}
	return math.MaxInt
}

// Finds reports whether the device has the match finder of a request. Requests without one pass.
func (c *Coordinator) Finds(q *gpu.Request) bool {
	return !c.info.Ops[q.Op].RowHashOnly || q.Params == nil || q.Params.Finder == lz77.RowHash
}

// Accepts reports whether a run with some demand should offer a request: the device can do it, and
// is not too slow for Auto. A device that panics is lost. One that is lost already is not asked,
// and the result is true: Offer refuses the request.
func (c *Coordinator) Accepts(q *gpu.Request, d Demand) bool {
	if !c.Finds(q) {
		return false
	}
	if c.lost.Load() != nil {
		return true
	}
	if c.starter != nil && d == Always {
		c.starter.Start()
	}
	ok := c.deviceAccepts(q)
	return ok && d == Always || d == IfPays && c.admits(q, ok)
}

// deviceAccepts is Device.Accepts with a panic turned into the loss of the device.
func (c *Coordinator) deviceAccepts(q *gpu.Request) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			c.Lose(c.sched.PanicError("device "+c.info.Name, v))
			ok = false
		}
	}()
	return c.dev.Accepts(q)
}

// Press adds n to the back-pressure score, which is never below 0.
func (c *Coordinator) Press(n int64) {
	for {
		p := c.pressure.Load()
		if c.pressure.CompareAndSwap(p, max(0, p+n)) {
			return
		}
	}
}

// Crowded reports whether blocks without a strict assignment should not be offered to the device.
// Only requests that are not strict change the score: an offer to a full queue adds 2 to it, one to
// a lost device 1, an accepted one subtracts 1. The limit is twice the workers. Once the device has
// no requests the score starts again at 0: no offer could lower it.
func (c *Coordinator) Crowded() bool {
	if c.pressure.Load() <= int64(2*c.workers) {
		return false
	}
	if !c.busy.Load() && c.lost.Load() == nil {
		c.pressure.Store(0)
		return false
	}
	return true
}
